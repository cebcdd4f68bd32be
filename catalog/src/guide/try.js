// A form in which an instruction is tried: its operands element by element, and its result.
//
// In: an instruction of the index, its line on a page, its flows. Out: `guide.trial(entry, m, flows)`, a
// section. What is typed is in the address, as `guide.tried`: operands in hexadecimal, lowest element last, those
// that point with the bytes that are there. Results come from `guide.interpret`.
"use strict";

(() => {
  const make = guide.make;
  // More elements than that are typed as one text.
  const MOST = 256;
  // Constants that stand for something.
  const NAMED = {
    rounding: [[4, "4: as it is, to nearest"], [8, "8: to nearest"], [9, "9: down"], [10, "10: up"], [11, "11: towards zero"]],
    sae: [[4, "4: told"], [8, "8: suppressed"]],
    scale: [[1, "1"], [2, "2"], [4, "4"], [8, "8"]],
  };
  const KNOWN = /^(i|u|f|bf)(\d+)$/;

  // How elements of so many bits are read: their kind, width and number.
  const split = (slot, flows) => {
    const known = KNOWN.exec(slot.element);
    if (known && slot.bits % Number(known[2]) === 0) return { kind: slot.element, width: Number(known[2]) };
    if (slot.element === "mask") return { kind: "mask", width: 1 };
    const named = flows.flatMap((f) => [...f.from, [f.to, f.width, f.count]]).find(([n]) => n === slot.name);
    const width = named && named[1] > 1 && named[1] <= 64 && slot.bits % named[1] === 0 ? named[1] : [64, 32, 16, 8].find((w) => slot.bits % w === 0 && w < slot.bits) || slot.bits;
    return { kind: `u${width}`, width };
  };

  const pieces = (bits, width, count) => {
    const mask = (1n << BigInt(width)) - 1n;
    return Array.from({ length: count }, (_, k) => (bits >> BigInt(k * width)) & mask);
  };
  const joined = (list, width) => list.reduceRight((all, one) => (all << BigInt(width)) | one, 0n);

  // The operands as fields: what is typed, element by element. Memory that is pointed at is a field too.
  const fields = (m, flows) => {
    const widest = [...m.results, ...m.operands.filter((o) => o.role === "register")].filter((s) => s.bits).sort((a, b) => b.bits - a.bits)[0];
    const scaled = m.operands.some((o) => o.role === "scale");
    let pointers = 0;
    return m.operands.map((o) => {
      if (NAMED[o.role]) return { slot: o, choices: NAMED[o.role] };
      if (o.role === "pointer") {
        pointers += 1;
        const { kind, width } = widest ? split(widest, flows) : { kind: "u8", width: 8 };
        const typed = width % 8 ? { kind: "u8", width: 8 } : { kind, width };
        const bytes = Math.max(64, scaled ? 256 : 0, widest ? Math.ceil(widest.bits / 8) : 0);
        return { slot: o, address: BigInt(pointers) << 16n, ...typed, count: (bytes * 8) / typed.width };
      }
      if (o.role === "immediate") return { slot: o, constant: true, kind: `u${o.bits}`, width: o.bits, count: 1 };
      const { kind, width } = split(o, flows);
      // What is multiplied and added to an address stays near it.
      return { slot: o, kind, width, count: o.bits / width, near: scaled && !kind.startsWith("f") };
    });
  };

  // Elements that tell where they are from: 0, 1, 2, … through all operands.
  const counting = (all, flows) => {
    const given = new Map(flows.flatMap((f) => f.given));
    let next = 0n;
    for (const f of all) {
      if (f.choices) f.bits = BigInt(f.choices[0][0]);
      else if (f.constant) f.bits = BigInt(given.get(f.slot.name) ?? Math.max(f.slot.least || 0, Math.min(1, f.slot.max)));
      else {
        const one = (k) => {
          if (f.width === 1) return BigInt(k % 3 === 0 ? 1 : 0);
          const number = f.near ? BigInt(k) : next + BigInt(k);
          const wraps = 1n << BigInt(Math.min(f.width, 7) - (f.kind.startsWith("i") && f.width <= 7 ? 1 : 0));
          return guide.read(f.kind, f.width, String(number % wraps)) ?? 0n;
        };
        f.bits = joined(Array.from({ length: f.count }, (_, k) => one(k)), f.width);
        if (f.width > 1 && !f.near) next += BigInt(f.count);
      }
    }
  };

  const byLot = (all) => {
    for (const f of all) {
      if (f.choices) f.bits = BigInt(f.choices[Math.floor(Math.random() * f.choices.length)][0]);
      else if (f.constant) {
        const least = f.slot.least || 0;
        f.bits = BigInt(least + Math.floor(Math.random() * (f.slot.max - least + 1)));
      } else f.bits = joined(Array.from({ length: f.count }, () => (f.near ? BigInt(Math.floor(Math.random() * 16)) : guide.lot(f.kind, f.width))), f.width);
    }
  };

  // In the address: `name.hex`, with `~` between operands.
  const remembered = (all) => all.map((f) => `${f.slot.name}.${f.bits.toString(16)}`).join("~");
  const recalled = (all, text) => {
    const typed = new Map(text.split("~").map((part) => [part.slice(0, part.lastIndexOf(".")), part.slice(part.lastIndexOf(".") + 1)]));
    for (const f of all) {
      const digits = typed.get(f.slot.name);
      const most = f.choices ? 8 : f.width * f.count;
      if (digits && /^[0-9a-f]+$/.test(digits) && digits.length <= Math.ceil(most / 4)) {
        const bits = BigInt(`0x${digits}`) & ((1n << BigInt(most)) - 1n);
        const allowed = f.choices ? f.choices.some(([v]) => BigInt(v) === bits)
          : !f.constant || (bits >= BigInt(f.slot.least || 0) && bits <= BigInt(f.slot.max));
        if (allowed) f.bits = bits;
      }
    }
  };

  const title = (f) => {
    if (f.choices || f.constant) return f.slot.name;
    const elements = f.count > 1 ? `${f.count} × ` : "";
    return `${f.address === undefined ? f.slot.name : `bytes at ${f.slot.name}`}: ${elements}${f.kind === "mask" ? "bit" : f.kind}`;
  };

  // Fields of one operand; `changed` is called when what is typed is a number.
  const inputs = (f, changed) => {
    if (f.choices) {
      const select = make("select", { "aria-label": f.slot.name }, f.choices.map(([value, text]) => make("option", { value, selected: BigInt(value) === f.bits }, text)));
      select.addEventListener("change", () => {
        f.bits = BigInt(select.value);
        changed();
      });
      return select;
    }
    const refused = (field, wrong) => field.setAttribute("aria-invalid", wrong ? "true" : "false");
    const allowed = (value) => value !== null && (!f.constant || (value >= BigInt(f.slot.least || 0) && value <= BigInt(f.slot.max)));
    const list = pieces(f.bits, f.width, f.count);
    if (f.count > MOST) {
      const field = make("textarea", { rows: 4, spellcheck: "false", "aria-label": title(f) }, list.map((b) => guide.show(f.kind, f.width, b)).join(" "));
      field.addEventListener("input", () => {
        const typed = field.value.trim().split(/\s+/).map((t) => guide.read(f.kind, f.width, t));
        const wrong = typed.length > f.count || typed.includes(null);
        refused(field, wrong);
        if (!wrong) f.bits = joined(typed, f.width);
        changed(wrong);
      });
      return field;
    }
    return list.map((bits, k) => {
      const text = guide.show(f.kind, f.width, bits);
      const field = make("input", { type: "text", value: text, autocomplete: "off", spellcheck: "false", "aria-label": `${f.slot.name}${f.count > 1 ? ` element ${k}` : ""}` });
      field.addEventListener("input", () => {
        const value = guide.read(f.kind, f.width, field.value);
        refused(field, !allowed(value));
        if (allowed(value)) {
          list[k] = value;
          f.bits = joined(list, f.width);
        }
        changed(!allowed(value));
      });
      return f.count > 1 ? make("span", { class: "element" }, make("span", { class: "place", "aria-hidden": "true" }, String(k)), field) : field;
    });
  };

  // So many elements beside each other: the same for operands and results, so that places stand below each other.
  const across = (width) => (width <= 8 ? 16 : width <= 32 ? 8 : 4);
  const grid = (f, label, body) => {
    const n = across(f.width || 32);
    return make("div", { class: "operand", role: "group", "aria-label": label }, make("span", { class: "of" }, label),
      make("div", { class: "elements", style: `--across: ${n}; --narrow: ${n / 2}` }, body));
  };

  // Bits that the vendor leaves undefined hide what was computed there.
  const hidden = (result, from, width) => (result.undefined || []).some(([lo, hi]) => lo < from + width && from < hi);
  const told = (slot, result, flows) => {
    const f = split({ ...slot, bits: result.width }, flows);
    const count = result.width / f.width;
    const shown = (bits, k) => (result.waits ? "…" : hidden(result, k * f.width, f.width) ? "undefined" : guide.show(f.kind, f.width, bits));
    const list = pieces(result.bits, f.width, count).map(shown);
    const label = `${slot.name}: ${count > 1 ? `${count} × ` : ""}${f.kind === "mask" ? "bit" : f.kind}`;
    const cells = count > MOST ? make("code", { class: "many" }, list.join(" "))
      : list.map((text, k) => make("span", { class: "element" }, count > 1 ? make("span", { class: "place", "aria-hidden": "true" }, String(k)) : null, make("output", { title: `0x${pieces(result.bits, f.width, count)[k].toString(16)}` }, text)));
    return grid(f, label, cells);
  };

  // A memory: the elements of what is pointed at from the first that is changed to the last, and bytes that were
  // written elsewhere.
  const written = (result, all) => {
    if (!result.memory.length) return make("p", {}, "No byte of the memory is changed.");
    const bytes = new Map(result.memory.flatMap(([at, run]) => run.map((byte, k) => [at + BigInt(k), byte])));
    const parts = [];
    for (const f of all.filter((one) => one.address !== undefined)) {
      const step = f.width / 8;
      const changed = new Set();
      const block = pieces(f.bits, 8, f.count * step).map((byte, k) => {
        const at = f.address + BigInt(k);
        if (!bytes.has(at)) return byte;
        changed.add(Math.floor(k / step));
        const now = BigInt(bytes.get(at));
        bytes.delete(at);
        return now;
      });
      if (!changed.size) continue;
      const [first, last] = [Math.min(...changed), Math.max(...changed)];
      const list = pieces(joined(block, 8), f.width, f.count).slice(first, last + 1);
      parts.push(grid(f, `bytes at ${f.slot.name} after: ${changed.size} × ${f.kind} changed`, list.map((bits, k) => make("span", { class: "element" },
        make("span", { class: "place", "aria-hidden": "true" }, String(first + k)), make("output", { class: changed.has(first + k) ? null : "kept" }, guide.show(f.kind, f.width, bits))))));
    }
    if (bytes.size) parts.push(make("p", {}, "Elsewhere: ", make("code", { class: "many" }, [...bytes].map(([at, byte]) => `0x${at.toString(16)}: 0x${byte.toString(16)}`).join(", "))));
    return parts;
  };

  const APPROXIMATE = /\(f_(rcp|rsqrt)\b/;

  guide.trial = (entry, m, flows) => {
    const all = fields(m, flows);
    const form = make("div", { class: "trial" });
    const results = make("div", { class: "trial results", role: "status", "aria-live": "polite" });
    let turn = 0;
    const compute = async (wrong) => {
      turn += 1;
      const mine = turn;
      if (wrong) {
        results.replaceChildren(make("p", { class: "note" }, "What is marked is no value of this operand."));
        return;
      }
      const values = Object.fromEntries(all.map((f) => [f.slot.name, f.address ?? f.bits]));
      values.mem = all.filter((f) => f.address !== undefined).map((f) => [f.address, pieces(f.bits, 8, (f.count * f.width) / 8).map(Number)]);
      try {
        const found = await guide.interpret(entry, m, values);
        if (mine !== turn) return;
        const meaning = await guide.meaning(entry, m);
        const approximate = meaning && meaning.terms.some((t) => APPROXIMATE.test(t.term));
        const held = meaning ? meaning.state.filter(([, bits]) => bits).map(([name]) => name) : [];
        results.replaceChildren(...(found
          ? [...found.flatMap((r, k) => (r.memory ? written(r, all) : told(m.results[k], r, flows))),
            held.length ? make("p", { class: "faint" }, `It also reads ${held.join(", ")}, which is 0 here.`) : null,
            approximate ? make("p", { class: "faint" }, "The instruction approximates; shown is about the nearest number, and a processor may give another within the stated error.") : null].filter(Boolean)
          : [make("p", {}, "It calls a function of a mathematical library, which no standard fixes: it has no values here.")]));
      } catch (error) {
        if (mine === turn) results.replaceChildren(make("p", { class: "note" }, `${error.message}.`));
      }
    };
    const invalid = () => Boolean(form.querySelector("[aria-invalid=true]"));
    const changed = (wrong) => {
      if (!wrong && !invalid()) guide.keep(remembered(all));
      return compute(wrong || invalid());
    };
    const show = () => form.replaceChildren(...all.map((f) => grid(f, title(f), inputs(f, changed))));
    const button = (text, act) => {
      const b = make("button", { type: "button" }, text);
      b.addEventListener("click", () => {
        act();
        show();
        changed();
      });
      return b;
    };
    counting(all, flows);
    if (guide.tried) recalled(all, guide.tried);
    show();
    // The room that results take, so that nothing moves when they come.
    results.replaceChildren(...m.results.filter((r) => r.bits).map((r) => told(r, { width: r.bits, bits: 0n, waits: true }, flows)));
    compute();
    return make("section", { id: "try" }, make("h3", {}, "Try it"),
      all.length ? make("p", { class: "acts" }, button("Random", () => byLot(all)), " ", button("Count up", () => counting(all, flows)),
        make("span", { class: "faint" }, " Type decimals, 0x…, 0b…, inf or nan. Computed here by the interpreter that the proofs rest on.")) : null,
      form, results);
  };
})();
