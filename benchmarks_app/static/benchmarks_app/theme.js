/* Before the first paint: the theme that somebody chose, and that there is a script. */
(() => {
  "use strict";
  const root = document.documentElement;
  const theme = (() => {
    try {
      return localStorage.getItem("benchwright-theme");
    } catch {
      return null; // Storage may be blocked: the system's choice still holds.
    }
  })();
  root.dataset.theme = ["light", "dark"].includes(theme) ? theme : "auto";
  root.classList.add("js");
})();
