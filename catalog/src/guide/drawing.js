// Where elements go, as a drawing.
//
// In: a flow {to, width, count, pattern, from: [[name, width, count]], elements, given}; an element
// is a constant or [[source, way, first, count], …], the way 0 moved, 1 computed with, 2 decides.
// Out: `guide.draw(flow)`, an SVG with its text beside it. Element 0 is on the left. What decides is
// drawn below the result, and so is half of the sources where they are too wide to stand beside each other.
"use strict";

(() => {
  const SPACE = "http://www.w3.org/2000/svg";
  const HEIGHT = 26;
  const GAP = 88;
  // Results of more sources are told and not drawn.
  const MOST = 8;
  const svg = (tag, attributes, text) => {
    const element = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const type = (width) => (width === 1 ? "bit" : `${width} bits`);
  const many = (n, width) => `${n} × ${type(width)}`;

  // The same as text, one line for each element.
  const spoken = (flow) => flow.elements.map((element, k) => {
    const place = flow.count === 1 ? flow.to : `${flow.to}[${k}]`;
    if (typeof element === "string") return `${place} is ${element}`;
    const name = ([source, , first, count]) => {
      const [text, , all] = flow.from[source];
      if (all === 1) return text;
      return count === 1 ? `${text}[${first}]` : `${text}[${first}…${first + count - 1}]`;
    };
    const list = (way) => element.filter((e) => e[1] === way).map(name).join(", ");
    const [moved, computed, decides] = [list(0), list(1), list(2)];
    const choice = element.filter((e) => e[1] === 0).length > 1 || element.some((e) => e[1] === 0 && e[3] > 1);
    const parts = [
      moved && (choice ? `is one of ${moved}` : `is ${moved}`),
      computed && `is computed from ${computed}`,
      decides && `as ${decides} says`,
    ];
    return `${place} ${parts.filter(Boolean).join(", ") || "is constant"}`;
  });

  // The widest drawing that needs no scrolling, and the narrowest element, in pixels.
  const WIDE = 760;
  const NARROW = 9;

  // Which sources are drawn above, and which below: those that only decide.
  const rows = (flow) => {
    const ways = flow.from.map(() => new Set());
    for (const element of flow.elements) {
      if (typeof element !== "string") element.forEach(([source, way]) => ways[source].add(way));
    }
    const all = flow.from.map((f, k) => k);
    const below = all.filter((k) => ways[k].size === 1 && ways[k].has(2));
    const above = all.filter((k) => !below.includes(k));
    const width = above.reduce((sum, k) => sum + flow.from[k][2] * NARROW, 0);
    if (above.length > 1 && !below.length && width > WIDE) below.push(...above.splice(Math.ceil(above.length / 2)));
    return { above, below };
  };

  // Boxes of one row, from `x` on; gives the place of each.
  const boxes = (parent, name, width, count, unit, x, y, hue, side, labels) => {
    const group = svg("g", { class: `row hue${hue}` });
    const title = `${name}  ${many(count, width)}`;
    const at = { above: { x, y: y - 7 }, beside: { x: x - 10, y: y + 18 }, below: { x, y: y + HEIGHT + 15 } }[side];
    group.append(svg("text", { ...at, class: `name ${side}` }, title));
    // Where the longest number does not fit, every fourth is written.
    const step = unit >= 8 * String(count - 1).length + 4 ? 1 : 4;
    for (let k = 0; k < count; k += 1) {
      group.append(svg("rect", { x: x + k * unit, y, width: unit, height: HEIGHT, "data-element": k }));
      const label = labels ? labels[k] : String(k);
      if (k % step === 0 && unit * step >= 8 * label.length + 4) {
        group.append(svg("text", { x: x + (k + 0.5) * unit, y: y + 17, class: "index" }, label));
      }
    }
    parent.append(group);
    return (first, n) => [x + first * unit, x + (first + n) * unit];
  };

  const place = (flow) => {
    const { above, below } = rows(flow);
    const counts = (list) => list.reduce((sum, k) => sum + flow.from[k][2], 0);
    const most = Math.max(counts(above), flow.count, counts(below), 1);
    const spacing = 22;
    let unit = Math.max(NARROW, Math.min(44, Math.floor(WIDE / most)));
    // A row of few boxes still has room for its name.
    const wide = (k) => Math.max(flow.from[k][2] * unit, 8 * (flow.from[k][0].length + 14));
    const length = (list) => list.reduce((sum, k) => sum + wide(k), 0) + spacing * Math.max(0, list.length - 1);
    // The name of the result stands beside it, on the left, where no edge comes.
    const beside = 8 * (flow.to.length + many(flow.count, flow.width).length + 2);
    const own = () => flow.count * unit + beside;
    while (unit > NARROW && Math.max(length(above), length(below), own()) > WIDE) unit -= 1;
    const whole = Math.max(length(above), own(), length(below)) + 4;
    return { above, below, unit, spacing, wide, length, whole, beside };
  };

  // The drawing itself.
  const picture = (flow) => {
    const { above, below, unit, spacing, wide, length, whole, beside } = place(flow);
    const middle = above.length ? 24 + HEIGHT + GAP : 24;
    const bottom = middle + (below.length ? HEIGHT + GAP * 0.7 : 0);
    const height = bottom + HEIGHT * (below.length ? 1.7 : 1) + 6;
    const root = svg("svg", { viewBox: `0 0 ${whole} ${height}`, width: whole, height, "aria-hidden": "true" });
    const edges = svg("g", { class: "edges" });
    root.append(edges);
    const places = [];
    const line = (list, y, side) => {
      let x = (whole - length(list)) / 2;
      for (const k of list) {
        const [name, width, count] = flow.from[k];
        places[k] = { at: boxes(root, name, width, count, unit, x, y, k % 6, side), y };
        x += wide(k) + spacing;
      }
    };
    line(above, 24, "above");
    line(below, bottom, "below");
    const labels = flow.elements.map((e, k) => (typeof e === "string" ? (e === "all ones" ? "1…" : e) : String(k)));
    const x = Math.max(beside, (whole - flow.count * unit) / 2);
    const result = boxes(root, flow.to, flow.width, flow.count, unit, x, middle, "result", "beside", labels);
    flow.elements.forEach((element, k) => {
      if (typeof element === "string") return;
      for (const [source, way, first, count] of element) {
        const [left, right] = places[source].at(first, count);
        const [from, to] = result(k, 1);
        const upper = places[source].y < middle;
        const y = upper ? places[source].y + HEIGHT : places[source].y;
        const end = upper ? middle : middle + HEIGHT;
        const half = (y + end) / 2;
        const single = count === 1;
        const d = single
          ? `M${(left + right) / 2},${y} C${(left + right) / 2},${half} ${(from + to) / 2},${half} ${(from + to) / 2},${end}`
          : `M${left + 1},${y} C${left + 1},${half} ${from + 2},${half} ${from + 2},${end} L${to - 2},${end} C${to - 2},${half} ${right - 1},${half} ${right - 1},${y} Z`;
        edges.append(svg("path", {
          d, "data-to": k, class: `${single ? "line" : "area"} way${way} hue${source % 6}`,
        }));
      }
    });
    const light = (event) => {
      const group = event.target.closest(".hueresult");
      const k = group ? event.target.getAttribute("data-element") : null;
      root.classList.toggle("one", k !== null);
      for (const path of edges.children) path.classList.toggle("on", path.getAttribute("data-to") === k);
    };
    root.addEventListener("pointermove", light);
    root.addEventListener("pointerleave", light);
    // Many areas lie over each other: each of them is fainter then.
    const areas = edges.querySelectorAll(".area").length;
    edges.style.setProperty("--fill", Math.max(0.02, Math.min(0.13, 1 / (areas || 1))));
    return root;
  };

  const listed = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

  // What a flow without crossings says.
  const straight = (flow) => {
    const lanes = flow.from.filter((f) => f[2] > 1).map((f) => f[0]);
    const whole = flow.from.filter((f) => f[2] === 1).map((f) => f[0]);
    if (flow.count === 1 || !lanes.length) {
      return flow.from.length ? `${flow.to} depends on ${listed(flow.from.map((f) => f[0]))}.` : `${flow.to} depends on no operand.`;
    }
    const rest = whole.length ? `, and on ${listed(whole)}` : "";
    return `Each of the ${many(flow.count, flow.width)} of ${flow.to} depends only on the element at the same place of ${listed(lanes)}${rest}.`;
  };

  const one = (flow) => {
    if (flow.pattern === "lanewise") return guide.make("p", {}, straight(flow));
    const text = spoken(flow);
    const list = guide.make("ul", { class: "plain code" }, text.map((t) => guide.make("li", {}, t)));
    if (flow.from.length > MOST) return guide.make("figure", {}, list);
    const scroll = guide.make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Drawing: ${flow.to} from ${listed(flow.from.map((f) => f[0]))}; the text below says the same` });
    const folded = guide.folded(flow);
    scroll.append(folded ? folded.picture : picture(flow));
    const key = folded ? folded.key : rows(flow).below.length
      ? "Solid: moved or computed with. Dashed: decides. Element 0 is on the left; point at an element of the result to see its own."
      : "Element 0 is on the left; point at an element of the result to see its own.";
    return guide.make("figure", {},
      scroll,
      guide.make("figcaption", {}, key),
      guide.make("details", {}, guide.make("summary", {}, "As text"),
        list));
  };

  guide.draw = (flows) => {
    const box = guide.make("div", {});
    const given = flows.filter((f) => f.given.length);
    flows.filter((f) => !f.given.length).forEach((f) => box.append(one(f)));
    if (given.length) {
      const shown = guide.make("div", {});
      const values = (f) => f.given.map(([name, value]) => `${name} = ${value}`).join(", ");
      const select = guide.make("select", {}, given.map((f, k) => guide.make("option", { value: k }, values(f))));
      const show = () => shown.replaceChildren(one(given[Number(select.value)]));
      select.addEventListener("change", show);
      box.append(guide.make("label", { class: "given" }, "For ", select), shown);
      show();
    }
    return box;
  };
})();
