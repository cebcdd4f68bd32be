// What instructions cost.
//
// In: `data/costs.js`, which is read when costs are asked for first. Out: `guide.prices()`, a promise
// after which `guide.cost(instruction)` is the list of `{cpu, source, latency, throughput, resource,
// stands}` of an entry of the index; `guide.processors`, names by instruction set, for the list that
// is sorted; `guide.price(instruction, cpu)`, the figure there; and `guide.costs…`, tables.
"use strict";

(() => {
  let known = null;

  // {models: [[cpu, ISA, source]], lists: [[[model, latency, throughput, resource, stands], …], …],
  // of: [list, …]}
  guide.costs = (raw) => {
    const models = raw.models.map(([cpu, isa, source]) => ({ cpu, isa, source }));
    const lists = raw.lists.map((list) => list.map(([model, latency, throughput, resource, stands]) => ({
      ...models[model], model, latency, throughput, resource, stands,
    })));
    known = { models, lists, of: raw.of };
  };

  guide.prices = guide.script("data/costs.js", () => known);

  guide.cost = (i) => known.lists[known.of[i.id]];

  // What a processor is called where it is chosen: LLVM's of a name is another than ours.
  const called = (m) => `${m.isa}: ${m.cpu}${m.source ? ` (${m.source})` : ""}`;
  guide.processors = () => known.models.map(called);

  guide.price = (i, processor) => guide.cost(i).find((c) => called(c) === processor) || null;

  const COLUMNS = [
    ["Processor", (c) => c.cpu], ["Latency", (c) => c.latency], ["Between two starts", (c) => c.throughput],
    ["Competes for", (c) => c.resource || ""], ["Told by", (c) => c.source || "our table"],
  ];

  // The figures of an instruction; a click on a head sorts by it, once more the other way.
  guide.costTable = (list) => {
    const make = guide.make;
    const most = Math.max(...list.map((c) => Math.max(c.latency, c.throughput)), 1);
    const bar = (n) => make("span", { class: "bar" }, make("span", { style: `width:${Math.max(2, (n / most) * 100)}%` }), make("b", {}, String(n)));
    const cells = (c) => [c.stands ? `${c.cpu}, as ${c.stands}` : c.cpu, bar(c.latency), bar(c.throughput), c.resource || "", c.source || "our table"];
    const body = make("tbody", {});
    let [by, up] = [-1, true];
    const show = () => {
      const sorted = list.slice();
      if (by >= 0) {
        const of = COLUMNS[by][1];
        sorted.sort((a, b) => (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0) * (up ? 1 : -1));
      }
      body.replaceChildren(...sorted.map((c) => make("tr", {}, cells(c).map((x, k) => (k ? make("td", {}, x) : make("th", { scope: "row" }, x))))));
    };
    const heads = COLUMNS.map(([name], k) => {
      const button = make("button", { type: "button" }, name);
      const head = make("th", { scope: "col" }, button);
      button.addEventListener("click", () => {
        up = by === k ? !up : true;
        by = k;
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        show();
      });
      return head;
    });
    show();
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Cost in cycles" },
      make("table", { class: "cost" }, make("caption", { class: "hidden" }, "Cost in cycles"), make("thead", {}, make("tr", {}, heads)), body));
  };
})();
