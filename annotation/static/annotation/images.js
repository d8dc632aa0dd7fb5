/* Images of a document: fit, zoom by buttons, keys, wheel and pinch, moved by mouse and finger.
   Without this script they are shown to fit, with a link to each alone. */
(() => {
  "use strict";
  const LARGEST = 16;
  const STEP = 1.5;
  const HELD = 40; // images that were loaded ahead; those before them may go
  const ahead = new Map();

  const loadAhead = (images) => {
    for (const { url } of images) {
      if (ahead.has(url)) continue;
      const image = new Image();
      image.src = url;
      image.decode?.().catch(() => {}); // one that is broken is told where it is shown
      ahead.set(url, image);
      if (ahead.size > HELD) ahead.delete(ahead.keys().next().value);
    }
  };

  const scales = new WeakMap();
  const zoom = (view, scale) => {
    const image = view.querySelector("img");
    const before = scales.get(view) ?? 1;
    const next = Math.min(LARGEST, Math.max(1, scale));
    if (before === 1) view.dataset.fit = image.clientWidth;
    // What lies in the middle stays there.
    const x = (view.scrollLeft + view.clientWidth / 2) / view.scrollWidth;
    const y = (view.scrollTop + view.clientHeight / 2) / view.scrollHeight;
    if (before === 1 && next > 1) view.style.height = `${view.offsetHeight}px`;
    view.classList.toggle("is-zoomed", next > 1);
    image.style.width = next > 1 ? `${view.dataset.fit * next}px` : "";
    if (next === 1) view.style.height = "";
    scales.set(view, next);
    view.scrollLeft = x * view.scrollWidth - view.clientWidth / 2;
    view.scrollTop = y * view.scrollHeight - view.clientHeight / 2;
  };
  const by = (view, how) => zoom(view, how === "fit" ? 1 : (scales.get(view) ?? 1) * (how === "in" ? STEP : 1 / STEP));

  const pinch = (view) => {
    const points = new Map();
    let start = null;
    const distance = () => {
      const [a, b] = [...points.values()];
      return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    };
    view.addEventListener("pointerdown", (event) => {
      points.set(event.pointerId, event);
      if (event.pointerType === "mouse") view.setPointerCapture(event.pointerId);
      if (points.size === 2) start = { distance: distance(), scale: scales.get(view) ?? 1 };
    });
    view.addEventListener("pointermove", (event) => {
      const last = points.get(event.pointerId);
      if (!last) return;
      points.set(event.pointerId, event);
      if (points.size === 2 && start) zoom(view, (start.scale * distance()) / start.distance);
      else if (event.pointerType === "mouse") view.scrollBy(last.clientX - event.clientX, last.clientY - event.clientY);
    });
    for (const kind of ["pointerup", "pointercancel"])
      view.addEventListener(kind, (event) => {
        points.delete(event.pointerId);
        start = null;
      });
    view.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey) return; // a plain wheel scrolls
        event.preventDefault();
        zoom(view, (scales.get(view) ?? 1) * Math.exp(-event.deltaY / 200));
      },
      { passive: false },
    );
  };

  const ready = (figure) => {
    const view = figure.querySelector(".document-image-view");
    const image = view.querySelector("img");
    const broken = () => {
      view.hidden = true;
      figure.querySelector("[data-image=broken]").hidden = false;
      figure.classList.remove("has-zoom");
    };
    figure.classList.add("has-zoom");
    image.addEventListener("error", broken);
    if (image.complete && image.getAttribute("src") && !image.naturalWidth) broken();
    pinch(view);
    return figure;
  };

  const imageFigure = (template, { url, width, height, alt }) => {
    const figure = template.content.firstElementChild.cloneNode(true);
    const image = figure.querySelector("img");
    Object.assign(image, { width, height });
    if (alt) image.alt = alt;
    ready(figure);
    image.src = url;
    figure.querySelector("a").href = url;
    return figure;
  };

  document.querySelectorAll("figure.document-image").forEach(ready);
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-zoom]");
    if (button) by(button.closest("figure").querySelector(".document-image-view"), button.dataset.zoom);
  });
  // After the page's own keys: one that somebody has bound to a grade is theirs.
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.target.matches?.("input, textarea, select")) return;
    const how = { "+": "in", "=": "in", "-": "out", "−": "out" }[event.key];
    const view = event.target.closest?.(".document-image-view") ?? document.querySelector("[data-part=images] .document-image-view");
    if (!how || !view || view.hidden) return;
    event.preventDefault();
    by(view, how);
  });
  window.benchwright ??= {};
  Object.assign(window.benchwright, { imageFigure, loadAhead });
})();
