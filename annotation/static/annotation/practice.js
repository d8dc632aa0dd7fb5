/* Practice: the labeling page's keys, each grade a plain form that leads to its answer. Works without it, too. */
(() => {
  "use strict";
  const { word } = window.benchwright;
  const { reader, isQuiet, isWriting, actsItself } = window.benchwright.keys;
  const data = JSON.parse(document.getElementById("practice-data").textContent);
  const actionOf = reader(data.keys.bindings);
  const form = document.getElementById("grade-form");
  const guideline = document.querySelector("[data-part=guideline]");
  const isBeside = matchMedia("(min-width: 80rem)");
  const since = performance.now();
  let isArrowing = false;

  const grade = (value) => {
    const radio = form?.querySelector(`input[name=grade][value="${value}"]`);
    if (!radio || form.dataset.sent) return;
    form.dataset.sent = "yes";
    radio.checked = true;
    form.elements.dwell_ms.value = Math.round(performance.now() - since);
    form.submit();
  };
  const ACTIONS = {
    guideline: () => {
      guideline.open = !guideline.open;
    },
    full: () => document.querySelector("[data-part=full-box]:not([hidden]) a")?.click(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) isArrowing = true;
    if (!data.keys.is_on || isQuiet(event) || isWriting(event) || actsItself(event)) return;
    const action = actionOf(event)?.action;
    const value = /^grade-(\d+)$/.exec(action)?.[1];
    if (!value && !ACTIONS[action]) return;
    if (action === "full" && !document.querySelector("[data-part=full-box]:not([hidden])")) return; // Space scrolls.
    event.preventDefault();
    if (value) grade(value);
    else ACTIONS[action]();
  });
  document.addEventListener("keyup", () => {
    isArrowing = false;
  });
  form?.addEventListener("click", (event) => {
    const radio = event.target.closest("input[name=grade]");
    // Arrows only choose; Enter then gives the grade that is chosen.
    if (radio && !isArrowing) grade(radio.value);
  });
  document.querySelector("[data-act=query]")?.addEventListener("click", ({ target }) => {
    const isOpen = document.getElementById("query-text").classList.toggle("is-open");
    target.setAttribute("aria-expanded", String(isOpen));
    target.textContent = isOpen ? word("Show less") : word("Show all");
  });
  const query = document.getElementById("query-text");
  const more = document.querySelector("[data-act=query]");
  new ResizeObserver(() => {
    more.hidden = !query.classList.contains("is-open") && query.scrollHeight <= query.clientHeight + 1;
  }).observe(query);
  // Nothing is searched for here: the words are told, not pressed.
  for (const term of document.querySelectorAll("[data-find]:not(:disabled)")) {
    const words = document.createElement("span");
    words.className = "term";
    words.append(...term.childNodes);
    term.replaceWith(words);
  }
  document.querySelector("[data-act=close-guideline]").hidden = !isBeside.matches;
  document.querySelector("[data-act=close-guideline]").addEventListener("click", ACTIONS.guideline);
  guideline.open = isBeside.matches;
})();
