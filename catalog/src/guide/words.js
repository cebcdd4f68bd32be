// What words ask for.
//
// In: what was typed, and the thesaurus. Out: `guide.understand(text)`, a list of demands: each has
// the words, alternatives (lists of facts of which all must be there), and names to look for.
// Endings are taken off, the longest phrase wins, and a word that nobody knows is taken for the
// nearest known one.
"use strict";

(() => {
  let phrases = null;
  let known = null;
  let ignored = new Set();
  let longest = 1;

  // A word without its ending.
  const stem = (word) => {
    if (word.length < 4 || /[0-9_]/.test(word)) return word;
    const short = word.replace(/(ications?|ations?|ions?|ings?|ers?|ed|es|s)$/, "");
    const base = short.length >= 3 ? short : word;
    return base.length > 3 ? base.replace(/(e|y)$/, "") : base;
  };

  const split = (text) => text.toLowerCase().replace(/([0-9])[- ]?bits?\b/g, "$1 bit").replace(/[^a-z0-9_.=]+/g, " ").split(" ").filter(Boolean);

  guide.thesaurus = (raw) => {
    phrases = new Map();
    const put = (says, what) => {
      const words = split(says).map(stem);
      longest = Math.max(longest, words.length);
      if (!phrases.has(words.join(" "))) phrases.set(words.join(" "), what);
    };
    for (const [says, facts, names] of raw.meanings) {
      const ways = facts ? facts.split("|").map((way) => way.split(" ")) : [];
      for (const phrase of says.split("|")) put(phrase, { ways, names: names ? names.split(" ") : [] });
    }
    for (const [says, kind, bits] of raw.types) {
      for (const phrase of says.split("|")) put(phrase, { type: { kind, bits } });
    }
    ignored = new Set(raw.ignored.split("|"));
    known = [...new Set([...phrases.keys()].flatMap((p) => p.split(" ")))];
  };

  // How many letters are wrong, or exchanged with a neighbour; more than `most` is not counted.
  const distance = (a, b, most) => {
    if (Math.abs(a.length - b.length) > most) return most + 1;
    let [before, last, row] = [[], [], Array.from({ length: b.length + 1 }, (_, j) => j)];
    for (let i = 1; i <= a.length; i += 1) {
      [before, last, row] = [last, row, [i]];
      let least = i;
      for (let j = 1; j <= b.length; j += 1) {
        const wrong = a[i - 1] === b[j - 1] ? 0 : 1;
        let d = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + wrong);
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) d = Math.min(d, before[j - 2] + 1);
        row.push(d);
        least = Math.min(least, d);
      }
      if (least > most) return most + 1;
    }
    return row[b.length];
  };

  // The nearest known word, or nothing.
  guide.nearest = (word, list) => {
    if (word.length < 4 || /[0-9]/.test(word)) return null;
    const most = word.length < 7 ? 1 : 2;
    let best = null;
    for (const other of list) {
      if (other.length < 3 || Math.abs(other.length - word.length) > most) continue;
      const d = distance(word, other, most);
      const first = other[0] === word[0] ? 0 : 0.5;
      if (d <= most && (!best || d + first < best.d)) best = { word: other, d: d + first };
    }
    return best && best.word;
  };

  const FLOATS = { 0: [["float", "f32"]], 16: [["f16"]], 32: [["f32"]], 64: [["f64"]] };
  const widths = (bits) => (bits ? [`${bits}-bit`] : []);

  // The facts of a type of elements.
  const typed = ({ kind, bits }) => {
    if (kind === "float") return FLOATS[bits];
    if (kind === "bfloat") return [["bf16"]];
    if (kind === "uint") return [[...widths(bits), "unsigned"]];
    return [[...widths(bits), ...(bits ? [] : ["integer"])]];
  };

  // From one type to another.
  const between = (from, to) => {
    const real = (t) => t.kind === "float" || t.kind === "bfloat";
    // In C, a float and an int that are not told otherwise have 32 bits.
    const own = (t) => (real(t) ? typed(t.bits || t.kind === "bfloat" ? t : { ...t, bits: 32 })[0] : widths(t.bits || 32));
    const both = [...own(from), ...own(to)];
    if (real(from) && real(to)) return [["float-to-float", ...both]];
    if (real(from)) return [["float-to-int", ...both]];
    if (real(to)) return [["int-to-float", ...both]];
    if (from.bits < to.bits) return (from.kind === "uint" ? ["zero-extend"] : ["sign-extend", "zero-extend"]).map((f) => [f, ...both]);
    return [["narrow", ...both]];
  };

  // What is made of two operations, and is told by facts of its own.
  const MADE = [
    [["sub", "abs"], ["absolute-difference"]],
    [["and", "not"], ["and-not"]],
    [["add", "sub"], ["alternate"]],
  ];

  // The same with what it is when something else is computed on the way.
  const COMPUTED = /\b(add|sub|mul|multiply-add|dot-product|sum|accumulate|absolute-difference|average|shift-left|shift-right)\b/;
  const conversion = ([from, to]) => {
    const ways = between(from, to);
    const whole = (t) => t.kind === "int" || t.kind === "uint";
    if (!whole(from) || !whole(to) || !from.bits || !to.bits) return { ways };
    const how = from.bits < to.bits ? "widen" : "narrow";
    return { ways, between: [[how, ...widths(from.bits), ...widths(to.bits)]] };
  };

  guide.words = split;

  guide.understand = (text) => {
    const words = split(text);
    const stems = words.map(stem);
    const demands = [];
    const vocabulary = () => known;
    const phrase = (at, list) => {
      for (let n = Math.min(longest, list.length - at); n > 0; n -= 1) {
        const what = phrases.get(list.slice(at, at + n).join(" "));
        if (what) return { n, what };
      }
      return null;
    };
    // Typing mistakes are mended before phrases are looked for.
    const mended = stems.map((s, k) => {
      if (ignored.has(words[k]) || known.includes(s) || guide.isName(words[k])) return s;
      return guide.nearest(s, vocabulary()) || s;
    });
    const filler = (k) => ignored.has(words[k]);
    for (let at = 0; at < words.length;) {
      const here = phrase(at, mended);
      if (!here) {
        // A phrase may have small words in it.
        const rest = mended.map((m, k) => [m, k]).filter(([, k]) => k >= at && !filler(k));
        const without = filler(at) ? null : phrase(0, rest.map(([m]) => m));
        if (without && without.n > 1) {
          const last = rest[without.n - 1][1];
          demands.push({ words: words.slice(at, last + 1), start: at, end: last + 1, ...without.what });
          at = last + 1;
          continue;
        }
        if (!filler(at) && !/^[0-9]{1,2}$/.test(words[at])) demands.push({ words: [words[at]], ways: [], names: [words[at]], unknown: true });
        at += 1;
        continue;
      }
      // A longer phrase without its small words is meant rather than a short one with them.
      const rest = mended.map((m, k) => [m, k]).filter(([, k]) => k >= at && !filler(k));
      const without = phrase(0, rest.map(([m]) => m));
      const longer = without && !filler(at) && without.n > here.n ? rest[without.n - 1][1] + 1 - at : here.n;
      const what = longer > here.n ? without.what : here.what;
      demands.push({ words: words.slice(at, at + longer), end: at + longer, start: at, ...what });
      at += longer;
    }
    // "32 bit integers": what one type word leaves open, the next one says.
    for (let k = 0; k + 1 < demands.length; k += 1) {
      const [a, b] = [demands[k], demands[k + 1]];
      if (a.type && b.type && a.end === b.start && !(a.type.bits && b.type.bits)) {
        const [wide, other] = a.type.bits ? [a, b] : [b, a];
        const kind = other.type.kind === "int" ? wide.type.kind : other.type.kind;
        demands.splice(k, 2, { words: [...a.words, ...b.words], start: a.start, end: b.end, type: { kind, bits: wide.type.bits } });
        k -= 1;
      }
    }
    // "float to int": two types with a small word between.
    for (let k = 0; k + 1 < demands.length; k += 1) {
      const [a, b] = [demands[k], demands[k + 1]];
      if (a.type && b.type && words.slice(a.end, b.start).some((w) => /^(to|into|as|from)$/.test(w))) {
        const back = words.slice(a.end, b.start).includes("from");
        demands.splice(k, 2, { words: [...a.words, ...b.words], ...conversion(back ? [b.type, a.type] : [a.type, b.type]), names: [] });
      }
    }
    // "Accumulate bytes into 32 bit": where something is computed, what is told is that it widens.
    const computes = (d) => !d.type && !d.unknown && !d.between && d.ways.some((w) => COMPUTED.test(w.join(" ")));
    for (const d of demands) {
      if (d.between && demands.some(computes)) d.ways = d.between;
    }
    for (const d of demands) if (d.type) Object.assign(d, { ways: typed(d.type), names: [], soft: true });
    // Whoever says from what to what need not say that it converts.
    const joins = (d) => d.words.length === 1 && /^(and|or|not)$/.test(d.words[0]);
    const general = (d) => d.words.length === 1 && /^(convert|cvt|conver|extend|promot|narrow)/.test(d.words[0]);
    const exact = demands.some((d) => !d.unknown && !general(d) && (d.ways || []).some((w) => /-to-|extend|narrow/.test(w[0])));
    // Between other words, "and" joins them.
    const outer = (d) => d.start === 0 || d.start + 1 === words.length;
    let rest = demands.some((d) => !joins(d)) ? demands.filter((d) => !joins(d) || outer(d)) : demands;
    // Two words for what together has a name of its own.
    for (const [parts, whole] of MADE) {
      const part = (fact) => rest.find((d) => d.ways && d.ways.length === 1 && d.ways[0].length === 1 && d.ways[0][0] === fact && d.words.length);
      const both = parts.map(part);
      if (!both.every(Boolean) || both[0] === both[1]) continue;
      const demand = { ...both[0], words: both.flatMap((d) => d.words), ways: whole.map((fact) => [fact]), names: [] };
      rest = rest.filter((d) => d !== both[1]).map((d) => (d === both[0] ? demand : d));
    }
    return exact ? rest.filter((d) => !general(d)) : rest;
  };
})();
