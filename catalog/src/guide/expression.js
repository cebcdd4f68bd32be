// Expressions as they are written in C.
//
// In: a text such as `a + b > 255 ? 255 : a + b`. Out: `guide.parse(text)`, a tree, or nothing when it
// is no expression; `guide.evaluate(tree, values)`, its value with exact integers and with floats;
// `guide.written(tree)`, its text.
// Integers do not wrap before a cast or the end: the result is what is meant, not what C's promotion
// makes of it.
"use strict";

(() => {
  const TYPES = /^(u?int(8|16|32|64)(_t)?|[iu](8|16|32|64)|char|short|int|long|unsigned|signed|float|double|f32|f64)$/;
  const TOKEN = /\s*(0x[0-9a-f]+|[0-9]+\.[0-9]*f?|[0-9]+|[a-z_][a-z0-9_]*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>?:()[\],;])/giy;
  const LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]];

  const tokens = (text) => {
    const list = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.trimEnd().length) {
      const at = TOKEN.lastIndex;
      const found = TOKEN.exec(text);
      if (!found || found.index !== at) return null;
      list.push(found[1]);
    }
    return list;
  };

  class Parser {
    constructor(list) {
      this.list = list;
      this.at = 0;
    }

    get next() {
      return this.list[this.at];
    }

    take(what) {
      if (this.next !== what) return false;
      this.at += 1;
      return true;
    }

    need(what) {
      if (!this.take(what)) throw new Error(`\`${what}\` is missing`);
    }

    choice() {
      const test = this.level(0);
      if (!this.take("?")) return test;
      const yes = this.choice();
      this.need(":");
      return { op: "?", args: [test, yes, this.choice()] };
    }

    level(k) {
      if (k === LEVELS.length) return this.unary();
      let left = this.level(k + 1);
      while (LEVELS[k].includes(this.next)) {
        const op = this.list[this.at];
        this.at += 1;
        left = { op, args: [left, this.level(k + 1)] };
      }
      return left;
    }

    unary() {
      for (const op of ["-", "~", "!", "+"]) {
        if (this.take(op)) return op === "+" ? this.unary() : { op: `u${op}`, args: [this.unary()] };
      }
      if (this.next === "(" && TYPES.test(this.list[this.at + 1] || "")) {
        let end = this.at + 1;
        while (TYPES.test(this.list[end] || "")) end += 1;
        if (this.list[end] === ")") {
          const type = this.list.slice(this.at + 1, end).join(" ");
          this.at = end + 1;
          return { op: "cast", type, args: [this.unary()] };
        }
      }
      return this.primary();
    }

    primary() {
      const token = this.next;
      if (token === undefined) throw new Error("it ends too early");
      this.at += 1;
      if (token === "(") {
        const inner = this.choice();
        this.need(")");
        return inner;
      }
      if (/^[0-9]/.test(token)) return /\./.test(token) ? { op: "float", value: parseFloat(token) } : { op: "number", value: BigInt(token) };
      if (!/^[a-z_]/i.test(token)) throw new Error(`\`${token}\` is not expected`);
      if (TYPES.test(token) && this.take("(")) {
        const inner = this.choice();
        this.need(")");
        return { op: "cast", type: token, args: [inner] };
      }
      if (this.take("(")) {
        const args = [this.choice()];
        while (this.take(",")) args.push(this.choice());
        this.need(")");
        return { op: "call", name: token.toLowerCase().replace(/^(std_|_mm_|__builtin_)/, ""), args };
      }
      if (this.take("[")) {
        const index = this.list[this.at];
        this.at += 1;
        this.need("]");
        // `a[i]` is the element, `a[2]` the second neighbour of the first.
        return { op: "variable", name: token, place: /^[0-9]+$/.test(index) ? Number(index) : null };
      }
      return { op: "variable", name: token, place: null };
    }
  }

  guide.parse = (text) => {
    // `c += a` is the sum; of `c = a` only the right side is looked for.
    const whole = text.replace(/;\s*$/, "")
      .replace(/^\s*([a-z_]\w*(?:\[[^\]]*\])?)\s*([-+*/%&|^]|<<|>>)=(?!=)(.*)$/is, "$1 $2 ($3)")
      .replace(/^[^=<>!]*[^=<>!]=(?!=)/, "");
    if (!/[-+*/%&|^~<>?]|\w\s*\(|\(\s*\w+\s*\)\s*\w/.test(whole)) return null;
    const list = tokens(whole);
    if (!list || list.length < 2) return null;
    try {
      const parser = new Parser(list);
      const tree = parser.choice();
      return parser.at === list.length && variables(tree).length ? tree : null;
    } catch {
      return null;
    }
  };

  // Names with the number of neighbours of each, in order.
  const variables = (tree, found = new Map()) => {
    if (tree.op === "variable") found.set(tree.name, Math.max(found.get(tree.name) || 0, (tree.place || 0) + 1));
    (tree.args || []).forEach((a) => variables(a, found));
    return [...found];
  };
  guide.variables = (tree) => variables(tree);

  // A tree as it would be typed, with the brackets that it needs.
  guide.written = (tree) => {
    const strength = (t) => (t.op === "?" ? -1 : LEVELS.findIndex((l) => t.args && t.args.length === 2 && l.includes(t.op)));
    const level = (t) => (strength(t) < 0 && t.op !== "?" ? LEVELS.length : strength(t));
    const at = (t, least) => {
      const text = write(t);
      return level(t) < least ? `(${text})` : text;
    };
    const write = (t) => {
      if (t.op === "variable") return t.place === null ? t.name : `${t.name}[${t.place}]`;
      if (t.op === "number" || t.op === "float") return String(t.value);
      if (t.op === "call") return `${t.name}(${t.args.map(write).join(", ")})`;
      if (t.op === "cast") return `(${t.type})${at(t.args[0], LEVELS.length)}`;
      if (t.op === "?") return `${at(t.args[0], 0)} ? ${at(t.args[1], 0)} : ${at(t.args[2], -1)}`;
      if (t.args.length === 1) return `${t.op.slice(1)}${at(t.args[0], LEVELS.length)}`;
      // Between bits, shifts and sums brackets are expected where C needs none.
      const mixed = (a) => /^(<<|>>|[&|^])$/.test(t.op) && a.args && a.args.length === 2 && a.op !== t.op;
      const part = (a, least) => at(a, mixed(a) ? LEVELS.length : least);
      return `${part(t.args[0], level(t))} ${t.op} ${part(t.args[1], level(t) + 1)}`;
    };
    return write(tree);
  };

  const wrap = (value, width, signed) => (signed ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value));
  const count = (value) => [...value.toString(2)].filter((c) => c === "1").length;
  const shift = (a, b) => (b < 0n ? 0n : b > 256n ? (a < 0n ? -1n : 0n) : a >> b);

  // What functions compute; `w` is the width of the elements.
  const CALLS = {
    min: (w, a, b) => (a < b ? a : b), max: (w, a, b) => (a > b ? a : b),
    abs: (w, a) => (a < 0 ? -a : a), fabs: (w, a) => Math.abs(a),
    absdiff: (w, a, b) => (a < b ? b - a : a - b), abs_diff: (w, a, b) => (a < b ? b - a : a - b),
    clamp: (w, x, low, high) => (x < low ? low : x > high ? high : x),
    sqrt: (w, a) => Math.sqrt(Number(a)), floor: (w, a) => Math.floor(a), ceil: (w, a) => Math.ceil(a), trunc: (w, a) => Math.trunc(a),
    fma: (w, a, b, c) => a * b + c, round: (w, a) => Math.round(a),
    popcount: (w, a) => BigInt(count(wrap(a, w, false))), popcnt: (w, a) => BigInt(count(wrap(a, w, false))),
    clz: (w, a) => BigInt(w) - BigInt(wrap(a, w, false) === 0n ? 0 : wrap(a, w, false).toString(2).length),
    ctz: (w, a) => { const u = wrap(a, w, false); return u === 0n ? BigInt(w) : BigInt(u.toString(2).length - 1 - u.toString(2).lastIndexOf("1")); },
    rotl: (w, a, b) => { const n = wrap(b, 64, false) % BigInt(w); const u = wrap(a, w, false); return (u << n) | (u >> (BigInt(w) - n)); },
    rotr: (w, a, b) => { const n = wrap(b, 64, false) % BigInt(w); const u = wrap(a, w, false); return (u >> n) | (u << (BigInt(w) - n)); },
  };
  for (const [name, as] of [["fmin", "min"], ["fmax", "max"], ["sqrtf", "sqrt"], ["fminf", "min"], ["fmaxf", "max"], ["fabsf", "fabs"], ["floorf", "floor"], ["ceilf", "ceil"], ["fmaf", "fma"]]) CALLS[name] = CALLS[as];

  guide.castWidth = (type) => {
    const bits = /(8|16|32|64)/.exec(type);
    return bits ? Number(bits[1]) : /char/.test(type) ? 8 : /short/.test(type) ? 16 : /long|double/.test(type) ? 64 : 32;
  };
  const cast = (type, value) => {
    if (/float|f32/.test(type)) return Math.fround(Number(value));
    if (/double|f64/.test(type)) return Number(value);
    return wrap(typeof value === "number" ? BigInt(Math.trunc(value)) : value, guide.castWidth(type), !/^u/.test(type));
  };

  // The value: `get(name, place)` gives variables, `single` rounds floats to 32 bits. Into `seen`, a
  // map, goes for each choice which ways were taken.
  guide.evaluate = (tree, get, width, single, seen) => {
    const took = (t, way) => {
      if (seen) seen.set(t, (seen.get(t) || 0) | way);
    };
    const fit = (x) => (typeof x === "number" && single ? Math.fround(x) : x);
    const number = (x) => (typeof x === "boolean" ? BigInt(x) : x);
    const walk = (t) => {
      if (t.op === "number" || t.op === "float") return t.value;
      if (t.op === "variable") return get(t.name, t.place || 0);
      if (t.op === "?") {
        const yes = walk(t.args[0]);
        took(t, yes ? 1 : 2);
        return yes ? walk(t.args[1]) : walk(t.args[2]);
      }
      let [a, b, c] = t.args.map(walk).map(number);
      const real = [a, b, c].some((x) => typeof x === "number");
      if (t.op === "cast") return cast(t.type, a);
      if (real) [a, b, c] = [a, b, c].map((x) => (typeof x === "bigint" ? Number(x) : x));
      switch (t.op) {
        case "call": {
          const f = CALLS[t.name];
          if (!f) throw new Error(`no function \`${t.name}\` is known`);
          const value = f(width, a, b, c);
          // Of a least or greatest one, each may be it.
          if (/^(f?(min|max)f?|clamp)$/.test(t.name)) took(t, value === a ? 1 : 2);
          return fit(value);
        }
        case "u-": return -a;
        case "u~": return ~a;
        case "u!": return !a;
        case "+": return fit(a + b);
        case "-": return fit(a - b);
        case "*": return fit(a * b);
        case "/": return real ? fit(a / b) : b === 0n ? 0n : a / b;
        case "%": return b === 0n ? 0n : a % b;
        case "&": return a & b;
        case "|": return a | b;
        case "^": return a ^ b;
        case "<<": return b < 0n || b > 256n ? 0n : a << b;
        case ">>": return shift(a, b);
        case "<": return a < b;
        case ">": return a > b;
        case "<=": return a <= b;
        case ">=": return a >= b;
        case "==": return a === b;
        case "!=": return a !== b;
        case "&&": return Boolean(a) && Boolean(b);
        case "||": return Boolean(a) || Boolean(b);
        default: throw new Error(`\`${t.op}\` is not known`);
      }
    };
    return walk(tree);
  };
})();
