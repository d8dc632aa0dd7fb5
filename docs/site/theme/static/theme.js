/* Light or dark, as the site's own cookie has it. Before the first paint: a page does not flash. */
(() => {
  "use strict";
  const THEMES = ["auto", "light", "dark"];
  const root = document.documentElement;
  const kept = /(?:^|; )theme=(light|dark)(?:;|$)/.exec(document.cookie)?.[1] ?? "auto";
  root.dataset.theme = kept;
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-toggle]");
    const show = () => button.setAttribute("aria-label", `Theme: ${root.dataset.theme}. Change`);
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      root.dataset.theme = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
      document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
      show();
    });
  });
})();
