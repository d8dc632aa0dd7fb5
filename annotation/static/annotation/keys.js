/* The page of keys: in a list of keys, the key that is pressed is chosen. Works without it, too. */
(() => {
  "use strict";
  const MOVES = ["Tab", "Enter", "Escape"];
  document.addEventListener("keydown", (event) => {
    const { target: list } = event;
    if (!list.matches?.(".key-table select") || event.ctrlKey || event.altKey || event.metaKey) return;
    if (MOVES.includes(event.key) || event.key.startsWith("Arrow") || event.key === "Shift") return;
    const code = ["Backspace", "Delete"].includes(event.key) ? "" : event.code.replace("Numpad", "Digit");
    const known = (value) => [...list.options].some((option) => option.value === value);
    const wanted = [event.shiftKey ? `Shift+${code}` : code, code].find(known);
    if (wanted === undefined) return;
    event.preventDefault();
    list.value = wanted;
  });
})();
