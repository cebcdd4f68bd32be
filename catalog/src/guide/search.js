// Finding.
//
// In: words and filters. Out: `guide.find({q, isa, feature, element, kind})` gives
// `{operations, instructions}`, the best first. Every word must be in the name, the mnemonic, the
// features, the operation's name or its formula; names count before the rest.
"use strict";

(() => {
  const prepare = () => {
    for (const o of guide.data.operations) {
      o.low = o.name.toLowerCase();
      o.text = `${o.low} ${o.kind} ${o.formula.toLowerCase()}`;
    }
    for (const i of guide.data.instructions) {
      i.low = i.name.toLowerCase();
      i.text = `${i.low} ${i.mnemonic.toLowerCase()} ${i.features.join(" ").toLowerCase()} ${i.operation.text}`;
    }
    prepare.done = true;
  };

  // How well a word fits: 0 is not at all.
  const fit = (word, name, mnemonic, operation, text) => {
    if (name === word || mnemonic === word) return 100;
    if (operation === word) return 60;
    if (name.startsWith(word)) return 50;
    const at = name.indexOf(word);
    if (at >= 0) {
      const begins = name[at - 1] === "_";
      const ends = at + word.length === name.length || name[at + word.length] === "_";
      return begins && ends ? 40 : begins ? 32 : 20;
    }
    if (mnemonic.startsWith(word)) return 30;
    if (operation.includes(word)) return 12;
    return text.includes(word) ? 5 : 0;
  };

  const score = (words, name, mnemonic, operation, text) => {
    let sum = 0;
    for (const word of words) {
      const one = fit(word, name, mnemonic, operation, text);
      if (one === 0) return 0;
      sum += one;
    }
    return sum;
  };

  const sorted = (found) => {
    found.sort((a, b) => b[0] - a[0] || a[1].low.length - b[1].low.length || (a[1].low < b[1].low ? -1 : 1));
    return found.map((f) => f[1]);
  };

  guide.find = (asked) => {
    if (!prepare.done) prepare();
    const words = asked.q.toLowerCase().split(/\s+/).filter(Boolean);
    const passes = (x) => (!asked.kind || x.kind === asked.kind);
    const instructions = [];
    const kept = new Set();
    for (const i of guide.data.instructions) {
      if (asked.isa && i.isa !== asked.isa) continue;
      if (asked.feature && !i.features.includes(asked.feature)) continue;
      if (asked.element && !i.elements.includes(asked.element)) continue;
      if (!passes(i)) continue;
      kept.add(i.operation);
      if (!words.length) {
        instructions.push(i);
        continue;
      }
      const fits = score(words, i.low, i.mnemonic.toLowerCase(), i.operation.low, i.text);
      if (fits) instructions.push([fits, i]);
    }
    const operations = [];
    for (const o of kept) {
      if (!words.length) {
        operations.push(o);
        continue;
      }
      const fits = score(words, o.low, "", o.low, o.text);
      if (fits) operations.push([fits, o]);
    }
    return words.length
      ? { operations: sorted(operations), instructions: sorted(instructions) }
      : { operations, instructions };
  };
})();
