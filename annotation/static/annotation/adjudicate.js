// The keys of a case: each presses the button or link that bears it. Everything works without them.
(function () {
  "use strict";

  const TYPED_IN = "input, textarea, select, [contenteditable]";

  function nameOf(code) {
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(code);
    return digit ? digit[1] : code;
  }

  function isQuiet(event) {
    return event.defaultPrevented || event.isComposing || event.repeat || event.altKey
      || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest(TYPED_IN)
      || document.querySelector("dialog[open]");
  }

  document.addEventListener("keydown", (event) => {
    if (isQuiet(event)) return;
    const target = document.querySelector(`[data-key="${CSS.escape(nameOf(event.code))}"]`);
    if (!target) return;
    event.preventDefault();
    target.click();
  });

  const form = document.querySelector("[data-adjudicate]");
  const reason = form && form.elements.reason;
  if (!reason) return;
  let isSent = false;
  reason.addEventListener("input", () => reason.setCustomValidity(""));
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button[name]");
    if (!button) return;
    const lacks = "needsReason" in button.dataset && !reason.value.trim();
    reason.setCustomValidity(lacks ? "Nobody gave this grade: say why it is right." : "");
    if (!lacks) return;
    event.preventDefault();
    reason.focus();
    reason.reportValidity();
  });
  form.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  window.addEventListener("pageshow", () => { isSent = false; });
})();
