/* Searching the corpus beside a query: j and k move, a digit grades, o opens. Works without it, too. */
(() => {
  "use strict";
  const hits = () => [...document.querySelectorAll(".hit")];
  document.addEventListener("DOMContentLoaded", () => {
    // After a grade one is back at its document: the keys go on from there.
    document.querySelector(".hit:target")?.focus({ preventScroll: true });
  });
  document.addEventListener("keydown", (event) => {
    if (!window.benchwright.isForPage(event)) return;
    const all = hits();
    const at = all.findIndex((hit) => hit.contains(document.activeElement));
    if (event.key === "j" || event.key === "k") {
      const next = at < 0 ? 0 : at + (event.key === "j" ? 1 : -1);
      all[Math.max(0, Math.min(next, all.length - 1))]?.focus();
      return;
    }
    if (at < 0) return;
    if (event.key === "o") all[at].querySelector("a").click();
    else all[at].querySelector(`.rate button[value="${CSS.escape(event.key)}"]`)?.click();
  });
})();
