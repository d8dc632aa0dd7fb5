/* Going somewhere: Ctrl K finds, ? explains, g and a letter opens a place. Without it both are pages. */
(() => {
  "use strict";
  const SINGLE_KEYS = "benchwright-single-keys";
  const takesSingleKeys = () => {
    try {
      return localStorage.getItem(SINGLE_KEYS) !== "off";
    } catch {
      return true;
    }
  };
  const openPalette = () => {
    const palette = document.getElementById("palette");
    if (!palette || !window.htmx) return false;
    if (!palette.open) palette.showModal();
    const words = palette.querySelector("input");
    words.select();
    window.htmx.trigger(words, "palette");
    return true;
  };
  const movePalette = (event) => {
    const palette = event.target.closest?.("#palette");
    if (!palette || event.isComposing || !["ArrowDown", "ArrowUp", "Enter"].includes(event.key)) return;
    const hits = [...palette.querySelectorAll(".hits a")];
    const at = hits.indexOf(document.activeElement);
    if (event.key === "Enter") {
      // The hits may still be those of fewer letters: then the form's own page is opened.
      if (at < 0 && hits.length && !palette.querySelector(".htmx-request")) {
        event.preventDefault();
        const { ctrlKey, metaKey } = event; // of which the browser makes a new tab
        hits[0].dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey }));
      }
      return;
    }
    event.preventDefault();
    const next = at + (event.key === "ArrowDown" ? (at < 0 && hits.length > 1 ? 2 : 1) : -1);
    (next < 0 ? palette.querySelector("input") : hits[Math.min(next, hits.length - 1)])?.focus();
  };
  const openHelp = () => {
    const helper = document.getElementById("helper");
    const link = document.querySelector("[data-help]");
    if (!helper || !link || !window.htmx) return false;
    if (helper.open) return closeHelp();
    helper.querySelector("[data-single-keys]").checked = takesSingleKeys();
    helper.show();
    const chapter = helper.querySelector("#helper-chapter");
    if (!chapter.hasChildNodes()) window.htmx.ajax("GET", link.href, { target: chapter, swap: "innerHTML" });
    helper.querySelector("[data-help-close]").focus();
    return true;
  };
  const closeHelp = () => {
    document.getElementById("helper").close();
    document.querySelector("[data-help]").focus();
    return true;
  };
  let afterG = -Infinity; // Times count from the page's own beginning.
  const goByKey = (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      if (openPalette()) event.preventDefault();
      return;
    }
    const types = event.target.closest?.("input, select, textarea, dialog[open], [contenteditable]");
    if (event.ctrlKey || event.metaKey || event.altKey || !window.htmx || !takesSingleKeys()) return;
    if (types && !(types.id === "helper" && event.key === "?")) return;
    if (event.key === "?" && openHelp()) event.preventDefault();
    else if (event.key === "g") afterG = event.timeStamp;
    else if (event.timeStamp - afterG < 1500) {
      afterG = -Infinity;
      const link = document.querySelector(`#sidebar [data-letter="${CSS.escape(event.key)}"]`);
      if (!link) return;
      event.preventDefault(); // Else a key of the page would be pressed as well.
      link.click();
    }
  };

  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest?.(selector);
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (on("[data-palette]") && isPlain && openPalette()) event.preventDefault();
    if (on("[data-help]") && isPlain && openHelp()) event.preventDefault();
    if (on("[data-help-close]")) closeHelp();
    if (event.target.id === "palette") event.target.close(); // What is beside it.
  });
  document.addEventListener("keydown", goByKey);
  document.addEventListener("keydown", movePalette);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    if (event.target.closest?.("#helper[open]")) closeHelp();
    event.target.closest?.("#palette[open]")?.close(); // A field for searching would only be emptied.
  });
  document.addEventListener("change", (event) => {
    if (!event.target.matches?.("[data-single-keys]")) return;
    try {
      localStorage.setItem(SINGLE_KEYS, event.target.checked ? "on" : "off");
    } catch { /* Kept for this page only. */ }
  });
})();
