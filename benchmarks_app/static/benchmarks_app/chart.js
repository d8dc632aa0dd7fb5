/* Charts: pictures from the server, until somebody wants one interactive. Then Vega comes, once.
   No part of it may evaluate text or write style elements: the page's policy forbids both. */
(() => {
  "use strict";
  if (window.benchwright?.charts) return; // A part of the page that came later brings it again.
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 40rem)");
  const theme = () => (root.dataset.theme === "auto" ? (dark.matches ? "dark" : "light") : root.dataset.theme);
  // With `ast`, Vega-Embed takes the interpreter of expressions that it brings along.
  const OPTIONS = { ast: true, actions: false, defaultStyle: false, renderer: "svg", tooltip: { disableDefaultStyle: true } };

  let loading;
  const load = (url) => (loading ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = url;
    script.onload = done;
    script.onerror = () => {
      loading = undefined;
      failed(new Error("the script did not arrive"));
    };
    document.head.append(script);
  }));

  const live = new Map();
  const parts = (figure) => ({
    toggle: figure.querySelector("[data-chart-toggle]"),
    picture: figure.querySelector(".chart-picture"),
    place: figure.querySelector(".chart-live"),
  });
  const embed = async (figure) => {
    const { place } = parts(figure);
    const size = narrow.matches ? "narrow" : figure.dataset.chartSize;
    const answer = await fetch(`${figure.dataset.chart}?theme=${theme()}&size=${size}`);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const spec = await answer.json();
    await load(figure.dataset.chartBundle);
    live.get(figure)?.finalize();
    live.set(figure, await window.vegaEmbed(place, spec, OPTIONS));
  };
  const show = (figure, isLive) => {
    const { toggle, picture, place } = parts(figure);
    picture.hidden = isLive;
    place.hidden = !isLive;
    const { live: alive, picture: still } = toggle.dataset;
    toggle.firstChild.textContent = isLive ? still : alive;
  };
  const turn = async (figure) => {
    const { toggle, place } = parts(figure);
    if (!place.hidden) {
      live.get(figure)?.finalize();
      live.delete(figure);
      place.replaceChildren();
      return show(figure, false);
    }
    toggle.disabled = true;
    try {
      await embed(figure);
      show(figure, true);
    } catch {
      window.benchwright?.toast(toggle.dataset.failure, "bad");
    } finally {
      toggle.disabled = false;
    }
  };

  const again = () => live.forEach((_, figure) => (figure.isConnected ? embed(figure) : live.delete(figure)));
  new MutationObserver(again).observe(root, { attributeFilter: ["data-theme"] });
  dark.addEventListener("change", again);
  const prepare = (part) => part.querySelectorAll("[data-chart-toggle]").forEach((toggle) => (toggle.hidden = false));
  document.addEventListener("click", (event) => {
    const toggle = event.target.closest?.("[data-chart-toggle]");
    if (toggle) turn(toggle.closest("[data-chart]"));
  });
  document.addEventListener("htmx:load", (event) => prepare(event.target));
  prepare(document);
  window.benchwright = { ...window.benchwright, charts: true };
})();
