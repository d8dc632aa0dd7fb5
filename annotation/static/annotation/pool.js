/* Building a pool: a slider for the depth, all or none of the runs, a name that follows. The page works without. */
(() => {
  "use strict";
  const form = document.getElementById("pool-form");
  if (!form) return;
  const { depth, name, suggested } = form.elements;
  const range = form.querySelector("[data-depth-range]");
  const changed = (element) => element.dispatchEvent(new Event("change", { bubbles: true }));

  range.hidden = false;
  range.addEventListener("input", () => { depth.value = range.value; });
  depth.addEventListener("input", () => { range.value = depth.value; });

  const picks = form.querySelector("[data-pick-all]");
  if (picks) picks.hidden = false;
  picks?.addEventListener("click", ({ target }) => {
    if (!target.dataset.pick) return;
    for (const box of form.querySelectorAll(".pick-list input")) box.checked = target.dataset.pick === "all";
    changed(form);
  });

  /* The proposed depth, without leaving the place on the page. */
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[name=set_depth]");
    if (!button) return;
    event.preventDefault();
    depth.value = range.value = button.value;
    changed(depth);
  });

  /* A name that nobody typed says what is ticked now. */
  document.addEventListener("htmx:oobAfterSwap", () => {
    const proposed = document.getElementById("pool-totals")?.dataset.name;
    if (!proposed || name.value !== suggested.value) return;
    name.value = suggested.value = proposed;
  });
})();
