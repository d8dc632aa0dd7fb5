/* Light or dark, as the site's own cookie has it. Before the first paint: a page does not flash. */
(() => {
  "use strict";
  const THEMES = ["auto", "light", "dark"];
  const root = document.documentElement;
  // Of a site below a path of its host cookies are called after that path.
  const [sitePath] = new URL(document.currentScript.src).pathname.match(/^.*(?=\/docs\/_static\/)/) ?? [""];
  const name = `theme${sitePath.replaceAll("/", ".")}`;
  const kept = THEMES.find((theme) => document.cookie.split("; ").includes(`${name}=${theme}`)) ?? "auto";
  root.dataset.theme = kept;
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-toggle]");
    const show = () => button.setAttribute("aria-label", `Theme: ${root.dataset.theme}. Change`);
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      root.dataset.theme = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
      document.cookie = `${name}=${root.dataset.theme}; path=${sitePath || "/"}; max-age=31536000; samesite=lax`;
      show();
    });
  });
})();
