// Which instructions compute an expression.
//
// In: a tree of `expression.js`, and what instructions compute on samples. Out:
// `guide.matches(text)`, a promise of `{found: [{instructions, how}], sequences}`, or nothing for what is no
// expression. The expression is evaluated on the same samples, its variables read as signed and as
// unsigned elements of every width that instructions have: equal values propose an instruction.
// Where there is none, `sequences` of `sequence.js` compute it one after the other. `guide.apart(a, b)` is
// an input on which two instructions differ, by the same samples.
"use strict";

(() => {
  let known = null;

  guide.values = (raw) => {
    const read = (kind) => (x) => (kind[0] === "f" ? Number(x) : BigInt(x));
    const samples = Object.fromEntries(Object.entries(raw.samples).map(([kind, all]) => [kind, all.map((one) => one.map(read(kind)))]));
    const shapes = raw.shapes.map(([to, from]) => ({ to, from, list: [] }));
    for (const [shape, values, instructions] of raw.list) {
      const { to, list } = shapes[shape];
      list.push({ values: values.map(read(to)), instructions });
    }
    known = { samples, shapes };
  };

  const load = guide.script("data/values.js", () => known);

  const width = (kind) => Number(kind.slice(1)) || 8;

  // All ways to give the names to the operands of a shape.
  const orders = (names, from) => {
    if (names.length !== from.length) return [];
    const found = [];
    const go = (taken) => {
      if (taken.length === from.length) {
        found.push(taken);
        return;
      }
      const [kind, count] = from[taken.length];
      for (const name of names) {
        if (taken.includes(name) || name[1] !== count || (name[2] && kind !== "n")) continue;
        if (!name[2] && kind === "n" && name[0] !== "n" && name[0] !== "imm") continue;
        go([...taken, name]);
      }
    };
    go([]);
    return found;
  };

  // Values near each other count as equal for floats: an instruction may round once.
  const same = (a, b, kind) => {
    if (kind[0] !== "f") return a === b;
    if (Object.is(a, b) || a === b) return true;
    const most = kind === "f32" ? 1e-5 : 1e-11;
    return Math.abs(a - b) <= most * Math.max(Math.abs(a), Math.abs(b), 1e-3);
  };

  // The results that a value may stand for: what is true is 1, or all ones.
  const results = (value, to) => {
    if (typeof value === "boolean") return to[0] === "f" ? [] : value ? [1n, BigInt.asUintN(width(to), -1n)] : [0n, 0n];
    if (to[0] === "f") return typeof value === "number" ? [to === "f32" ? Math.fround(value) : value] : [];
    return typeof value === "bigint" ? [BigInt.asUintN(width(to), value)] : [];
  };

  // The sign of each operand: 0 for unsigned, 1 for signed.
  const signs = (from) => {
    const free = from.filter(([kind]) => kind[0] === "i").length;
    return Array.from({ length: 2 ** free }, (_, bits) => {
      let at = 0;
      return from.map(([kind]) => {
        if (kind[0] !== "i") return 0;
        at += 1;
        return (bits >> (at - 1)) & 1;
      });
    });
  };

  // What of a shape may have these results on the first sample: what is looked at further.
  const begins = (shape, value) => {
    if (shape.to[0] === "f") return shape.list;
    if (!shape.index) {
      shape.index = new Map();
      for (const entry of shape.list) {
        const at = String(entry.values[0]);
        if (!shape.index.has(at)) shape.index.set(at, []);
        shape.index.get(at).push(entry);
      }
    }
    return [...new Set(value.map(String))].flatMap((v) => shape.index.get(v) || []);
  };

  // What of a shape has the values of a tree.
  const fitting = (tree, names, shape) => {
    const { to, from } = shape;
    const single = from.some(([kind]) => kind === "f32");
    const all = [];
    for (const order of orders(names, from)) {
      const starts = [];
      from.reduce((sum, [, n]) => { starts.push(sum); return sum + n; }, 0);
      for (const sign of signs(from)) {
        const seen = new Map();
        let first = null;
        let varied = false;
        let left = null;
        // Operands that the value always is: a choice among such is none.
        let copies = tree.op === "?" || tree.op === "call" ? order.filter((o) => o[1] === 1).map((o) => o[0]) : [];
        const count = shape.list[0].values.length;
        for (let k = 0; k < count && (!left || left.length); k += 1) {
          const get = (name, place) => {
            const at = order.findIndex((o) => o[0] === name);
            const kind = from[at][0];
            const value = known.samples[kind][starts[at] + place][k];
            return sign[at] ? BigInt.asIntN(width(kind), value) : value;
          };
          let value;
          try {
            value = results(guide.evaluate(tree, get, width(from[0][0]), single, seen), to);
            copies = copies.filter((name) => value.length && value[0] === results(get(name, 0), to)[0]);
            first = first === null ? value[0] : first;
            varied = varied || value[0] !== first;
          } catch {
            return all;
          }
          left = (left || begins(shape, value).map((entry) => [entry, [0, 1]])).map(([entry, ways]) => [entry, ways.filter((w) => value.length && same(value[Math.min(w, value.length - 1)], entry.values[k], to))]).filter(([, ways]) => ways.length);
        }
        const types = new Map(order.map((o, at) => [o[0], { kind: from[at][0], signed: Boolean(sign[at]) }]));
        // What is always the same on samples says nothing; a choice that always goes one way, little.
        const idle = [...seen.values()].filter((ways) => ways !== 3).length + copies.length;
        if (varied) for (const [entry] of left) all.push({ entry, types, idle });
      }
    }
    return all;
  };

  const spoken = ({ kind, signed }) => (kind === "n" ? "a constant" : kind[0] === "f" ? kind : `${signed ? "i" : "u"}${width(kind)}`);
  const said = (types) => [...types].map(([name, type]) => `${name}: ${spoken(type)}`).join(", ");

  // The tree with a number as a variable: instructions take it as a constant operand.
  const opened = (tree) => {
    let done = false;
    const go = (t) => {
      if (done || !t.args) return t;
      if (/^(<<|>>)$/.test(t.op) && t.args[1].op === "number") {
        done = true;
        return { ...t, args: [t.args[0], { op: "variable", name: "n", place: null }] };
      }
      return { ...t, args: t.args.map(go) };
    };
    const open = go(tree);
    return done ? open : null;
  };

  // What a cast makes has the width that it says.
  const casts = (tree, { to }) => tree.op !== "cast" || guide.castWidth(tree.type) === width(to);

  const find = (tree) => {
    const names = guide.variables(tree).map(([name, count]) => [name, count, false]);
    const seen = new Map();
    for (const shape of known.shapes.filter((s) => casts(tree, s))) {
      for (const { entry, types, idle } of fitting(tree, names, shape)) {
        if (!seen.has(entry)) seen.set(entry, { instructions: entry.instructions.map((k) => guide.data.instructions[k]), types: [], to: shape.to, idle });
        const one = seen.get(entry);
        one.types.push(types);
        one.idle = Math.min(one.idle, idle);
      }
    }
    const cost = (i) => guide.data.senses[i.sense].size + (guide.data.senses[i.sense].has("library") ? 9 : 0);
    // Instructions that do least besides come first.
    const costs = [...seen.values()].map((f) => ({ ...f, how: f.types.map(said), cost: Math.min(...f.instructions.map(cost)) }));
    return costs.sort((a, b) => a.idle - b.idle || a.cost - b.cost);
  };

  // The same with a shift's number as a constant operand.
  const all = (tree) => {
    const open = opened(tree);
    return [...find(tree), ...(open ? find(open) : []).map((f) => ({ ...f, constant: true }))];
  };

  // What `sequence.js` computes with.
  guide.match = { all, said, results, same, width, samples: (kind) => known.samples[kind] };

  // An input on which two instructions differ, in a sentence; nothing when samples show none.
  guide.apart = async (a, b) => {
    await load();
    const places = [a, b].map((i) => {
      const number = guide.data.instructions.indexOf(i);
      for (const shape of known.shapes) {
        for (const entry of shape.list) if (entry.instructions.includes(number)) return { shape, entry };
      }
      return null;
    });
    if (places.some((p) => !p) || JSON.stringify(places[0].shape.from) !== JSON.stringify(places[1].shape.from)) return null;
    const [x, y] = places;
    const k = x.entry.values.findIndex((v, n) => !same(v, y.entry.values[n], x.shape.to) || x.shape.to !== y.shape.to);
    if (k < 0) return null;
    let at = 0;
    const operands = x.shape.from.map(([kind, count], n) => {
      const own = Array.from({ length: count }, (_, j) => known.samples[kind][at + j][k]);
      at += count;
      return `${"abcdefgh"[n]} = ${own.join(", ")}`;
    });
    return `With elements ${operands.join(" and ")}: ${a.name} gives ${x.entry.values[k]}, ${b.name} gives ${y.entry.values[k]}. Operands are in the order of their names in C.`;
  };

  guide.matches = async (text) => {
    const tree = guide.parse(text);
    if (!tree) return null;
    await load();
    const named = (h) => h.replace(/\bn: a constant/, "the count a constant operand");
    const found = all(tree).map((f) => (f.constant ? { ...f, how: f.how.map(named) } : f));
    // Where every choice of the expression is made in some, only these are meant.
    const least = Math.min(...found.map((f) => f.idle));
    const once = found.filter((f) => f.idle === least).filter((f, k) => found.findIndex((g) => g.instructions[0] === f.instructions[0]) === k);
    // A choice that is never made says that it was read otherwise than it was meant: `x < 0` of unsigned.
    const meant = least > 0 && once.length ? guide.sequences(tree) : [];
    if (meant.length) return { found: [], sequences: meant };
    return { found: once, sequences: once.length ? [] : guide.sequences(tree) };
  };
})();
