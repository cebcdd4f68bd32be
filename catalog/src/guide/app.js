// The page: what was typed and chosen, the list, what is shown, the address.
//
// In: events. Out: the document. The address is `#/i/NAME`, `#/o/NAME`, `#/c/NAME/NAME` for two side by
// side, or `#/`, and what is looked for comes after a `?`, with the operands that an instruction is tried with: all can be
// kept and sent to others.
"use strict";

(() => {
  const make = guide.make;
  const at = (id) => document.getElementById(id);
  // Filters of which several values may be chosen, with what they are called.
  const FILTERS = [["isa", "Instruction set", "isas"], ["feature", "Extension", "features"], ["element", "Element", "elements"], ["kind", "Kind", "kinds"]];
  const FIELDS = ["q", "by", "cpu"];
  const STEP = 60;
  const state = { kind: "", name: "", shown: STEP, asked: null, found: null };

  const asked = () => Object.fromEntries([...FIELDS.map((f) => [f, at(f).value.trim()]), ...FILTERS.map(([id]) => [id, guide.chosen(id)])]);
  const query = () => {
    const all = Object.entries(asked()).filter(([k, v]) => v.length && (k !== "cpu" || at("by").value)).map(([k, v]) => [k, String(v)]);
    if (guide.tried) all.push(["try", guide.tried]);
    return all.length ? `?${new URLSearchParams(all)}` : "";
  };
  const path = (kind, name) => (name ? `#/${kind}/${kind === "c" && name.includes("/") ? name : encodeURIComponent(name)}` : "#/");

  // The address of an instruction (`i`) or an operation (`o`).
  guide.address = path;

  const entry = (link, name, text, extra) => make("li", {},
    make("a", { href: link, "aria-current": link.split("?")[0] === path(state.kind, state.name) ? "true" : null },
      make("span", { class: "code" }, name), make("span", { class: "faint" }, text), extra));

  const isas = (list) => make("span", { class: "dots" }, guide.data.isas.filter((isa) => list.includes(isa)).map((isa) => make("span", { class: `chip isa isa${guide.data.isas.indexOf(isa) % 6}` }, isa)));

  const group = (title, all, limit, line) => {
    if (!all.length) return [];
    const shown = all.slice(0, limit);
    const list = make("ol", { class: "plain", "aria-label": title }, shown.map(line));
    const parts = [make("h2", { class: "group" }, title, make("span", { class: "faint" }, ` ${all.length.toLocaleString("en")}`)), list];
    return parts;
  };

  const more = (left) => {
    if (left <= 0) return [];
    const button = make("button", { type: "button", id: "more" }, `Show more (${left.toLocaleString("en")})`);
    button.addEventListener("click", () => {
      const links = at("results").querySelectorAll("a").length;
      state.shown += STEP * 3;
      list();
      const next = at("results").querySelectorAll("a")[links];
      if (next) next.focus();
    });
    return [button];
  };

  // What computes an expression that was typed.
  const computes = ({ found, sequences }) => {
    const chosen = guide.chosen("isa");
    const fits = (f) => f.instructions.filter((i) => !chosen.length || chosen.includes(i.isa));
    const line = ([i, how]) => entry(guide.address("i", guide.key(i.isa, i.name)), i.name, how, isas([i.isa]));
    const each = (list) => list.flatMap((f) => fits(f).map((i) => [i, f.how[0]]));
    const here = each(found);
    const note = (text) => make("p", { class: "note" }, text);
    if (here.length) return [...group("Computes it", here, STEP, line), note("Equal on samples of its operands; the entry tells what is proved.")];
    const shown = sequences.filter(({ isa }) => !chosen.length || chosen.includes(isa));
    const step = ({ instruction: i, text, how }) => entry(guide.address("i", guide.key(i.isa, i.name)), i.name, [make("span", { class: "code step" }, text), " ", how], null);
    const lists = shown.flatMap(({ isa, steps }) => [
      make("h2", { class: "group" }, isas([isa]), ` ${steps.length} instruction${steps.length === 1 ? "" : "s"}`),
      make("ol", { class: "plain", "aria-label": `On ${isa}, one after the other` }, steps.map(step)),
    ]);
    if (lists.length) return [...lists, note("No single instruction has the values of this expression; these have, one after the other, on samples of its variables. A number stands for a register with it in every element.")];
    return [note("It is read as an expression; no instruction, and no short sequence of them, has its values.")];
  };

  // Instructions by what they cost on a processor; those that it has no figure of are counted.
  const priced = () => {
    const { by, cpu } = state.asked;
    const { instructions } = state.found;
    const known = instructions.map((i) => [guide.price(i, cpu), i]).filter(([price]) => price);
    known.sort(([a], [b]) => a[by] - b[by] || a.latency - b.latency || a.throughput - b.throughput);
    const line = ([price, i]) => entry(guide.address("i", guide.key(i.isa, i.name)), i.name, `latency ${price.latency}, ${price.throughput} between starts${price.stands ? `, as ${price.stands}` : ""}`, isas([i.isa]));
    const without = instructions.length - known.length;
    return [
      ...group(`Instructions on ${cpu}`, known, state.shown, line), ...more(known.length - state.shown),
      without ? make("p", { class: "note" }, `Of ${without.toLocaleString("en")} more it is not told what they cost there.`) : null,
    ].filter(Boolean);
  };

  const list = () => {
    if (state.asked.by && state.asked.cpu) {
      at("results").replaceChildren(...priced());
      return;
    }
    const { operations, instructions, best } = state.found;
    const searching = Boolean(state.asked.q);
    // Of an operation that was looked for, the member that fits best is shown.
    const operationLine = (o) => {
      const fits = best.get(o);
      const about = fits && fits.name !== o.name ? `${fits.name} · ${o.members}` : `${o.kind} · ${o.members}`;
      return entry(guide.address("o", o.name), o.name, about, isas([...o.isas]));
    };
    const instructionLine = (i) => entry(guide.address("i", guide.key(i.isa, i.name)), i.name, `${i.operation.name}${i.features.length ? ` · ${i.features.join(" ")}` : ""}`, isas([i.isa]));
    // Without words, operations are what is looked through; instructions follow when they are few.
    const first = searching ? 6 : state.shown;
    const second = searching ? state.shown : instructions.length <= 3 * STEP ? instructions.length : 0;
    const one = group("Operations", operations, first, operationLine);
    const each = group("Instructions", second ? instructions : [], second, instructionLine);
    const parts = searching
      // Who types a name wants what is called so; who says what it does, the operation.
      ? [...(state.found.named ? [...each, ...one] : [...one, ...each]), ...more(instructions.length - second)]
      : [...one, ...more(operations.length - first), ...each];
    if (state.matches) parts.unshift(...computes(state.matches));
    if (!operations.length && !instructions.length && !state.matches) {
      parts.push(make("p", { class: "note" }, "Nothing is called so or does so, and passes the filters. ", make("strong", {}, "Clear"), " lets go of all of them."));
    }
    at("results").replaceChildren(...parts);
  };

  const find = () => {
    state.asked = asked();
    state.found = guide.find(state.asked);
    guide.wanted = state.found.best;
    state.shown = STEP;
    state.matches = null;
    const { q } = state.asked;
    if (guide.parse(q)) {
      guide.matches(q).then((matches) => {
        if (state.asked.q !== q) return;
        state.matches = matches;
        at("status").textContent = matches.found.length ? "Read as an expression" : "Read as an expression: no single instruction computes it";
        list();
      });
    }
    const { operations, instructions } = state.found;
    const n = (x, what) => `${x.toLocaleString("en")} ${what}${x === 1 ? "" : "s"}`;
    const told = `${n(instructions.length, "instruction")}, ${n(operations.length, "operation")}`;
    at("status").textContent = state.found.near && instructions.length ? `None does all of it; the nearest: ${told}` : told;
    at("clear").hidden = !at("q").value && !at("by").value && !FILTERS.some(([id]) => guide.chosen(id).length);
    list();
    if (guide.first === undefined) guide.first = performance.now();
  };

  const remember = () => {
    const address = path(state.kind, state.name) + query();
    if (location.hash !== address) history.replaceState(null, "", address);
  };

  // What an instruction is tried with belongs to its address.
  guide.keep = (text) => {
    guide.tried = text;
    remember();
  };

  const mark = () => {
    for (const link of at("results").querySelectorAll("a")) {
      const here = link.getAttribute("href").split("?")[0] === path(state.kind, state.name);
      if (here) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    }
  };

  // The way back stays the same element: a tap on it while a page arrives is not lost.
  const back = make("p", { class: "back" }, make("a", { href: "#/" }, "← Results"));

  const put = (title, parts, focus) => {
    const detail = at("detail");
    if (detail.firstChild !== back) detail.prepend(back);
    while (back.nextSibling) back.nextSibling.remove();
    detail.append(...parts.filter(Boolean));
    document.title = title ? `${title} – Instruction guide` : "Instruction guide";
    detail.scrollTop = 0;
    if (focus) {
      const head = detail.querySelector("h2");
      head.tabIndex = -1;
      head.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
  };

  // Two instructions beside each other.
  const pair = async (focus) => {
    const { name } = state;
    const both = name.split("/").map((n) => guide.data.byKey.get(decodeURIComponent(n)));
    if (both.length !== 2 || both.some((x) => !x)) {
      put("", [make("h2", {}, "Not here"), make("p", {}, "An address with two instructions names one that there is not.")], focus);
      return;
    }
    try {
      const pages = await Promise.all(both.map((x) => guide.load(x.operation)));
      await guide.prices();
      const apart = await guide.apart(...both);
      if (state.kind !== "c" || state.name !== name) return;
      put(both.map((x) => x.name).join(" and "), guide.compare([both[0], pages[0]], [both[1], pages[1]], apart), focus);
    } catch (error) {
      put("", [make("h2", {}, "Cannot be shown"), make("p", {}, `${error.message}.`)], focus);
    }
  };

  const show = async (focus) => {
    const { kind, name } = state;
    at("columns").classList.toggle("open", Boolean(name));
    if (focus && name) window.scrollTo(0, 0);
    mark();
    if (!name) {
      put("", guide.welcome(), false);
      return;
    }
    if (kind === "c") {
      pair(focus);
      return;
    }
    const one = kind === "i" ? guide.data.byKey.get(name) : guide.data.byOperation.get(name);
    if (!one) {
      put(name, [make("h2", {}, "Not here"), make("p", {}, "There is nothing called ", make("code", {}, name), ".")], focus);
      return;
    }
    const before = document.activeElement;
    try {
      const [page] = await Promise.all([guide.load(kind === "i" ? one.operation : one), guide.prices()]);
      if (state.kind !== kind || state.name !== name) return;
      // Whoever has gone elsewhere while it was read stays there.
      const stays = focus && document.activeElement === before;
      put(name, kind === "i" ? guide.instruction(one, page) : guide.operation(one, page), stays);
    } catch (error) {
      put(name, [make("h2", {}, "Cannot be shown"), make("p", {}, `${error.message}.`)], focus);
    }
  };

  // Reads the address.
  const go = (focus) => {
    const [where, rest] = location.hash.slice(1).split("?");
    const [, kind, ...name] = where.split("/");
    const before = state.name;
    state.kind = ["i", "o", "c"].includes(kind) ? kind : "";
    // Two names stay apart while they may have a `/` in them.
    state.name = state.kind === "c" ? name.join("/") : state.kind ? decodeURIComponent(name.join("/")) : "";
    if (state.name !== before) guide.tried = "";
    // Links name what is shown; what is looked for stays as it is.
    if (rest !== undefined) {
      const wanted = new URLSearchParams(rest);
      guide.tried = state.kind === "i" ? wanted.get("try") || "" : "";
      at("q").value = wanted.get("q") || "";
      for (const [id] of FILTERS) guide.choose(id, (wanted.get(id) || "").split(","));
      at("by").value = wanted.get("by") || "";
      sorting(wanted.get("cpu"));
    }
    if (JSON.stringify(state.asked) !== JSON.stringify(asked())) find();
    remember();
    show(focus);
  };

  // Processors are there to be chosen once something is sorted by what it costs.
  const sorting = async (wanted) => {
    at("where").hidden = !at("by").value;
    if (!at("by").value) return;
    const first = !at("cpu").options.length;
    if (first) {
      try {
        await guide.prices();
      } catch (error) {
        at("by").value = "";
        at("where").hidden = true;
        at("status").textContent = `${error.message}.`;
        return;
      }
      if (!at("cpu").options.length) at("cpu").replaceChildren(...guide.processors().map((p) => make("option", { value: p }, p)));
    }
    if (wanted && guide.processors().includes(wanted)) at("cpu").value = wanted;
    if (first || wanted) {
      find();
      remember();
    }
  };

  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = /^(input|select|textarea)$/i.test(event.target.tagName);
    const links = [...at("results").querySelectorAll("a")];
    const here = links.indexOf(document.activeElement);
    if (event.key === "/" && !field) {
      event.preventDefault();
      at("q").focus();
      at("q").select();
    } else if (event.key === "Escape" && document.activeElement !== at("q")) {
      at("q").focus();
    } else if (event.key === "ArrowDown" && (event.target === at("q") || here >= 0) && links.length) {
      event.preventDefault();
      links[Math.min(here + 1, links.length - 1)].focus();
    } else if (event.key === "ArrowUp" && here >= 0) {
      event.preventDefault();
      (here ? links[here - 1] : at("q")).focus();
    }
  };

  guide.start = () => {
    const data = guide.data;
    at("about").textContent = `${data.instructions.length.toLocaleString("en")} instructions · ${data.operations.length.toLocaleString("en")} operations · ${data.isas.join(", ")}`;
    const changed = () => {
      find();
      remember();
    };
    for (const [id, label, values] of FILTERS) guide.filter(id, label, data[values], changed);
    at("q").addEventListener("input", changed);
    at("cpu").addEventListener("change", changed);
    at("by").addEventListener("change", async () => {
      await sorting();
      changed();
    });
    at("form").addEventListener("submit", (event) => {
      event.preventDefault();
      const first = at("results").querySelector("a");
      if (first) location.hash = first.getAttribute("href");
    });
    at("clear").addEventListener("click", () => {
      at("q").value = "";
      at("by").value = "";
      at("where").hidden = true;
      FILTERS.forEach(([id]) => guide.choose(id, []));
      changed();
      at("q").focus();
    });
    at("skip").addEventListener("click", (event) => {
      event.preventDefault();
      at("detail").focus();
    });
    document.addEventListener("keydown", keys);
    // On paper nothing can be unfolded.
    window.addEventListener("beforeprint", () => at("detail").querySelectorAll("details").forEach((d) => { d.open = true; }));
    window.addEventListener("hashchange", () => go(true));
    go(false);
  };
})();
