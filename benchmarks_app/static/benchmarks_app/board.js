/* Boards: what is ticked is named in a tray, and the search leaves rows out while one types.
   Everything is a form without it. Bound to the document: htmx replaces what is inside. */
(() => {
  "use strict";
  const { word, several } = window.benchwright;
  const part = (selector) => document.querySelector(selector);
  let isSwapped = false;

  /* ---- The tray ---- */
  const nameOf = (box) => box.closest("tr").querySelector("th a").textContent;
  const chip = (letter, name, isReference) => {
    const element = document.createElement("span");
    element.className = isReference ? "chip is-reference" : "chip";
    const [badge, text] = [document.createElement("b"), document.createElement("span")];
    badge.textContent = letter;
    text.textContent = name;
    element.title = name;
    element.append(...(letter ? [badge, text] : [text]));
    return element;
  };
  const setReference = (form, value) => {
    let field = form.querySelector("input[name=baseline]");
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden";
      field.name = "baseline";
      form.append(field);
    }
    field.value = value;
    field.disabled = !value;
  };
  const showTray = () => {
    const form = part("#compare");
    if (!form) return;
    const boxes = [...document.querySelectorAll(".board2 input[name=run]:checked")];
    const go = form.querySelector("[data-tray-go]");
    const isPair = boxes.length === 2;
    form.querySelector("[data-tray-swap]").hidden = !isPair;
    go.disabled = boxes.length < 2;
    go.textContent = boxes.length < 2 ? word("Compare") : several("Compare {n} run", "Compare {n} runs", boxes.length);
    setReference(form, "");
    const words = form.querySelector("[data-tray-runs]");
    if (isPair) {
      // The one that stands lower is what the other is compared with.
      const [run, reference] = isSwapped ? [boxes[1], boxes[0]] : boxes;
      setReference(form, reference.value);
      words.replaceChildren(chip("B", nameOf(run), false), word("against"), chip("A", nameOf(reference), true));
    } else if (boxes.length) {
      const rest = boxes.length === 1 ? [word("Tick another run to compare it with.")] : [];
      words.replaceChildren(...boxes.slice(0, 6).map((box) => chip("", nameOf(box), false)), ...rest);
      if (boxes.length > 6) words.append(word("and {n} more", { n: boxes.length - 6 }));
    } else {
      words.textContent = word("Tick two runs or more to compare them.");
    }
  };

  /* ---- Search: at once where every run is on the page, else the server's ---- */
  let waiting = 0;
  const search = (field) => {
    const table = part(".board2[data-has-all]");
    if (!table) {
      clearTimeout(waiting);
      if (window.htmx) waiting = setTimeout(() => field.form.requestSubmit(), 400);
      return;
    }
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) {
      const text = row.querySelector("th").title.toLowerCase();
      row.hidden = !words.every((part) => text.includes(part));
    }
    const note = part("[data-found]");
    note.hidden = !words.length;
    note.textContent = word("{n} of {total} runs", { n: rows.filter((row) => !row.hidden).length, total: rows.length });
  };

  /* ---- Wiring ---- */
  document.addEventListener("change", ({ target }) => {
    if (target.matches(".board2 input[name=run]")) {
      isSwapped = false;
      showTray();
    }
    if (target.matches("[data-board-filters] [data-now]")) target.form.requestSubmit();
  });
  document.addEventListener("input", ({ target }) => {
    if (target.matches("[data-board-filters] [name=q]")) search(target);
  });
  document.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-tray-swap]")) return;
    isSwapped = !isSwapped;
    showTray();
  });
  // A form empties its boxes after the event.
  document.addEventListener("reset", ({ target }) => target.id === "compare" && setTimeout(showTray));
  document.addEventListener("htmx:load", showTray);
  document.addEventListener("DOMContentLoaded", showTray);
  showTray();
})();
