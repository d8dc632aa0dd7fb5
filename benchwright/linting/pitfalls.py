"""What makes scores wrong without an error: ids and splits that do not meet, a corpus that was cut.

Works on ids alone, wherever they come from; every finding has counts.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from benchwright.findings import Finding, Severity
from benchwright.linting.folder import some
from benchwright.texts.counting import counted

TARGET = "loading"
Qrels = Mapping[Any, Mapping[Any, int]]


def pitfalls(
    queries: Collection[Any],
    qrels: Qrels,
    *,
    documents: Collection[Any] | None = None,
    split: str = "",
    other_splits: Mapping[str, Collection[Any]] | None = None,
) -> list[Finding]:
    """Return what does not fit together, the worst first.

    Parameters
    ----------
    queries, documents
        Ids, or mappings by id; `documents` is None where the corpus was not looked at.
    split, other_splits
        What the qrels are said to be of, and the query ids of other splits: where the qrels'
        queries are there, the message says so.

    Examples
    --------
    >>> [found.code for found in pitfalls({"q1"}, {"q1": {"d1": 1, "d2": 0}}, documents={"d1"})]
    ['corpus-lacks-judged', 'judged-not-relevant']
    """
    findings = [
        *_types(queries, qrels, documents),
        *_queries(queries, qrels, split, other_splits or {}),
        *_documents(qrels, documents),
        *_grades(qrels),
    ]
    return sorted(findings, key=lambda finding: tuple(Severity).index(finding.severity))


def _finding(
    code: str, severity: Severity, where: str, message: str, advice: str, n: int
) -> Finding:
    return Finding(code, severity, TARGET, where, message, advice, n)


# --- ids -----------------------------------------------------------------------------------------


def _types(
    queries: Collection[Any], qrels: Qrels, documents: Collection[Any] | None
) -> Iterator[Finding]:
    judged = (docid for of in qrels.values() for docid in of)
    for what, here, there, where in (
        ("query", queries, qrels, "queries"),
        ("document", documents, judged, "corpus"),
    ):
        if here is None:
            continue
        mine, theirs = _kinds(here), _kinds(there)
        if mine and theirs and mine != theirs:
            yield _finding(
                "id-types-differ",
                Severity.ERROR,
                where,
                f"ids of a {what} are {_names(mine)} here and {_names(theirs)} in the qrels, and "
                "7 is not '7'.",
                "Make them texts everywhere: str(id).",
                len(mine | theirs),
            )


def _kinds(ids: Iterable[Any]) -> frozenset[str]:
    return frozenset(type(id_).__name__ for id_ in ids)


def _names(kinds: Iterable[str]) -> str:
    words = {"str": "texts", "int": "numbers", "float": "numbers with a point", "bytes": "bytes"}
    return " and ".join(words.get(kind, kind) for kind in sorted(kinds))


def _queries(
    queries: Collection[Any],
    qrels: Qrels,
    split: str,
    other_splits: Mapping[str, Collection[Any]],
) -> Iterator[Finding]:
    lacking = [qid for qid in qrels if qid not in queries]
    if not lacking:
        return
    n_met = len(qrels) - len(lacking)
    counts = (
        f"{n_met:,} of the {counted(len(qrels), 'query')} of the qrels "
        f"{'is' if n_met == 1 else 'are'} among the {counted(len(queries), 'query')}; "
        f"{len(lacking):,} {_are(lacking)} not ({_some(lacking)})."
    )
    is_none = n_met == 0
    yield _finding(
        "queries-do-not-meet" if is_none else "queries-meet-in-part",
        Severity.ERROR if is_none else Severity.WARNING,
        "qrels",
        counts,
        _advice_on_queries(lacking, queries, split, other_splits),
        len(lacking),
    )


def _advice_on_queries(
    lacking: list[Any],
    queries: Collection[Any],
    split: str,
    other_splits: Mapping[str, Collection[Any]],
) -> str:
    for name, ids in other_splits.items():
        n_there = sum(qid in ids for qid in lacking)
        if n_there:
            other_split = f" and not of '{split}'" if split else ""
            what = "is a query" if n_there == 1 else "are queries"
            return (
                f"{n_there:,} of these {what} of the split '{name}'{other_split}: take its qrels."
            )
    there = min(queries, key=str, default=None)
    numbered = {_number(qid): qid for qid in sorted(queries, key=str, reverse=True)}
    for qid in lacking:
        number = _number(qid)
        if number is not None and number in numbered:
            return (
                f"They are the same numbers written otherwise: '{qid}' in the qrels, "
                f"'{numbered[number]}' among the queries. Write both alike."
            )
    if there is None:
        return "There is no query at all: look whether it is the right file."
    return (
        f"The queries are called '{there}' and the like. Look whether both are of one split and "
        "one version of the collection."
    )


def _number(name: Any) -> int | None:
    """The whole number that an id stands for: 7 of 7, '07', '7.0', 'q7' and 'query-7'."""
    text = str(name).strip().removesuffix(".0")
    digits = text[len(text.rstrip("0123456789")) :]
    is_id = digits and text.removesuffix(digits).strip("-_:#.").isalpha() | (text == digits)
    return int(digits) if is_id and len(digits) < 19 else None


# --- documents and grades ------------------------------------------------------------------------


def _documents(qrels: Qrels, documents: Collection[Any] | None) -> Iterator[Finding]:
    if documents is None:
        return
    judged = best_grades(qrels)
    lacking = [docid for docid in judged if docid not in documents]
    if lacking:
        yield lacking_documents(
            n_judged=len(judged),
            lacking=lacking,
            n_relevant=sum(judged[docid] > 0 for docid in lacking),
            n_documents=len(documents),
        )


def lacking_documents(
    *, n_judged: int, lacking: Collection[Any], n_relevant: int, n_documents: int
) -> Finding:
    """Return the finding of a corpus that lacks judged documents."""
    is_all = len(lacking) == n_judged
    return _finding(
        "corpus-lacks-judged",
        Severity.ERROR if is_all else Severity.WARNING,
        "corpus",
        f"{len(lacking):,} of the {n_judged:,} judged documents {_are(lacking)} not among the "
        f"{n_documents:,} of the corpus, {n_relevant:,} of them relevant ({_some(lacking)}).",
        "It is another corpus, or its ids are written otherwise."
        if is_all
        else "It was cut, or is of another version: what cannot be found counts against every "
        "system, and what was cut away competes no more. Take the whole corpus.",
        len(lacking),
    )


def best_grades(qrels: Qrels) -> dict[Any, int]:
    """The highest grade that each document has for any query."""
    best: dict[Any, int] = {}
    for of in qrels.values():
        for docid, grade in of.items():
            best[docid] = max(grade, best.get(docid, grade))
    return best


def _grades(qrels: Qrels) -> Iterator[Finding]:
    n_grades = sum(len(of) for of in qrels.values())
    n_zero = sum(grade == 0 for of in qrels.values() for grade in of.values())
    if n_zero:
        yield _finding(
            "judged-not-relevant",
            Severity.NOTE,
            "qrels",
            f"{n_zero:,} of {n_grades:,} grades are 0: judged, and not relevant.",
            "Count only grades above 0 as relevant; a document in the qrels is not a hit.",
            n_zero,
        )
    empty = [qid for qid, of in qrels.items() if not any(grade > 0 for grade in of.values())]
    if empty:
        yield _finding(
            "query-without-relevant",
            Severity.WARNING,
            "qrels",
            f"{len(empty):,} of {counted(len(qrels), 'query')} "
            f"{'has' if len(empty) == 1 else 'have'} no relevant document "
            f"({_some(empty)}): every run scores 0 there.",
            "Look whether grades are turned round, or leave these queries out for all systems.",
            len(empty),
        )


def _are(names: Collection[Any]) -> str:
    return "is" if len(names) == 1 else "are"


def _some(names: Collection[Any]) -> str:
    return some([str(name) for name in names])
