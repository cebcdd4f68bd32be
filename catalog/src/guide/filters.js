// Filters of which several values may be chosen.
//
// In: the names of filters, their values, what is to be done when one changes. Out:
// `guide.filter(id, label, values, changed)` fills the element of that name with boxes to tick
// behind a summary that says which are; `guide.chosen(id)` is the list of them, and
// `guide.choose(id, list)` ticks these and no others.
"use strict";

(() => {
  const boxes = new Map();

  const told = (id) => {
    const { summary, label } = boxes.get(id);
    const list = guide.chosen(id);
    const what = list.length === 0 ? "any" : list.length <= 2 ? list.join(", ") : `${list.length} of them`;
    summary.replaceChildren(guide.make("span", { class: "what" }, label), " ", guide.make("span", { class: "which" }, what));
  };

  guide.filter = (id, label, values, changed) => {
    const make = guide.make;
    const inputs = values.map((value) => make("input", { type: "checkbox", value, id: `${id}-${value}` }));
    const summary = make("summary", {});
    const list = make("div", { class: "boxes", role: "group", "aria-label": label }, inputs.map((input) => make("label", {}, input, ` ${input.value}`)));
    const at = document.getElementById(id);
    at.replaceChildren(summary, list);
    boxes.set(id, { inputs, summary, label });
    list.addEventListener("change", () => {
      told(id);
      changed();
    });
    // One list is open at a time, and Escape closes it.
    at.addEventListener("toggle", () => {
      if (at.open) for (const other of boxes.keys()) if (other !== id) document.getElementById(other).open = false;
    });
    at.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !at.open) return;
      at.open = false;
      summary.focus();
      event.stopPropagation();
    });
    told(id);
  };

  guide.chosen = (id) => boxes.get(id).inputs.filter((input) => input.checked).map((input) => input.value);

  guide.choose = (id, list) => {
    for (const input of boxes.get(id).inputs) input.checked = list.includes(input.value);
    told(id);
  };
})();
