/* Deciding on a slice's queries by keyboard: j and k go to the next and the previous row, y confirms, n rejects. */
(() => {
  "use strict";
  const review = document.querySelector("[data-slice-review]");
  if (!review) return;
  const rows = () => [...review.querySelectorAll("tr[data-member]")];
  const current = () => rows().indexOf(document.activeElement?.closest("tr[data-member]"));
  const hint = review.querySelector("[data-keys]");
  if (hint) hint.hidden = false;

  function goTo(place) {
    const row = rows()[place];
    if (!row) return;
    row.tabIndex = -1;
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  }

  /* The next row that still asks for something, after this one and then from the top. */
  function goOn(place) {
    const all = rows();
    const open = (row) => !row.classList.contains("is-decided");
    const after = all.findIndex((row, at) => at > place && open(row));
    goTo(after >= 0 ? after : Math.min(place + 1, all.length - 1));
  }

  document.addEventListener("keydown", (event) => {
    if (!window.benchwright.isForPage(event)) return;
    const place = current();
    if (event.key === "j") goTo(place + 1);
    else if (event.key === "k") goTo(Math.max(place - 1, 0));
    else if (event.key === "y" || event.key === "n") {
      const verdict = event.key === "y" ? "confirm" : "reject";
      const button = rows()[place]?.querySelector(`[data-verdict=${verdict}]`);
      if (!button) return;
      review.dataset.place = place;
      button.click();
    } else return;
    event.preventDefault();
  });

  /* The row that was decided was replaced: the focus goes on, or it would be lost. */
  document.body.addEventListener("htmx:afterSwap", () => {
    if (review.dataset.place === undefined) return;
    const place = Number(review.dataset.place);
    delete review.dataset.place;
    goOn(place);
  });
})();
