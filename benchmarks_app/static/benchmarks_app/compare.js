/* Result lists side by side: j and k follow the links to the next and the previous query. */
(() => {
  "use strict";
  const links = document.querySelectorAll("a[data-key]");
  for (const hint of document.querySelectorAll("[data-keys]")) hint.hidden = !links.length;

  document.addEventListener("keydown", (event) => {
    if (!window.benchwright.isForPage(event)) return;
    const link = [...links].find((one) => one.dataset.key === event.key);
    if (!link) return;
    event.preventDefault();
    link.click();
  });
})();
