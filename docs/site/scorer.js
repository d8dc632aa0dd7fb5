/* What is found first: what is called so, before what only speaks of it; lists and decisions last. */
var Scorer = {
  score: ([page, title, anchor, , score]) => {
    const asked = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const names = new Set(title.toLowerCase().split(/[^\p{L}\p{N}_@.-]+/u));
    const isCalledSo = asked.length > 0 && asked.every((word) => names.has(word) || names.has(`${word}s`));
    const isList = /^(reference\/(commands|rest|python)|adr\/|errors|CHANGELOG)/.test(page);
    return score + (isCalledSo ? 20 : 0) - (isList ? 10 : 0) - (anchor ? 2 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
