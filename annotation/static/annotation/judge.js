/* The labeling page: one key grades and goes on. Every form here also works without this script.
   A judgment is sent again until the server has answered; its client id makes a repetition harmless. */
(() => {
  "use strict";
  const RETRY_MS = [500, 1000, 2000, 4000, 8000];
  const SIGNED_OUT = "you are signed out. Sign in in another tab, then judge this document again.";
  let isSending = false;
  let shownAt = performance.now();
  let hiddenSince = null;
  let hiddenMs = 0;

  const screen = () => document.getElementById("judge-screen");
  const saved = (text, kind) => {
    const note = screen().querySelector("[data-saved]");
    if (!note) return;
    note.className = `saved ${kind}`;
    note.textContent = text;
  };
  const say = (text) => {
    document.getElementById("judge-said").textContent = text;
  };
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /* ---- Time on the document, without the time it was out of sight ---- */
  const startClock = () => {
    shownAt = performance.now();
    hiddenMs = 0;
    hiddenSince = document.hidden ? shownAt : null;
  };
  const dwell = () => Math.round(performance.now() - shownAt - hiddenMs);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenSince = performance.now();
    else if (hiddenSince !== null) {
      hiddenMs += performance.now() - hiddenSince;
      hiddenSince = null;
    }
  });

  /* ---- Sending ---- */
  // From the cookie, not from the form: signing in again in another tab changes it.
  const csrfToken = () => /(?:^|; )csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? "";
  const post = async (form, body) => {
    for (let tries = 0; ; tries += 1) {
      try {
        const headers = { "HX-Request": "true", "X-CSRFToken": csrfToken() };
        const answer = await fetch(form.action, { method: "POST", body, headers });
        if (answer.status < 500) return answer;
      } catch { /* No connection: the same again in a moment. */ }
      saved("Not saved yet. Trying again", "is-failed");
      if (tries === 0) say("Not saved yet. Trying again.");
      await wait(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);
    }
  };
  const reasonOf = (page) => page.querySelector(".lead")?.textContent.trim();
  const show = (html) => {
    const next = new DOMParser().parseFromString(html, "text/html").getElementById("judge-screen");
    if (!next) return false;
    screen().replaceWith(document.adoptNode(next));
    window.htmx?.process(next);
    prepare();
    say(next.dataset.said);
    scrollTo(0, 0);
    next.querySelector("#document")?.focus({ preventScroll: true });
    return true;
  };
  const refused = (form, submitter, answer, html) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const why = answer.redirected ? SIGNED_OUT : reasonOf(page) ?? `error ${answer.status}`;
    submitter?.removeAttribute("aria-pressed");
    form.closest("dialog")?.close();
    saved(`Not saved: ${why}`, "is-failed");
    say(`Not saved: ${why}`);
  };
  const send = async (form, submitter) => {
    if (isSending) return; // One document, one judgment: a second key meant the one not yet shown.
    isSending = true;
    const time = form.elements.dwell_ms;
    if (time) time.value = dwell();
    const body = new URLSearchParams(new FormData(form, submitter));
    if (csrfToken()) body.delete("csrfmiddlewaretoken");
    submitter?.setAttribute("aria-pressed", "true");
    saved("Saving", "is-pending");
    try {
      const answer = await post(form, body);
      const html = await answer.text();
      if (!show(html)) refused(form, submitter, answer, html);
    } finally {
      isSending = false;
    }
  };
  // The second half of a double click would fall on a document that nobody has read yet.
  document.addEventListener("click", (event) => {
    if (event.detail > 1 && event.target.closest("[data-judge] button")) event.preventDefault();
  });
  addEventListener("beforeunload", (event) => {
    if (isSending) event.preventDefault();
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-judge]")) return;
    event.preventDefault();
    send(event.target, event.submitter);
  });

  /* ---- Dialogs ---- */
  const toggle = (id) => {
    const dialog = document.getElementById(id);
    if (dialog.open) dialog.close();
    else dialog.showModal();
  };
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    const closer = event.target.closest("dialog [data-close]");
    if (!opener && !closer) return;
    event.preventDefault();
    if (opener) toggle(opener.dataset.open);
    else closer.closest("dialog").close();
  });

  /* ---- Keys: digits by their place on the keyboard, letters by what is written on them ---- */
  const keyOf = (event) => {
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code);
    const isNavigation = event.code.startsWith("Numpad") && !/^\d$/.test(event.key); // Num Lock is off.
    if (digit && !isNavigation && (!event.shiftKey || /^\d$/.test(event.key))) return digit[1];
    return event.key.toLowerCase();
  };
  const isWriting = ({ target }) => target.matches?.("input, textarea, select, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    const isChord = event.ctrlKey || event.altKey || event.metaKey;
    if (event.defaultPrevented || event.repeat || event.isComposing || event.keyCode === 229 || isChord) return;
    if (isWriting(event)) return;
    const key = keyOf(event);
    const dialog = document.querySelector("dialog:modal");
    if (dialog?.id === "judge-keys" && key === "?") return dialog.close();
    // While a dialog is open only its own keys act: a digit then means a reason, never a grade.
    const control = [...(dialog ?? screen()).querySelectorAll("[data-key]")].find(
      (one) => one.dataset.key === key && one.closest("dialog") === dialog,
    );
    if (!control) return;
    event.preventDefault();
    control.click();
  });

  const prepare = () => {
    for (const button of screen().querySelectorAll("[data-open][hidden]")) button.hidden = false;
    // Opened by the server for who has no script; with one, it is a dialog that Esc closes.
    const open = screen().querySelector("dialog[open]");
    if (open) {
      open.close();
      open.showModal();
    }
    startClock();
  };
  prepare();
})();
