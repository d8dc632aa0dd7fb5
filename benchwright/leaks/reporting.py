"""The leak report itself: facts for every pair of splits, and what is wrong among them."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from typing import Any

from benchwright.families.keys import DEFAULT_LANGUAGE
from benchwright.findings import Finding, Severity
from benchwright.leaks.pairing import (
    NEAREST,
    CrossPairs,
    Progress,
    SplitPair,
    families_across,
    pair_json,
    split_pairs,
    written_similarity,
)
from benchwright.leaks.types import LEVELS, WORDS, Kind, LeakQuery, Pair
from benchwright.splits.describing import described
from benchwright.splits.types import Assignment, assignment_sha256, family_names

FORMAT = 1
LISTED = 100
"""So many pairs of one kind, documents and inversions are listed; all of them are counted."""

SHOWN = 3
CHRONOLOGICAL = "chronological"
HARD = (Kind.FAMILY, Kind.EXACT, Kind.ACCENTS, Kind.BAG, Kind.NEAR)
CODES = {kind: f"split-leak-{kind.value}" for kind in Kind}
ADVICE = {
    Kind.FAMILY: "Split again: a family has one side.",
    Kind.EXACT: "Merge the two families, then split again.",
    Kind.ACCENTS: "Merge the two families, or say that they differ, then split again.",
    Kind.BAG: "Merge the two families, or say that they differ, then split again.",
    Kind.NEAR: "Merge the two families, or say that they differ, then split again.",
    Kind.POSSIBLE: "Look at them: merge the families if they ask the same, or say that they "
    "differ.",
}


def leak_report(
    queries: Sequence[LeakQuery],
    *,
    plan: Mapping[str, Any] | None = None,
    documents_first_seen: Mapping[str, datetime] | None = None,
    told_apart: Set[tuple[str, str]] = frozenset(),
    hidden: Collection[str] = (),
    snapshot: str = "",
    language: str = DEFAULT_LANGUAGE,
    on_progress: Progress | None = None,
) -> dict[str, Any]:
    """Everything that two splits share, as plain JSON; `findings` is empty where nothing leaks.

    Parameters
    ----------
    queries
        Every query that is in a split.
    plan
        How the split was made: mode, seed, parameters, algorithm, inputs_sha256, digest, and
        `cuts` ({split: ISO time}) where time decided.
    documents_first_seen
        When documents that are relevant to a query appeared, as far as that is known.
    told_apart
        Pairs of query ids which people said differ, however alike they read. It excuses pairs that
        are alike, not those that are the same text.
    hidden
        Splits whose grades are not public: of their relevant documents nothing is said.
    snapshot
        The date of the corpus.
    """
    listed = _named_families(sorted(queries, key=lambda query: query.qid.encode()))
    plan_facts = dict(plan or {})
    cross = CrossPairs(listed, told_apart=told_apart, language=language, on_progress=on_progress)
    torn = families_across(listed)
    description = _described(listed, hidden)
    pairs = [_pair_of_splits(listed, splits, cross, torn, hidden) for splits in split_pairs(listed)]
    late = _late_documents(listed, plan_facts, documents_first_seen or {}, hidden)
    report: dict[str, Any] = {
        "format": FORMAT,
        "splits": description["splits"],
        "slices": description["slices"],
        "label_density": description["label_density"],
        "hidden_splits": sorted(hidden),
        "corpus_snapshot": snapshot or None,
        "pairs": pairs,
        "documents_after_cut": late,
        "is_sampled": cross.is_sampled,
        "plan": plan_facts or None,
        "inputs_sha256": _inputs_sha256(listed, hidden),
        "assignment_sha256": assignment_sha256({query.qid: query.split for query in listed}),
    }
    report["findings"] = [finding.as_json() for finding in _findings(report, plan_facts)]
    return report


def _named_families(queries: Sequence[LeakQuery]) -> list[LeakQuery]:
    """The same queries, each family called by the smallest id in it."""
    named = family_names([query.as_split_query() for query in queries])
    return [replace(query, family=named[query.family]) for query in queries]


def _described(queries: Sequence[LeakQuery], hidden: Collection[str]) -> dict[str, Any]:
    """Sizes and balance; of hidden splits nothing that is counted from their grades."""
    whole = _description(queries)
    public = _description([query for query in queries if query.split not in hidden])
    for part in whole["splits"]:
        if part["name"] in hidden:
            part["n_without_relevant"] = None
    return {**whole, "label_density": public["label_density"]}


def _description(queries: Sequence[LeakQuery]) -> dict[str, Any]:
    split_of = {query.qid: query.split for query in queries}
    return described(
        [query.as_split_query() for query in queries], Assignment({}, split_of)
    ).as_json()


# --- facts ---------------------------------------------------------------------------------


def _pair_of_splits(
    queries: Sequence[LeakQuery],
    splits: SplitPair,
    cross: CrossPairs,
    torn: Mapping[SplitPair, list[str]],
    hidden: Collection[str],
) -> dict[str, Any]:
    pairs = cross.of(splits)
    counted = {
        f"from_{100 * level:.0f}": sum(pair.similarity + 1e-6 >= level for pair in pairs)
        for level in LEVELS
    }
    exact = _keys_shared(pairs, cross.exact)
    bags = _keys_shared(pairs, cross.bags)
    return {
        "a": splits[0],
        "b": splits[1],
        "shared_families": len(torn.get(splits, ())),
        "shared_exact_keys": exact,
        "shared_bag_keys": bags,
        "max_similarity": written_similarity(pairs[0].similarity) if pairs else None,
        "searched_from": cross.searched_from,
        "pairs_at_least": counted,
        "told_apart": sum(pair.is_told_apart for pair in pairs),
        "shared_documents": _shared_documents(queries, splits, hidden),
        "time": _inversions(queries, splits),
        "nearest": [pair_json(queries, pair) for pair in pairs[:NEAREST]],
        "leaks": _leaks(queries, pairs),
    }


def _keys_shared(pairs: Iterable[Pair], keys: Sequence[str]) -> int:
    return len({keys[pair.a] for pair in pairs if keys[pair.a] == keys[pair.b]})


def _leaks(queries: Sequence[LeakQuery], pairs: Sequence[Pair]) -> dict[str, Any]:
    """{kind: {n, listed}} of the pairs that count against the split."""
    facts: dict[str, Any] = {}
    for kind in Kind:
        of_kind = [pair for pair in pairs if pair.kind is kind and not _is_excused(pair)]
        if of_kind:
            facts[kind.value] = {
                "n": len(of_kind),
                "listed": [pair_json(queries, pair) for pair in of_kind[:LISTED]],
            }
    return facts


def _is_excused(pair: Pair) -> bool:
    return pair.is_told_apart and pair.kind not in (Kind.FAMILY, Kind.EXACT)


def _shared_documents(
    queries: Sequence[LeakQuery], splits: SplitPair, hidden: Collection[str]
) -> dict[str, Any] | None:
    """Documents that are relevant in both splits; None where the grades of either are hidden.

    How many they are, and which share of a split's, would tell of its grades.
    """
    if set(splits) & set(hidden):
        return None
    sides = [_relevant(queries, split) for split in splits]
    shared = sorted(set(sides[0]) & set(sides[1]), key=str.encode)
    return {
        "n": len(shared),
        "share_of_a": _share(len(shared), len(sides[0])),
        "share_of_b": _share(len(shared), len(sides[1])),
        "listed": [
            {"docid": docid, "a": sides[0][docid][:SHOWN], "b": sides[1][docid][:SHOWN]}
            for docid in shared[:LISTED]
        ],
    }


def _relevant(queries: Sequence[LeakQuery], split: str) -> dict[str, list[str]]:
    """{document: ids of the queries of a split to which it is relevant}."""
    docids: dict[str, list[str]] = {}
    for query in queries:
        if query.split == split:
            for docid in query.relevant:
                docids.setdefault(docid, []).append(query.qid)
    return docids


def _share(n: int, of: int) -> float | None:
    return round(n / of, 6) if of else None


def _inversions(queries: Sequence[LeakQuery], splits: SplitPair) -> dict[str, Any] | None:
    """Queries of the earlier split that were first asked when the later had begun."""
    early, late = (
        [
            (query.first_seen, query.qid)
            for query in queries
            if query.split == split and query.first_seen
        ]
        for split in splits
    )
    if not early or not late:
        return None
    begin = min(moment for moment, _ in late)
    inverted = sorted((moment, qid) for moment, qid in early if moment >= begin)
    return {
        "a_last": max(moment for moment, _ in early).isoformat(),
        "b_first": begin.isoformat(),
        "n_inverted": len(inverted),
        "listed": [{"qid": qid, "at": moment.isoformat()} for moment, qid in inverted[:LISTED]],
    }


def _late_documents(
    queries: Sequence[LeakQuery],
    plan: Mapping[str, Any],
    documents: Mapping[str, datetime],
    hidden: Collection[str],
) -> dict[str, Any] | None:
    """Documents relevant to a train query that appeared only after the cut.

    None without a cut or dates, and where the grades of train are hidden.
    """
    cuts = plan.get("cuts") or {}
    if not cuts or not documents or "train" in hidden:
        return None
    cut = min(datetime.fromisoformat(moment) for moment in cuts.values())
    relevant = _relevant(queries, "train")
    late = sorted(
        (docid for docid in relevant if docid in documents and documents[docid] >= cut),
        key=str.encode,
    )
    return {
        "cut": cut.isoformat(),
        "n": len(late),
        "n_known": sum(docid in documents for docid in relevant),
        "listed": [
            {
                "docid": docid,
                "first_seen": documents[docid].isoformat(),
                "queries": relevant[docid][:SHOWN],
            }
            for docid in late[:LISTED]
        ],
    }


def _inputs_sha256(queries: Sequence[LeakQuery], hidden: Collection[str]) -> str:
    """Of what the report is made of: ids, texts, families, splits, slices, dates, documents.

    Relevant documents of hidden splits stay out of it: guesses at them could be tried against it.
    """
    digest = hashlib.sha256()
    for query in queries:
        row = [
            query.qid,
            query.text,
            query.split,
            query.family,
            sorted(query.slices),
            query.first_seen.isoformat() if query.first_seen else None,
            [] if query.split in hidden else sorted(query.relevant),
        ]
        digest.update(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    return digest.hexdigest()


# --- what is wrong -------------------------------------------------------------------------


def _findings(report: Mapping[str, Any], plan: Mapping[str, Any]) -> list[Finding]:
    is_chronological = plan.get("mode") == CHRONOLOGICAL
    findings = [finding for pair in report["pairs"] for finding in _of_pair(pair, is_chronological)]
    late = report["documents_after_cut"]
    if is_chronological and late and late["n"]:
        findings.append(_late_finding(late))
    order = list(Severity)
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def _of_pair(pair: Mapping[str, Any], is_chronological: bool) -> Iterable[Finding]:
    where = f"{pair['a']} and {pair['b']}"
    for kind in Kind:
        if leaks := pair["leaks"].get(kind.value):
            yield _pair_finding(kind, leaks, where)
    # Members of one family need not read alike: then no pair of queries names them.
    if pair["shared_families"] and Kind.FAMILY.value not in pair["leaks"]:
        n = pair["shared_families"]
        text = f"{n:,} {_s(n, 'family is', 'families are')} on both sides."
        yield _finding(Kind.FAMILY, where, text, n)
    documents = pair["shared_documents"]
    if documents and documents["n"]:
        yield _documents_finding(documents, where)
    inverted = (pair["time"] or {}).get("n_inverted", 0)
    if is_chronological and inverted:
        yield _inversion_finding(pair, where)


def _pair_finding(kind: Kind, leaks: Mapping[str, Any], where: str) -> Finding:
    n = leaks["n"]
    named = "; ".join(
        f"{leak['a']['qid']} “{_cut(leak['a']['text'])}” and "
        f"{leak['b']['qid']} “{_cut(leak['b']['text'])}”"
        for leak in leaks["listed"][:SHOWN]
    )
    more = f"; and {n - SHOWN:,} more" if n > SHOWN else ""
    text = f"{n:,} {_s(n, 'pair', 'pairs')} of queries: {WORDS[kind]}: {named}{more}."
    return _finding(kind, where, text, n)


def _finding(kind: Kind, where: str, text: str, n: int) -> Finding:
    severity = Severity.ERROR if kind in HARD else Severity.WARNING
    return Finding(CODES[kind], severity, "splits", where, text, ADVICE[kind], n)


def _documents_finding(documents: Mapping[str, Any], where: str) -> Finding:
    n = documents["n"]
    named = ", ".join(document["docid"] for document in documents.get("listed", [])[:SHOWN])
    text = (
        f"{n:,} {_s(n, 'document is', 'documents are')} relevant on both sides"
        f"{f' ({named})' if named else ''}: {100 * documents['share_of_b']:.1f} % of the later "
        "split's."
    )
    advice = (
        "Group the families by shared relevant documents, too, if a model that learned them by "
        "heart must not gain by it; otherwise say so on the card."
    )
    return Finding("split-leak-documents", Severity.WARNING, "splits", where, text, advice, n)


def _inversion_finding(pair: Mapping[str, Any], where: str) -> Finding:
    time = pair["time"]
    n = time["n_inverted"]
    named = ", ".join(f"{query['qid']} ({query['at'][:10]})" for query in time["listed"][:SHOWN])
    text = (
        f"{n:,} {_s(n, 'query', 'queries')} of {pair['a']} were first asked when {pair['b']} had "
        f"begun ({time['b_first'][:10]}): {named}."
    )
    advice = "Split again by time; queries were added or dates changed since."
    return Finding("split-leak-time", Severity.ERROR, "splits", where, text, advice, n)


def _late_finding(late: Mapping[str, Any]) -> Finding:
    n = late["n"]
    named = ", ".join(
        f"{document['docid']} ({document['first_seen'][:10]})"
        for document in late.get("listed", [])[:SHOWN]
    )
    text = (
        f"{n:,} {_s(n, 'document', 'documents')} that appeared after the cut ({late['cut'][:10]}) "
        f"{_s(n, 'is', 'are')} relevant to train queries{f': {named}' if named else ''}."
    )
    advice = "Take those grades out of the qrels, or move the cut."
    return Finding("split-leak-late-documents", Severity.ERROR, "splits", "train", text, advice, n)


def _cut(text: str, most: int = 60) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def _s(n: int, singular: str, plural: str) -> str:
    return singular if n == 1 else plural
