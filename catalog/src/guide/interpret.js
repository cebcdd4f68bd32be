// What an instruction computes on given values, by the interpreter.
//
// In: an instruction of the index and values by operand, a BigInt of bits each, and of `mem` pieces
// [address, bytes]. Out: `guide.interpret(entry, m, values)`, a promise of a list with {name, width, bits}
// or {name, memory: [[address, bytes]]} for each result, with the bits that the vendor leaves undefined;
// `guide.meaning(entry, m)`, a promise of its terms and of what they read that is no operand, null where
// there is a function without values. The interpreter is this
// project's own, compiled to WebAssembly: nothing is computed here.
"use strict";

(() => {
  let module = null;
  let instance = null;
  guide.interpreter = (text) => {
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k += 1) bytes[k] = raw.charCodeAt(k);
    module = bytes;
  };
  const read = guide.script("data/interpreter.js", () => module);

  // Pages of meanings: {texts, numbers, operations: {id: [[[[text, numbers, undefined], …], {name: bits}], …]}};
  // of a memory the bits are 0.
  const pages = new Map();
  const loading = new Map();
  guide.meanings = (number, text) => pages.set(number, guide.unpack(text));
  const page = (number) => {
    if (!loading.has(number)) loading.set(number, guide.script(`data/meanings/${number}.js`, () => pages.get(number)));
    return loading.get(number)();
  };

  guide.meaning = async (entry, m) => {
    const found = await page(entry.operation.page);
    const { members } = (await guide.load(entry.operation)).operations[entry.operation.id];
    const one = found.operations[entry.operation.id][members.indexOf(m)];
    if (!one) return null;
    const [lines, state] = one;
    const terms = lines.map(([text, numbers, undefined_], k) => {
      const list = found.numbers[numbers] ? found.numbers[numbers].split(" ") : [];
      let at = 0;
      const whole = list.length ? found.texts[text].replace(/#/g, () => list[at++]) : found.texts[text];
      return { name: m.results[k].name, term: whole, undefined: undefined_ };
    });
    return { terms, state: Object.entries(state) };
  };

  const start = async () => {
    const bytes = await read();
    if (!bytes || !bytes.length) throw new Error("This guide was made without the interpreter");
    instance = instance || (await WebAssembly.instantiate(bytes)).instance.exports;
    return instance;
  };

  const ask = async (question) => {
    const wasm = await start();
    const bytes = new TextEncoder().encode(question);
    try {
      const at = wasm.reserve(bytes.length);
      new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
      const length = wasm.answer();
      return new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, wasm.address(), length));
    } catch (error) {
      // What stopped in the middle is not gone on with.
      instance = null;
      throw new Error(`The interpreter stopped: ${error.message}`);
    }
  };

  const digits = (bits, width) => bits.toString(16).padStart(Math.ceil(width / 8) * 2, "0");
  const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

  const answered = (line, { name, undefined: undefined_ }) => {
    const [kind, ...rest] = line.split(" ");
    if (kind === "bits") return { name, width: Number(rest[0]), bits: BigInt(`0x${rest[1]}`), undefined: undefined_ };
    if (kind === "memory") {
      const pieces = rest.map((piece) => piece.split(":"));
      return { name, memory: pieces.map(([at, text]) => [BigInt(`0x${at}`), text.match(/../g).map((b) => parseInt(b, 16))]) };
    }
    throw new Error(rest.join(" "));
  };

  guide.interpret = async (entry, m, values) => {
    const meaning = await guide.meaning(entry, m);
    if (!meaning) return null;
    const { terms, state } = meaning;
    const inputs = [...m.operands.map((o) => [o.name, o.bits]), ...state.filter(([, bits]) => bits)]
      .map(([name, bits]) => `bits ${name} ${bits} ${digits(values[name] ?? 0n, bits)}`);
    const memory = (values.mem || []).map(([at, bytes]) => `${at.toString(16)}:${hex(bytes)}`);
    const memories = state.filter(([, bits]) => !bits).map(([name]) => `memory ${name} ${memory.join(" ")}`);
    const question = [...inputs, ...memories, ...terms.map((t) => `term ${t.name} ${t.term}`)].join("\n");
    const lines = (await ask(question)).trimEnd().split("\n");
    return lines.map((line, k) => answered(line, terms[k]));
  };
})();
