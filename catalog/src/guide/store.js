// What is known, and how more of it is read.
//
// In: the calls of the data files. Out: `guide.data`, the index with one object for each operation
// and instruction, and `guide.load(operation)`, a promise of the page that the operation is on.
// A data file is a script that calls `guide.index` or `guide.page`: a page that was opened from a
// disk may read nothing else.
"use strict";

const guide = { data: null };

(() => {
  const pages = new Map();

  // {about, isas, kinds, features, elements, mnemonics, facts, senses: [[fact, …]],
  // operations: [{n: name, k: kind, p: page, f: formula, m: members}],
  // instructions: [[name, operation, ISA, features, elements, mnemonic, sense]]}
  guide.index = (raw) => {
    const operations = raw.operations.map((o, id) => ({
      id, name: o.n, kind: raw.kinds[o.k], page: o.p, formula: o.f, members: o.m,
      list: [], isas: new Set(), features: new Set(), elements: new Set(),
    }));
    const instructions = raw.instructions.map(([name, op, isa, features, elements, mnemonic, sense], id) => {
      const operation = operations[op];
      const one = {
        id, name, operation, isa: raw.isas[isa], kind: operation.kind, sense,
        features: raw.features[features] ? raw.features[features].split(" ") : [],
        elements: elements.map((e) => raw.elements[e]), mnemonic: raw.mnemonics[mnemonic],
      };
      operation.list.push(one);
      operation.isas.add(one.isa);
      one.features.forEach((f) => operation.features.add(f));
      one.elements.forEach((e) => operation.elements.add(e));
      return one;
    });
    guide.data = {
      senses: raw.senses.map((list) => new Set(list.map((k) => raw.facts[k]))),
      about: raw.about, isas: raw.isas, kinds: raw.kinds.slice().sort(), operations, instructions,
      features: [...new Set(instructions.flatMap((i) => i.features))].sort(),
      elements: raw.elements.slice().sort((a, b) => a.localeCompare(b, "en", { numeric: true })),
      byKey: new Map(),
      byOperation: new Map(operations.map((o) => [o.name, o])),
    };
    const named = new Map();
    for (const i of instructions) named.set(i.name, (named.get(i.name) || 0) + 1);
    // What an instruction is called in addresses: several sets may have one of its name.
    guide.key = (isa, name) => (named.get(name) > 1 ? `${isa}:${name}` : name);
    // An address with the instruction set is always right, one without where that is enough.
    for (const i of instructions) for (const key of [guide.key(i.isa, i.name), `${i.isa}:${i.name}`]) guide.data.byKey.set(key, i);
    guide.start();
  };

  // What was packed as JSON, DEFLATE and base64: a promise of it.
  guide.unpack = async (text) => {
    if (!window.DecompressionStream) throw new Error("This browser is too old for this guide: it has no DecompressionStream");
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Response(json).json();
  };

  // {operations: {id: {parameters, arguments, formula, members}}, texts, flows, slots}
  const unpackPage = async (text) => {
    const page = await guide.unpack(text);
    for (const operation of Object.values(page.operations)) {
      for (const m of operation.members) for (const what of ["operands", "results"]) m[what] = page.slots[m[what]];
    }
    return page;
  };
  guide.page = (number, text) => pages.get(number).done(unpackPage(text));

  // The page of an operation.
  guide.load = (operation) => {
    const number = operation.page;
    if (!pages.has(number)) {
      const entry = {};
      entry.promise = new Promise((done, failed) => {
        entry.done = done;
        const script = document.createElement("script");
        script.src = `data/${number}.js`;
        script.onerror = () => {
          pages.delete(number);
          failed(new Error(`${script.src} cannot be read`));
        };
        document.head.append(script);
      });
      pages.set(number, entry);
    }
    return pages.get(number).promise;
  };

  // A data file that is read once, when it is wanted first: a promise of what `done` gives then.
  guide.script = (path, done) => {
    let loading = null;
    return () => {
      loading = loading || new Promise((found, failed) => {
        const script = document.createElement("script");
        script.src = path;
        script.onload = () => found(done());
        script.onerror = () => {
          loading = null;
          failed(new Error(`${path} cannot be read`));
        };
        document.head.append(script);
      });
      return loading;
    };
  };

  // An element of the page; children are elements, texts or nothing.
  guide.make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined && value !== false) {
        element.setAttribute(name, value === true ? "" : value);
      }
    }
    element.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
    return element;
  };
})();
