/* The keys of the review: each presses the button or link, ticks the box or enters the field that bears it. Everything works without them. */
(() => {
  "use strict";
  document.addEventListener("keydown", (event) => {
    if (event.repeat || !window.benchwright.isForPage(event)) return;
    const target = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!target) return;
    event.preventDefault();
    if (target.matches("input:not([type=checkbox])")) target.focus();
    else target.click();
  });

  let isSent = false;
  document.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  window.addEventListener("pageshow", () => { isSent = false; });
})();
