// Registers that are too wide for one line, and tiles, as blocks of elements.
//
// In: a flow as in `drawing.js`. Out: `guide.folded(flow)`: an SVG, or nothing where one line for each
// register does. A wide register is folded into lines; each element of the result says where it is from, and
// what the one that is pointed at is made of is marked. Where elements of the result depend on a row of
// one source and a column of another, these stand left of the result and above it, as on paper.
"use strict";

(() => {
  const SPACE = "http://www.w3.org/2000/svg";
  const WIDE = 760;
  // Elements that still fit into one line with all that goes to them.
  const ONE_LINE = 64;
  const GAP = 26;
  const svg = (tag, attributes, text) => {
    const element = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const many = (n, width) => `${n} × ${width === 1 ? "bit" : `${width} bits`}`;

  // What each element of the result takes from each source: lists of element numbers.
  const taken = (flow) => flow.elements.map((element) => {
    const all = flow.from.map(() => []);
    if (typeof element !== "string") {
      for (const [source, , first, count] of element) for (let k = 0; k < count; k += 1) all[source].push(first + k);
    }
    return all;
  });

  // Whether a source is taken in rows, in columns, at the same place, or always whole; with the lists.
  const role = (flow, all, source, columns) => {
    const rows = flow.count / columns;
    const lists = (n, at) => {
      const found = Array.from({ length: n }, (_, k) => all[at(k)][source]);
      const distinct = new Set(found.map(String)).size === n && found.every((l) => l.length && l.length === found[0].length);
      return distinct ? found : null;
    };
    const fits = (found, which) => found && all.every((e, k) => String(e[source]) === String(found[which(k)]));
    if (all.every((e, k) => String(e[source]) === String(k))) return { kind: "same" };
    const across = lists(rows, (r) => r * columns);
    if (fits(across, (k) => Math.floor(k / columns))) return { kind: "rows", lists: across };
    const down = lists(columns, (c) => c);
    if (fits(down, (k) => k % columns)) return { kind: "columns", lists: down };
    return all.every((e) => String(e[source]) === String(all[0][source])) ? { kind: "whole" } : null;
  };

  // The result as rows and columns, and what each source is then; nothing where it is no such product.
  const tile = (flow, all) => {
    for (let columns = 2; columns <= flow.count / 2; columns += 1) {
      if (flow.count % columns) continue;
      const roles = flow.from.map((_, source) => role(flow, all, source, columns));
      const one = (kind) => roles.filter((r) => r && r.kind === kind).length === 1;
      const deep = roles.every(Boolean) && roles.filter((r) => r.lists).every((r) => r.lists[0].length > 1);
      if (deep && one("rows") && one("columns")) return { columns, rows: flow.count / columns, roles };
    }
    return null;
  };

  // A block: `at(k)` is the column and the line of an element, `label(k)` what is written in it.
  const block = (parent, { name, x, y, unit, height, count, hue, at, label }) => {
    const group = svg("g", { class: `row hue${hue}` });
    group.append(svg("text", { x, y: y - 7, class: "name" }, name));
    const cells = [];
    for (let k = 0; k < count; k += 1) {
      const place = at(k);
      if (!place) continue;
      const [left, top] = [x + place[0] * unit, y + place[1] * height];
      const { text, hue: own } = label(k);
      cells[k] = svg("rect", { x: left, y: top, width: unit, height, "data-element": k, class: own === undefined ? "" : `hue${own}` });
      group.append(cells[k]);
      const size = text && [["small", 6.2], ["tiny", 5.2]].find(([, wide]) => wide * text.length <= unit);
      if (size) group.append(svg("text", { x: left + unit / 2, y: top + height / 2 + 4, class: `index ${size[0]}` }, text));
    }
    parent.append(group);
    return cells;
  };

  // Marks what an element of the result is made of; the one that is marked at first is in the middle.
  const marking = (root, flow, all, result, sources, begin) => {
    const show = (k) => {
      root.querySelectorAll(".mark").forEach((r) => r.classList.remove("mark"));
      result[k].classList.add("mark");
      all[k].forEach((list, source) => list.forEach((n) => sources[source] && sources[source][n] && sources[source][n].classList.add("mark")));
    };
    root.addEventListener("pointermove", (event) => {
      const k = result.indexOf(event.target);
      if (k >= 0) show(k);
    });
    show(begin);
  };

  const finish = (root, width, height) => {
    root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    root.setAttribute("width", width);
    root.setAttribute("height", height);
    return root;
  };

  // A product of tiles: rows on the left, columns above.
  const product = (flow, all, { columns, rows, roles }) => {
    const root = svg("svg", { "aria-hidden": "true", class: "blocks" });
    const [left, above] = ["rows", "columns"].map((kind) => roles.findIndex((r) => r.kind === kind));
    const [deep, tall] = [left, above].map((s) => roles[s].lists[0].length);
    const unit = Math.max(10, Math.min(34, Math.floor((WIDE - 2 * GAP) / (columns + deep))));
    const height = Math.max(12, Math.min(22, unit));
    const [x, y] = [Math.max(deep * unit, 130) + GAP, 20 + tall * height + GAP];
    const number = (k) => ({ text: String(k) });
    const sources = [];
    const named = (s) => `${flow.from[s][0]}  ${many(flow.from[s][2], flow.from[s][1])}`;
    const where = (lists, turn) => (k) => {
      const line = lists.findIndex((l) => l.includes(k));
      return line < 0 ? null : turn ? [line, lists[line].indexOf(k)] : [lists[line].indexOf(k), line];
    };
    sources[left] = block(root, { name: named(left), x: x - GAP - deep * unit, y, unit, height, count: flow.from[left][2], hue: left % 6, at: where(roles[left].lists, false), label: number });
    sources[above] = block(root, { name: named(above), x, y: 20, unit, height, count: flow.from[above][2], hue: above % 6, at: where(roles[above].lists, true), label: number });
    const result = block(root, { name: `${flow.to}  ${rows} × ${columns} of ${flow.width} bits`, x, y, unit, height, count: flow.count, hue: "result", at: (k) => [k % columns, Math.floor(k / columns)], label: number });
    marking(root, flow, all, result, sources, Math.floor(rows / 2) * columns + Math.floor(columns / 2));
    const right = Math.max(columns * unit, 7.5 * 34);
    return finish(root, x + right + 4, y + rows * height + 6);
  };

  // Registers in lines of so many elements.
  const lines = (flow, all) => {
    const root = svg("svg", { "aria-hidden": "true", class: "blocks" });
    const most = Math.max(flow.count, ...flow.from.map((f) => f[2]));
    const per = most % 32 === 0 ? 32 : Math.min(32, most);
    const unit = Math.floor(WIDE / per) - 1;
    const height = 20;
    const at = (k) => [k % per, Math.floor(k / per)];
    const tall = (count) => Math.ceil(count / per) * height;
    let y = 20;
    const sources = flow.from.map(([name, width, count], source) => {
      const cells = block(root, { name: `${name}  ${many(count, width)}`, x: 0, y, unit, height, count, hue: source % 6, at, label: (k) => ({ text: String(k) }) });
      y += tall(count) + GAP;
      return cells;
    });
    // An element that is only moved says from where; letters stand for names that are too long.
    const short = flow.from.map(([name], k) => (name.length === 1 ? name : "abcdefgh"[k]));
    const label = (k) => {
      const element = flow.elements[k];
      if (typeof element === "string") return { text: element === "all ones" ? "1…" : element };
      const moved = element.filter((e) => e[1] === 0);
      const [source, , first, count] = moved[0] || element[0] || [];
      if (source === undefined) return { text: "" };
      const only = moved.length === 1 && count === 1 && element.length === 1;
      return { text: only ? `${short[source]}${first}` : String(k), hue: moved.length ? source % 6 : undefined };
    };
    const result = block(root, { name: `${flow.to}  ${many(flow.count, flow.width)}`, x: 0, y, unit, height, count: flow.count, hue: "result", at, label });
    marking(root, flow, all, result, sources, Math.min(flow.count - 1, 5));
    return finish(root, per * unit + 2, y + tall(flow.count) + 6);
  };

  guide.folded = (flow) => {
    const all = taken(flow);
    const product_of = flow.pattern === "gathers" ? tile(flow, all) : null;
    if (product_of) return { picture: product(flow, all, product_of), key: "An element of the result is computed from its row and its column, which are marked; point at another to see its own." };
    if (Math.max(flow.count, ...flow.from.map((f) => f[2])) <= ONE_LINE) return null;
    const long = flow.from.some(([name], k) => name.length > 1 && "abcdefgh"[k]);
    const names = long ? ` (${flow.from.map(([name], k) => (name.length > 1 ? `${"abcdefgh"[k]} is ${name}` : "")).filter(Boolean).join(", ")})` : "";
    return { picture: lines(flow, all), key: `Registers go on from line to line, element 0 first. An element that is only moved says from where${names}; point at one to see what it is made of.` };
  };
})();
