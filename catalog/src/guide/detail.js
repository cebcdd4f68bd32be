// One instruction, or one operation.
//
// In: an entry of the index, and its page. Out: `guide.instruction(entry, page)` and
// `guide.operation(entry, page)`, lists of elements to show; `guide.compare` for two instructions.
"use strict";

(() => {
  const make = guide.make;
  const link = (kind, name, text) => make("a", { href: guide.address(kind, name) }, text || name);
  const code = (text) => make("code", {}, text);
  const member = (m) => link("i", guide.key(m.isa, m.name), code(m.name));
  const section = (title, ...children) => make("section", {}, make("h3", {}, title), ...children);
  const chip = (text, kind) => make("span", { class: `chip ${kind || ""}` }, text);
  const isaChip = (isa) => chip(isa, `isa isa${guide.data.isas.indexOf(isa) % 6}`);
  const plural = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

  // A table; heads and cells are texts or elements.
  const table = (caption, heads, lines, kind) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    make("table", { class: kind },
      make("caption", { class: "hidden" }, caption),
      make("thead", {}, make("tr", {}, heads.map((h) => make("th", { scope: "col" }, h)))),
      make("tbody", {}, lines.map((cells) => make("tr", {}, cells.map((c, k) => (k === 0
        ? make("th", { scope: "row" }, c) : make("td", {}, c))))))));

  // As it is written: in C, or in assembly where that is known.
  const signature = (m) => {
    if (m.encoding) return m.encoding.text;
    const results = m.results.filter((r) => r.name === "dst");
    const operands = m.operands.map((o) => `${o.type} ${o.name}`).join(", ");
    return `${results.length ? results[0].type : "void"} ${m.name}(${operands})`;
  };

  const roles = {
    register: "register", mask: "mask register", immediate: "constant", rounding: "rounding, a constant",
    sae: "exceptions, a constant", scale: "scale, a constant", pointer: "address",
  };

  const slots = (m) => table("Operands and results", ["Name", "Type", "Elements", "Bits", "Passed as"],
    m.operands.map((o) => [code(o.name), code(o.type), o.element, String(o.bits),
      o.max === undefined ? roles[o.role] : `${roles[o.role]}, ${o.least || 0} to ${o.max}`])
      .concat(m.results.map((r) => [code(r.name), code(r.type), r.element, r.bits ? String(r.bits) : "", "result"])));

  const values = (operation, m) => operation.parameters.map((p, k) => `${p} = ${m.values[k]}`);

  // The members of an operation: a line for the same numbers, a column for each ISA.
  const side = (operation, here) => {
    const isas = guide.data.isas.filter((isa) => operation.members.some((m) => m.isa === isa));
    const lines = new Map();
    for (const m of operation.members) {
      const key = m.values.join(",");
      if (!lines.has(key)) lines.set(key, []);
      lines.get(key).push(m);
    }
    const all = [...lines.values()].sort((a, b) => {
      const k = a[0].values.findIndex((v, n) => v !== b[0].values[n]);
      return k < 0 ? 0 : a[0].values[k] - b[0].values[k];
    });
    const name = (m) => make("li", {}, m === here ? make("strong", { "aria-current": "true" }, code(m.name)) : member(m),
      m.features.length ? make("span", { class: "faint" }, ` ${m.features.join(" ")}`) : null);
    // Instruction sets come first: there may be more numbers than fit.
    return table("Members side by side", isas.map(isaChip).concat(operation.parameters),
      all.map((members) => {
        const numbers = members[0].values.map(String);
        return isas.map((isa) => make("ul", { class: "plain" }, members.filter((m) => m.isa === isa).map(name))).concat(numbers);
      }), "members");
  };

  // "The same operation on RVM is …": the nearest member of every other ISA.
  const elsewhere = (operation, m) => {
    const far = (other) => other.values.reduce((sum, v, k) => sum + (v === m.values[k] ? 0 : 1), 0);
    return guide.data.isas.filter((isa) => isa !== m.isa).map((isa) => {
      const others = operation.members.filter((o) => o.isa === isa).sort((a, b) => far(a) - far(b));
      if (!others.length) return make("p", {}, `Nothing on ${isa} is this operation.`);
      const near = others[0];
      const differs = operation.parameters.map((p, k) => [p, near.values[k], m.values[k]]).filter(([, a, b]) => a !== b);
      const rest = others.length > 1 ? `, and ${plural(others.length - 1, "other")}` : "";
      const how = differs.length ? ` with ${differs.map(([p, a, b]) => `${p} = ${a} in place of ${b}`).join(", ")}` : " with the same numbers";
      return make("p", {}, "The same operation on ", isaChip(isa), " is ", member(near), `${how}${rest}.`);
    });
  };

  const cost = (entry, m) => {
    const list = guide.cost(entry);
    return list.length ? guide.costTable(list) : make("p", {}, m.form === "cast" ? "A reinterpretation: it costs nothing." : "No model says.");
  };

  // Why there is no drawing of where elements go; nothing where there is nothing to draw.
  const MOST = 256;
  const undrawn = (m) => {
    if (!m.results.length) return null;
    const count = (r) => r.bits / (parseInt(r.element.replace(/\D/g, ""), 10) || 1);
    const most = Math.max(...m.results.map((r) => count(r) || 0));
    const why = most > MOST
      ? `The result has ${plural(most, "element")}; only up to ${MOST} are drawn. The formula says where each is from.`
      : "Not drawn: places depend on addresses, or the formula is too deep to follow. It says where each element is from.";
    return section("Where elements go", make("p", {}, why));
  };

  const methods = [
    ["identical", "the meaning and the operation's formula at these numbers are the same canonical term"],
    ["normal form", "both have the same normal form as sums of products"],
    ["embedded SAT", "a SAT solver found no input on which they differ"],
    ["enumeration", "they agree on every input"],
  ];
  const proof = (m, page) => {
    const used = methods.filter(([name]) => m.evidence.includes(name));
    return [
      make("p", {}, "Proved equal to the operation at these numbers: ", make("strong", {}, m.evidence), "."),
      make("ul", {}, used.map(([name, what]) => make("li", {}, make("em", {}, name), `: ${what}.`)),
        m.checks.map((c) => make("li", {}, page.texts[c])),
        (m.errata || []).map((e) => make("li", {}, "The vendor's text is wrong here; what is right is recorded as erratum ", code(e), "."))),
      make("p", { class: "faint" }, `From ${m.file}, line ${m.line}${m.family ? `, family ${m.family}` : ""}.`),
    ];
  };

  const word = (m) => {
    const { text, mask, bits, fields } = m.encoding;
    const [fixed, value] = [BigInt(mask), BigInt(bits)];
    const top = fields.reduce((most, f) => Math.max(most, f.at + f.width), mask.length * 4 - 8);
    const width = top <= 32 ? 32 : 64;
    const names = {};
    fields.forEach((f) => { for (let k = 0; k < f.width; k += 1) names[f.at + k] = f.operand; });
    const cells = [];
    for (let k = width - 1; k >= 0; k -= 1) {
      const is = (fixed >> BigInt(k)) & 1n;
      const what = names[k] || (is ? String((value >> BigInt(k)) & 1n) : "·");
      const last = cells.at(-1);
      if (names[k] && last && last.what === what) last.n += 1; else cells.push({ what, n: 1 });
    }
    return section("Encoding", make("p", {}, code(text)),
      make("div", { class: "scroll" }, make("table", { class: "word" }, make("caption", { class: "hidden" }, "The word, the highest bit first"),
        make("tbody", {}, make("tr", {}, cells.map((c) => make("td", { colspan: c.n }, c.what)))))));
  };

  // Goes to the page of this instruction beside another one.
  const comparing = (m) => {
    const key = guide.key(m.isa, m.name);
    const field = make("input", { type: "text", id: "other", autocomplete: "off", spellcheck: "false" });
    const form = make("form", { class: "compare" }, make("label", { for: "other" }, "Compare with "), field, " ", make("button", { type: "submit" }, "Compare"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const typed = field.value.trim();
      const other = guide.data.byKey.get(typed) || guide.find({ q: typed }).instructions[0];
      if (other) location.hash = `${guide.address("c", key)}/${encodeURIComponent(guide.key(other.isa, other.name))}`;
    });
    return form;
  };

  guide.instruction = (entry, page) => {
    const operation = page.operations[entry.operation.id];
    const m = operation.members.find((x) => x.name === entry.name && x.isa === entry.isa);
    const flows = m.flows.map((f) => page.flows[f]);
    const twins = operation.members.filter((o) => o !== m && o.isa === m.isa && o.values.join() === m.values.join());
    return [
      make("h2", { class: "code" }, m.name),
      make("p", { class: "chips" }, isaChip(m.isa), chip(entry.kind), m.features.map((f) => chip(f)),
        m.form !== "instruction" ? chip(m.form) : null, m.mnemonic ? make("code", { class: "mnemonic" }, m.mnemonic) : null),
      m.doc !== undefined ? make("p", { class: "lead" }, page.texts[m.doc]) : null,
      make("pre", { class: "signature" }, signature(m)),
      section("What it computes", make("pre", { class: "formula" }, m.formula.split("; ").join("\n")),
        make("p", {}, "It is the operation ", link("o", entry.operation.name), operation.parameters.length ? " at these numbers." : "."),
        operation.parameters.length ? make("details", {}, make("summary", {}, plural(operation.parameters.length, "number")), make("p", {}, `${values(operation, m).join(", ")}.`)) : null),
      guide.trial(entry, m, flows),
      flows.length ? section("Where elements go", guide.draw(flows)) : undrawn(m),
      section("The same operation", elsewhere(operation, m), comparing(m),
        twins.length ? make("p", {}, "Same numbers, another form: ", twins.flatMap((t, k) => [k ? ", " : "", member(t)]), ".") : null,
        make("details", { open: operation.members.length <= 24 }, make("summary", {}, `All ${plural(operation.members.length, "member")} side by side`), side(operation, m))),
      section("Cost in cycles", cost(entry, m)),
      section("Checked and proved", ...proof(m, page)),
      section("Operands", slots(m)),
      m.encoding ? word(m) : null,
      m.pseudocode !== undefined ? section("Pseudocode", make("pre", { class: "listing" }, page.texts[m.pseudocode])) : null,
    ];
  };

  // The formula at the numbers of one member: the one that was looked for, else the shortest.
  const inOne = (entry, operation, page) => {
    const wanted = guide.wanted && guide.wanted.get(entry);
    const m = operation.members.find((x) => wanted && x.name === wanted.name && x.isa === wanted.isa)
      || operation.members.reduce((a, b) => (b.formula.length < a.formula.length ? b : a));
    return [
      m.doc !== undefined ? make("p", { class: "lead" }, page.texts[m.doc]) : null,
      make("p", {}, "In ", member(m), ":"),
      make("pre", { class: "formula" }, m.formula.split("; ").join("\n")),
    ];
  };

  guide.operation = (entry, page) => {
    const operation = page.operations[entry.id];
    const numbers = operation.parameters.map((p, k) => {
      const seen = [...new Set(operation.members.map((m) => m.values[k]))].sort((a, b) => a - b);
      return [code(p), seen.length > 12 ? `${seen[0]} … ${seen.at(-1)} (${seen.length} values)` : seen.join(", ")];
    });
    const drawn = operation.members.filter((m) => m.flows.some((f) => page.flows[f].pattern !== "lanewise"))
      .sort((a, b) => page.flows[a.flows[0]].count - page.flows[b.flows[0]].count);
    const parts = [
      make("h2", {}, entry.name),
      make("p", { class: "chips" }, chip("operation", "isa"), chip(entry.kind), guide.data.isas.filter((isa) => entry.isas.has(isa)).map(isaChip), chip(plural(operation.members.length, "member"))),
      section("What it computes",
        ...(operation.parameters.length ? inOne(entry, operation, page) : []),
        operation.parameters.length
          ? make("details", {}, make("summary", {}, "With any numbers"), make("pre", { class: "formula" }, operation.formula))
          : make("pre", { class: "formula" }, operation.formula),
        make("p", {}, operation.arguments.length ? `Arguments: ${operation.arguments.join(", ")}.` : "It takes no arguments.")),
    ];
    if (drawn.length) {
      const shown = make("div", {});
      const select = make("select", {}, drawn.map((m, k) => make("option", { value: k }, `${m.name}`)));
      const show = () => shown.replaceChildren(guide.draw(drawn[Number(select.value)].flows.map((f) => page.flows[f])));
      select.addEventListener("change", show);
      parts.push(section("Where elements go", make("label", { class: "given" }, "In ", select), shown));
      show();
    } else if (operation.members.some((m) => m.flows.length)) {
      const first = operation.members.find((m) => m.flows.length);
      parts.push(section("Where elements go", make("p", {}, "In ", member(first), ":"), guide.draw(first.flows.map((f) => page.flows[f]))));
    }
    if (numbers.length) parts.push(section("Parameters", table("Parameters", ["Name", "Values in the members"], numbers)));
    parts.push(section("Members side by side", make("p", {}, "A line has members with the same numbers. Each was proved to be this operation."), side(operation, null)));
    return parts;
  };

  // Two instructions side by side: each an entry with its page.
  guide.compare = ([a, pageA], [b, pageB], apart) => {
    const both = [[a, pageA], [b, pageB]].map(([entry, page]) => {
      const operation = page.operations[entry.operation.id];
      return { entry, page, operation, m: operation.members.find((x) => x.name === entry.name && x.isa === entry.isa) };
    });
    const [x, y] = both;
    const line = (name, get) => {
      const cells = both.map(get);
      const text = (c) => (typeof c === "string" ? c : c.textContent);
      return [text(cells[0]) === text(cells[1]) ? name : make("strong", {}, name), ...cells];
    };
    const costs = ({ entry }) => {
      const list = guide.cost(entry);
      return list.length ? make("ul", { class: "plain" }, list.map((c) => make("li", {}, `${c.cpu}${c.source ? " (LLVM)" : ""}: ${c.latency}, ${c.throughput}`))) : "not known";
    };
    const facts = ({ entry }) => [...guide.data.senses[entry.sense]].join(", ");
    const numbers = ({ operation, m }) => values(operation, m).join(", ") || "none";
    const sameOperation = x.entry.operation === y.entry.operation;
    const lines = [
      line("Instruction set", ({ m }) => isaChip(m.isa)),
      line("In a sentence", ({ m, page }) => (m.doc !== undefined ? page.texts[m.doc] : "")),
      line("Formula", ({ m }) => make("code", {}, m.formula)),
      line("Operation", ({ entry }) => link("o", entry.operation.name)),
      line("Numbers", numbers),
      line("Signature", ({ m }) => make("code", {}, signature(m))),
      line("What it does", facts),
      line("Needs", ({ m }) => m.features.join(" ") || "nothing more"),
      line("Latency, cycles between two starts", costs),
    ].filter(([, left, right]) => left || right);
    return [
      make("h2", {}, code(a.name), " and ", code(b.name)),
      make("p", { class: "lead" }, sameOperation
        ? numbers(x) === numbers(y) ? "One operation with the same numbers: they have the same results." : "One operation with different numbers; what differs is in bold."
        : "Two operations; what differs is in bold."),
      table("Side by side", ["", member(x.m), member(y.m)], lines, "pair"),
      apart ? section("An input that tells them apart", make("p", {}, apart)) : null,
    ];
  };

  const EXAMPLES = ["saturating add", "shuffle bytes", "float to int", "sum of absolute differences", "a > b ? a : b", "(a * b) >> 16"];

  guide.welcome = () => {
    const data = guide.data;
    const examples = data.operations.slice().sort((a, b) => b.isas.size - a.isas.size || b.members - a.members).slice(0, 8);
    return [
      make("h2", {}, "Look an instruction up"),
      make("p", { class: "lead" }, `${plural(data.instructions.length, "instruction")} of ${data.isas.join(", ")} are ${plural(data.operations.length, "operation")} with different numbers. Each was proved to be its operation.`),
      make("p", {}, "Say what it does, in words or as an expression in C, or type a name, a mnemonic or an extension; narrow the list with the filters; open an entry for what it computes, where elements go, what it costs, and what is the same elsewhere."),
      make("ul", { class: "plain chips" }, EXAMPLES.map((q) => make("li", {}, make("a", { class: "chip", href: `#/?${new URLSearchParams({ q })}` }, q)))),
      section("Operations on the most instruction sets", make("ul", { class: "plain tiles" }, examples.map((o) => make("li", {}, link("o", o.name), make("br"), make("span", { class: "faint" }, `${plural(o.members, "member")} `), ...guide.data.isas.filter((isa) => o.isas.has(isa)).flatMap((isa) => [isaChip(isa), " "]))))),
      section("Keys", make("ul", { class: "plain" },
        make("li", {}, make("kbd", {}, "/"), " goes to the search"),
        make("li", {}, make("kbd", {}, "↓"), " and ", make("kbd", {}, "↑"), " go through the results"),
        make("li", {}, make("kbd", {}, "Enter"), " opens one; ", make("kbd", {}, "Esc"), " goes back to the search"))),
      make("p", { class: "faint" }, data.about.join(" ")),
    ];
  };
})();
