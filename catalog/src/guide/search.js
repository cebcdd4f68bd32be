// Finding.
//
// In: words and filters. Out: `guide.find({q, isa, feature, element, kind, sort})` gives
// `{operations, instructions, best, near, named}`, the best first: `best` has for each operation the
// member that fits best, `near` says that none does all of it, `named` that a name was typed.
// And `guide.isName(word)`. What the words ask for
// is weighed against the facts of each instruction: a fact that is asked for and there counts
// by how rare it is, one that is there and not asked for counts a little against it. Names,
// mnemonics, features and formulas are looked through as well.
"use strict";

(() => {
  // Facts that say how an instruction is varied: who does not ask for them wants it without.
  const VARIANTS = new Set(["merge-masked", "zero-masked", "scalar", "to-mask", "complex", "alternate", "accumulate", "matrix", "library"]);
  // Facts that every instruction has some of.
  const PLAIN = /^(float|integer|signed|unsigned|f16|bf16|f32|f64|[0-9]+-bit(-vector)?|by-constant|copy|widen|narrow)$/;
  const MISSING = 0.8;
  const ENOUGH = 0.6;
  const NEAR = 0.3;
  const SOMETHING = 0.05;
  // What it counts that an operation is on one set more, and in twice as many forms.
  const SETS = 0.3;
  const FORMS = 0.12;

  const prepare = () => {
    const { operations, instructions, senses } = guide.data;
    for (const o of operations) {
      o.low = o.name.toLowerCase();
      o.text = `${o.low} ${o.kind} ${o.formula.toLowerCase()}`;
    }
    for (const i of instructions) {
      i.low = i.name.toLowerCase();
      i.mnem = i.mnemonic.toLowerCase();
      const features = i.features.join(" ").toLowerCase();
      i.text = `${i.low} ${i.mnem} ${features} ${features.replaceAll("_", "")} ${i.operation.text}`;
    }
    const count = new Map();
    for (const o of operations) {
      const seen = new Set(o.list.flatMap((i) => [...senses[i.sense]]));
      for (const fact of seen) count.set(fact, (count.get(fact) || 0) + 1);
    }
    prepare.weight = (fact) => {
      const rare = Math.log(1 + operations.length / (1 + (count.get(fact) || 0)));
      return PLAIN.test(fact) ? Math.min(1.5, rare) : rare;
    };
    prepare.names = new Set(instructions.flatMap((i) => [i.low, ...i.low.split(/[_.]+/), i.mnem]).concat(operations.flatMap((o) => o.low.split("_")), guide.data.features.map((f) => f.toLowerCase())));
    prepare.done = true;
  };

  guide.isName = (word) => {
    if (!prepare.done) prepare();
    return prepare.names.has(word);
  };

  // What one instruction is called in several ways, by which operand it overwrites, is looked for by one.
  const spelt = (text) => text.replace(/\bv(fn?m(?:add|sub|addsub|subadd))(?:132|213|231)(?=[ps][hsd]\b|\b)/gi, "v$1213");

  // How well a word fits: 0 is not at all.
  const fit = (word, name, mnemonic, operation, text) => {
    if (name === word || mnemonic === word) return 100;
    if (operation === word) return 60;
    if (name.startsWith(word)) return 50;
    const at = name.indexOf(word);
    if (at >= 0) {
      const begins = /[_.]/.test(name[at - 1]);
      const ends = at + word.length === name.length || /[_.]/.test(name[at + word.length]);
      return begins && ends ? 40 : begins ? 32 : 20;
    }
    if (mnemonic.startsWith(word)) return 30;
    if (operation.includes(word)) return 12;
    return text.includes(word) ? 5 : 0;
  };

  const sense = (facts, demand, weight) => {
    let best = 0;
    let used = [];
    for (const way of demand.ways) {
      let [have, all] = [0, 0];
      for (const fact of way) {
        const w = weight(fact);
        all += w;
        if (facts.has(fact)) have += w;
      }
      const value = all ? have / all : 0;
      if (value > best || (value === best && value > 0 && all > demand.most)) {
        best = value;
        used = way.filter((f) => facts.has(f));
        demand.most = all;
      }
    }
    return [best, used];
  };

  // The most that a demand can count.
  const worth = (demand, weight) => {
    const each = demand.ways.map((way) => way.reduce((sum, f) => sum + weight(f), 0));
    return each.length ? Math.max(...each) : 3;
  };

  // How well the facts of a set meet all demands: [value, the part that is met, what is missing].
  const meets = (facts, demands, weight) => {
    let [value, met, all] = [0, 0, 0];
    const hard = demands.some((d) => !d.soft);
    const used = new Set();
    const open = [];
    for (const demand of demands) {
      const full = demand.soft ? Math.min(1.5, demand.worth) : demand.worth;
      const [part, by] = sense(facts, demand, weight);
      by.forEach((f) => used.add(f));
      if (part < 1 && demand.names.length) open.push([demand, full, part]);
      else {
        value += full * (part - MISSING * (1 - part));
        if (!hard || !demand.soft) met += full * part;
      }
      if (!hard || !demand.soft) all += full;
    }
    let extra = 0;
    for (const fact of facts) {
      if (used.has(fact) || PLAIN.test(fact)) continue;
      extra += VARIANTS.has(fact) ? 1.2 : 0.45;
    }
    return { value: value - extra, met, all, open, hard };
  };

  const NEVER = -1e9;
  // What names add for the demands that facts leave open.
  const named = (i, base, enough) => {
    let { value, met } = base;
    for (const [demand, full, part] of base.open) {
      let best = 0;
      for (const word of demand.names) best = Math.max(best, fit(word, i.low, i.mnem, i.operation.low, demand.unknown ? i.text : ""));
      if (demand.unknown && !best && !demand.nowhere) return NEVER;
      const by = Math.max(part, Math.min(1, best / 32));
      value += full * (by - MISSING * (1 - by)) + best / 40;
      if (!base.hard || !demand.soft) met += full * by;
    }
    return base.all && met / base.all < enough ? NEVER : value;
  };

  // Every word is in the name, the features or the formula: 0 is not at all.
  const literal = (words, i) => {
    let sum = 0;
    for (const word of words) {
      const one = fit(word, i.low, i.mnem, i.operation.low, i.text);
      if (!one) return 0;
      sum += one;
    }
    return sum / words.length;
  };

  const order = (a, b) => b[0] - a[0] || a[1].low.length - b[1].low.length || (a[1].low < b[1].low ? -1 : 1);

  // The values of each instruction that passes: a list of [value, instruction].
  const weigh = (text, pool, enough) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let demands = guide.understand(text);
    // A word that is in no name and in no thesaurus is one that was typed wrong.
    const all = () => pool.map((i) => i.text);
    demands = demands.flatMap((d) => {
      if (!d.unknown || prepare.names.has(d.words[0]) || all().some((t) => t.includes(d.words[0]))) return [d];
      const near = guide.nearest(d.words[0], prepare.names);
      return [near ? { ...d, names: [near], soft: true } : { ...d, nowhere: true, soft: true }];
    });
    // A word that is nowhere is passed over when others say what is wanted.
    if (!demands.some((d) => d.ways.length && !d.soft)) demands.forEach((d) => { d.nowhere = false; });
    const weight = prepare.weight;
    for (const d of demands) d.worth = worth(d, weight);
    const { senses } = guide.data;
    const base = senses.map(() => null);
    const found = [];
    for (const i of pool) {
      const whole = literal(words, i);
      let value = NEVER;
      if (demands.length) {
        base[i.sense] = base[i.sense] || meets(senses[i.sense], demands, weight);
        value = named(i, base[i.sense], enough);
      }
      // What is called exactly so comes first; what has a word of it in its name, a little further up.
      if (whole >= 30) value = Math.max(value, whole >= 100 ? 40 : whole >= 45 ? 9 : 0) + whole / 60;
      else if (whole) value = Math.max(value, -6) + whole / 60;
      if (value > NEVER / 2) found.push([value, i]);
    }
    found.named = demands.every((d) => d.unknown);
    return found;
  };

  const passes = (asked) => (i) => {
    const any = (wanted, has) => !wanted || !wanted.length || [].concat(wanted).some(has);
    return any(asked.isa, (x) => i.isa === x) && any(asked.feature, (x) => i.features.includes(x))
      && any(asked.element, (x) => i.elements.includes(x)) && any(asked.kind, (x) => i.kind === x);
  };

  guide.find = (asked) => {
    if (!prepare.done) prepare();
    const pool = guide.data.instructions.filter(passes(asked));
    const q = spelt(asked.q.trim());
    if (!q) return { operations: [...new Set(pool.map((i) => i.operation))], instructions: pool, best: new Map(), near: false, named: false };
    let found = weigh(q, pool, ENOUGH);
    const near = !found.length;
    if (near) found = weigh(q, pool, NEAR);
    // Words that contradict each other still name something.
    if (!found.length) found = weigh(q, pool, SOMETHING);
    found.sort(order);
    const best = new Map();
    for (const [value, i] of found) if (!best.has(i.operation)) best.set(i.operation, [value, i]);
    // An operation is as good as its best member; one that more sets have, or in more forms, is asked for more often.
    const common = (o) => SETS * (o.isas.size - 1) + FORMS * Math.log2(o.members);
    const operations = [...best].map(([o, [value, i]]) => [value + common(o), o, i]).sort((a, b) => b[0] - a[0] || b[1].members - a[1].members || (a[1].low < b[1].low ? -1 : 1));
    return {
      near, named: found.named, operations: operations.map((f) => f[1]), instructions: found.map((f) => f[1]),
      best: new Map(operations.map((f) => [f[1], f[2]])),
    };
  };
})();
