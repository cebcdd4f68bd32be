"use strict";
// Lines of the window that is pointed at are marked everywhere in its kernel; a click brings them into view.
for (const kernel of document.querySelectorAll(".kernel")) {
  const all = [...kernel.querySelectorAll("[data-of]")];
  const mark = (of) => all.forEach((e) => e.classList.toggle("on", e.dataset.of === of));
  const at = (event) => event.target.closest("[data-of]");
  kernel.addEventListener("pointerover", (event) => { const e = at(event); if (e) mark(e.dataset.of); });
  kernel.addEventListener("click", (event) => {
    const e = at(event);
    if (!e) return;
    mark(e.dataset.of);
    for (const pre of kernel.querySelectorAll(".column pre")) {
      const first = pre.querySelector(`[data-of="${e.dataset.of}"]`);
      if (first && !pre.contains(e)) pre.scrollTop = first.offsetTop - pre.offsetTop - pre.clientHeight / 3;
    }
  });
}
