// Instructions that compute an expression one after the other.
//
// In: a tree of `expression.js` that no single instruction computes, and `guide.match` of `match.js`. Out:
// `guide.sequences(tree)`: for each instruction set the one that writes fewest bits for an element, as `{isa, steps}`, a
// step being `{instruction, text, how}`. The tree is cut into parts that single instructions compute; numbers in it
// are registers that hold them in every element; where that does not fit, variables are extended first. A
// sequence is run on the samples, step by step with the bits that registers have: one that differs is not told.
"use strict";

(() => {
  const MOST_STEPS = 10;
  // Trees that are cut off at once, and ways that are kept of each part.
  const MOST_CUTS = 48;
  const MOST_WAYS = 16;
  // Instructions are looked for this long, in milliseconds: a person waits.
  const PATIENCE = 900;

  const key = (tree) => JSON.stringify(tree, (_, v) => (typeof v === "bigint" ? `${v}n` : v));
  const variable = (name) => ({ op: "variable", name, place: null });
  const inner = (t) => t.args && guide.variables(t).length > 0;

  // A name for each part that may be computed by itself; `'` is in no name that is typed.
  const naming = () => {
    const names = new Map();
    return (tree) => {
      const k = key(tree);
      if (!names.has(k)) names.set(k, `t'${names.size + 1}`);
      return names.get(k);
    };
  };

  // Ways to keep the top of a tree and cut parts off: `{outer, parts: Map(name, tree)}`.
  const cuts = (tree, name) => {
    const below = (t) => {
      if (!t.args) return [{ outer: t, parts: [] }];
      let all = [{ args: [], parts: [] }];
      for (const a of t.args) {
        const ways = below(a);
        if (inner(a)) ways.unshift({ outer: variable(name(a)), parts: [a] });
        all = all.flatMap((one) => ways.map((w) => ({ args: [...one.args, w.outer], parts: [...one.parts, ...w.parts] }))).slice(0, MOST_CUTS);
      }
      return all.map(({ args, parts }) => ({ outer: { ...t, args }, parts }));
    };
    const found = below(tree).filter((c) => c.parts.length).map(({ outer, parts }) => ({ outer, parts: new Map(parts.map((p) => [name(p), p])) }));
    // Few parts first, and of these small ones: the top is one instruction, so it takes what it can.
    return found.sort((a, b) => a.parts.size - b.parts.size || [...a.parts.keys()].join().length - [...b.parts.keys()].join().length);
  };

  // The tree with its numbers as variables that are named by them.
  const filled = (tree) => {
    if (tree.op === "number" || tree.op === "float") return variable(String(tree.value));
    return tree.args ? { ...tree, args: tree.args.map(filled) } : tree;
  };
  const numeral = (name) => /^-?[0-9]/.test(name);

  // What is the same in another spelling, for sets that have no instruction for the first.
  const number = (value) => ({ op: "number", value });
  const power = (t) => (t.op === "number" && t.value > 1n && (t.value & (t.value - 1n)) === 0n ? BigInt(t.value.toString(2).length - 1) : null);
  const spellings = (t) => {
    const [a, b] = t.args || [];
    const two = (op, x, y) => ({ op, args: [x, y] });
    if (t.op === "u~") return [two("^", a, number(-1n))];
    if (t.op === "u-") return [two("-", number(0n), a)];
    if (t.op === "*" && power(b) !== null) return [two("<<", a, number(power(b)))];
    if (t.op === "/" && power(b) !== null) return [two(">>", a, number(power(b)))];
    if (t.op === "%" && power(b) !== null) return [two("&", a, number(b.value - 1n))];
    if (t.op === "&" && b.op === "u~") return [two("&", a, two("^", b.args[0], number(-1n)))];
    if (t.op === "call" && /^f?abs$/.test(t.name)) {
      const call = (name, x, y) => ({ op: "call", name, args: [x, y] });
      const apart_ = a.op === "-" && a.args.length === 2 ? [two("-", call("max", ...a.args), call("min", ...a.args))] : [];
      return [...apart_, call("max", a, two("-", number(0n), a))];
    }
    return [];
  };

  // The tree with a name of its own for each place of a variable: an instruction may take one twice.
  const apart = (tree) => {
    const seen = new Map();
    const go = (t) => {
      if (t.op === "variable" && t.place === null) {
        const n = (seen.get(t.name) || 0) + 1;
        seen.set(t.name, n);
        return n === 1 ? t : variable(`${t.name}°${n}`);
      }
      return t.args ? { ...t, args: t.args.map(go) } : t;
    };
    return go(tree);
  };
  const whose = (name) => name.replace(/°.*/, "");

  // One type that is both; nothing where they differ.
  const common = (a, b) => {
    if (!a || !b) return a || b;
    const open = a.signed === null || b.signed === null;
    if (a.kind !== b.kind || (!open && a.signed !== b.signed)) return null;
    return a.signed === null ? b : a;
  };

  // The types by the variables' own names; nothing where one is taken in two ways.
  const together = (types) => {
    const all = new Map();
    for (const [name, type] of types) {
      const both = common(all.get(whose(name)), type);
      if (!both) return null;
      all.set(whose(name), both);
    }
    return all;
  };

  // Whether something in a tree is a float as it is written.
  const real = (t) => t.op === "float" || (t.op === "cast" && /float|double|f32|f64/.test(t.type)) || (t.op === "call" && /sqrt|floor|ceil|trunc|round|^f/.test(t.name)) || (t.args || []).some(real);

  const WIDTH = /^([0-9]+)-bit-vector$/;
  const widths = (i) => [...guide.data.senses[i.sense]].map((fact) => WIDTH.exec(fact)).filter(Boolean).map((m) => Number(m[1]));
  const isVector = (i) => widths(i).length > 0;

  // An instruction for each step: of one width where there is such a width, the commonest of the set if nothing
  // speaks against it; called for integers where these are computed with.
  const chosen = (isa, steps) => {
    const count = new Map();
    for (const i of guide.data.instructions) if (i.isa === isa) for (const w of widths(i)) count.set(w, (count.get(w) || 0) + 1);
    const rank = [...count.keys()].sort((a, b) => count.get(b) - count.get(a));
    const floats = (i) => i.elements.some((e) => /^b?f/.test(e));
    const cost = (i, s) => (floats(i) === (s.to[0] === "f") ? 0 : 2) + (guide.data.senses[i.sense].has("scalar") ? 8 : 0) + i.name.length / 100;
    const cheapest = (list, s) => list.reduce((a, b) => (a && cost(a, s) <= cost(b, s) ? a : b), null);
    const ways = rank.map((w, at) => {
      const all = steps.map((s) => cheapest(s.here.filter((i) => widths(i).includes(w)), s));
      return { all, cost: all.every(Boolean) ? all.reduce((sum, i, k) => sum + cost(i, steps[k]), at / 4) : Infinity };
    });
    const best = ways.reduce((a, b) => (b.cost < a.cost ? b : a), { cost: Infinity });
    return best.all || steps.map((s) => cheapest(s.here, s));
  };

  // Bits that steps write for one element: narrow elements are more at a time.
  const work = ({ steps }) => steps.reduce((sum, s) => sum + guide.match.width(s.to), 0);

  const spelled = (types, signs) => [...types].map(([n, t]) => `${n} ${t.kind} ${signs ? t.signed : ""}`).sort().join();

  // Types of which all signs fit as one in which they are open (`null`): there are fewer to go through.
  const signless = (list) => {
    const groups = new Map();
    for (const types of list) {
      const kinds = spelled(types, false);
      if (!groups.has(kinds)) groups.set(kinds, new Map());
      const group = groups.get(kinds);
      if (!group.has(spelled(types, true))) group.set(spelled(types, true), types);
    }
    return [...groups.values()].flatMap((group) => {
      const all = [...group.values()];
      const integers = [...all[0].values()].filter((t) => t.kind[0] === "i").length;
      if (all.length < 2 ** integers) return all;
      return [new Map([...all[0]].map(([n, t]) => [n, { kind: t.kind, signed: null }]))];
    });
  };

  class Search {
    constructor(tree) {
      this.tree = tree;
      this.name = naming();
      this.singles = new Map();
      this.plans = new Map();
      this.until = performance.now() + PATIENCE;
    }

    // What computes a tree by itself, on any instruction set.
    single(tree) {
      const k = key(tree);
      if (!this.singles.has(k)) {
        const found = [];
        const tried = new Set();
        for (const other of [tree, filled(tree), apart(tree), apart(filled(tree))]) {
          if (tried.has(key(other)) || performance.now() > this.until) continue;
          tried.add(key(other));
          for (const f of guide.match.all(other)) found.push({ ...f, types: f.types.map(together).filter(Boolean) });
        }
        this.singles.set(k, found);
      }
      return this.singles.get(k);
    }

    // Single instructions of a set, one for each choice of types. `vectors` says whether of vectors or of single numbers.
    steps(tree, isa, vectors) {
      const found = new Map();
      for (const f of this.single(tree)) {
        const here = f.instructions.filter((i) => i.isa === isa && isVector(i) === vectors);
        if (!here.length) continue;
        for (const types of signless(f.types)) {
          const k = `${f.to} ${spelled(types, true)}`;
          if (!found.has(k)) found.set(k, { steps: [{ tree, types, to: f.to, here, name: this.name(tree) }], types, to: f.to });
        }
      }
      return [...found.values()];
    }

    // Ways to compute a tree on a set with a result of that kind (of any where it is null), the cheapest first.
    ways(tree, isa, vectors, kind) {
      const k = `${isa} ${vectors} ${kind} ${key(tree)}`;
      if (this.plans.has(k)) return this.plans.get(k);
      this.plans.set(k, []);
      const fits = (w) => kind === null || w.to === kind;
      const all = this.steps(tree, isa, vectors).filter(fits);
      if (!all.length) {
        for (const { outer, parts } of cuts(tree, this.name)) {
          for (const top of this.steps(outer, isa, vectors).filter(fits)) all.push(...this.joined(top, parts, isa, vectors, tree));
          if (all.length > MOST_WAYS) break;
        }
      }
      if (!all.length) {
        for (const other of spellings(tree)) {
          for (const way of this.ways(other, isa, vectors, kind)) {
            all.push({ ...way, steps: [...way.steps.slice(0, -1), { ...way.steps.at(-1), name: this.name(tree) }] });
          }
        }
      }
      all.sort((a, b) => work(a) - work(b));
      this.plans.set(k, all.slice(0, MOST_WAYS));
      return this.plans.get(k);
    }

    // The top with a way for each of its parts, where their types agree.
    joined(top, parts, isa, vectors, tree) {
      let all = [{ steps: [], types: new Map([...top.types].filter(([n]) => !parts.has(n))) }];
      for (const [name, part] of parts) {
        const wanted = top.types.get(name);
        const ways = this.ways(part, isa, vectors, wanted.kind);
        all = all.flatMap((one) => ways.map((w) => this.both(one, w)).filter(Boolean)).slice(0, MOST_WAYS);
      }
      const last = { ...top.steps[0], name: this.name(tree) };
      return all.map(({ steps, types }) => ({ steps: [...steps, last], types, to: top.to })).filter((w) => w.steps.length <= MOST_STEPS);
    }

    both(one, other) {
      const types = new Map(one.types);
      for (const [name, type] of other.types) {
        const either = numeral(name) ? type : common(types.get(name), type);
        if (!either) return null;
        types.set(name, either);
      }
      const steps = [...one.steps, ...other.steps.filter((s) => !one.steps.some((o) => o.name === s.name))];
      return { steps, types };
    }

    // The same with variables that are narrower and extended first.
    extended(way, isa, vectors) {
      const names = guide.variables(this.tree).map(([name]) => name);
      const { types } = way;
      if (!names.every((n) => types.get(n) && types.get(n).kind[0] === "i")) return [];
      const found = [];
      for (const from of ["i8", "i16", "i32"]) {
        for (const signed of [false, true]) {
          const steps = names.map((n) => {
            const one = this.steps(variable(n), isa, vectors).find((w) => w.types.get(n).kind === from && w.types.get(n).signed === signed && w.to === types.get(n).kind);
            return one && { ...one.steps[0], name: `${n}'` };
          });
          if (steps.some((s) => !s)) continue;
          const inside = (t) => (t.op === "variable" && names.includes(t.name) ? { ...t, name: `${t.name}'` } : t.args ? { ...t, args: t.args.map(inside) } : t);
          const renamed = (map) => new Map([...map].map(([n, type]) => [names.includes(n) ? `${n}'` : n, type]));
          const rest = way.steps.map((s) => ({ ...s, tree: inside(s.tree), types: renamed(s.types) }));
          found.push({ steps: [...steps, ...rest], types: new Map([...renamed(types), ...names.map((n) => [n, { kind: from, signed }])]), to: way.to });
        }
      }
      return found.filter((w) => w.steps.length <= MOST_STEPS);
    }

    best(isa) {
      for (const vectors of [true, false]) {
        let plain = this.ways(this.tree, isa, vectors, null);
        // Who writes no float means integers, where these are computed at all.
        if (plain.length && plain.every((w) => w.to[0] === "f") && !real(this.tree)) {
          const whole = ["i8", "i16", "i32", "i64"].flatMap((kind) => this.ways(this.tree, isa, vectors, kind));
          if (whole.length) plain = whole;
        }
        const all = [...plain, ...plain.flatMap((w) => this.extended(w, isa, vectors))];
        all.sort((a, b) => work(a) - work(b));
        // Rather types with which every choice of the expression is made in some: `x < 0` of unsigned is none.
        const found = all.find((w) => this.agrees(w, true)) || all.find((w) => this.agrees(w, false));
        if (found) return found;
      }
      return null;
    }

    // Whether the steps have the values of the whole, with what registers hold between them.
    agrees({ steps, types, to }, made) {
      const { samples, width, results, same } = guide.match;
      const all = guide.variables(this.tree);
      const starts = new Map();
      all.reduce((sum, [name, count]) => { starts.set(name, sum); return sum + count; }, 0);
      const single = [...types.values()].some((t) => t.kind === "f32");
      const read = (value, type) => (typeof value === "bigint" && type ? (type.signed ? BigInt.asIntN(width(type.kind), value) : BigInt.asUintN(width(type.kind), value)) : value);
      const first = types.get(all[0][0]);
      if (!first) return false;
      let varied = false;
      let before;
      const seen = new Map();
      let copies = this.tree.op === "?" || this.tree.op === "call" ? all.filter(([, count]) => count === 1).map(([name]) => name) : [];
      for (let k = 0; k < samples(first.kind)[0].length; k += 1) {
        const base = (name, place) => read(samples(types.get(name).kind)[starts.get(name) + place][k], types.get(name));
        const held = new Map();
        let value;
        let whole;
        try {
          for (const step of steps) {
            const get = (name, place) => {
              if (held.has(name)) return read(held.get(name), step.types.get(name));
              if (!numeral(name)) return base(name, place);
              return step.types.get(name).kind[0] === "f" ? Number(name) : read(BigInt(name), step.types.get(name));
            };
            const wide = width([...step.types.values()][0].kind);
            const result = results(guide.evaluate(step.tree, get, wide, single), step.to);
            value = result[result.length - 1];
            if (value === undefined) return false;
            held.set(step.name, value);
          }
          whole = results(guide.evaluate(this.tree, base, width(first.kind), single, seen), to);
          copies = copies.filter((name) => whole.length && whole[0] === results(base(name, 0), to)[0]);
        } catch {
          return false;
        }
        if (!whole.some((w) => same(value, w, to))) return false;
        varied = varied || (k > 0 && whole[0] !== before);
        [before] = whole;
      }
      const idle = copies.length || [...seen.values()].some((ways) => ways !== 3);
      return varied && !(made && idle);
    }
  }

  // A sequence as it is shown: parts have short names.
  const shown = (isa, { steps }) => {
    const names = new Map();
    steps.forEach((s, k) => names.set(s.name, k === steps.length - 1 ? "result" : `t${k + 1}`));
    const instructions = chosen(isa, steps);
    const put = (t) => (t.op === "variable" && names.has(t.name) ? { ...t, name: names.get(t.name) } : t.args ? { ...t, args: t.args.map(put) } : t);
    const types = (s) => new Map([...s.types].map(([n, type]) => [names.get(n) || n, type]));
    return {
      isa,
      steps: steps.map((s, k) => ({ instruction: instructions[k], text: `${names.get(s.name)} = ${guide.written(put(s.tree))}`, how: `${guide.match.said(types(s))} → ${s.to[0] === "f" ? s.to : `${guide.match.width(s.to)} bits`}` })),
    };
  };

  guide.sequences = (tree) => {
    const search = new Search(tree);
    return guide.data.isas.map((isa) => [isa, search.best(isa)]).filter(([, way]) => way).map(([isa, way]) => shown(isa, way));
  };
})();
