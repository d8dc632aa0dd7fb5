"""From scores of passages to scores of documents: what each rule makes of one query's passages."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from heapq import nlargest
from math import fsum
from typing import NamedTuple

from benchwright.errors import ParentsNeededError, Problems, UnknownAggregationError
from benchwright.files.encodings import as_shown
from benchwright.formats.trec import RunRow
from benchwright.reading.loading import Run
from benchwright.reading.ranking import ranked

# --- From scores of passages to scores of documents: what each rule makes of one query's
# passages.

AGGREGATIONS = ("maxp", "firstp", "sump", "rrf")
DEFAULT = "maxp"
LABELS = {
    "maxp": "maxP: the best passage's score",
    "firstp": "firstP: the score of the document's first passage",
    "sump": "sumP: the sum of its three best passages",
    "rrf": "RRF: the sum of 1 / (60 + rank) of its passages",
}
SUMMED = 3
RRF_CONSTANT = 60

COMBINE: Mapping[str, Callable[[list[float]], float]] = {
    "maxp": max,
    "firstp": max,  # of one
    "sump": lambda scores: sum(nlargest(SUMMED, scores)),  # fsum refuses inf - inf, and 3 are few
    "rrf": fsum,
}


class RankedPassage(NamedTuple):
    """A result that is a passage, with its rank from 1."""

    docid: str
    score: float
    rank: int


def documents_of(
    passages: Iterable[RankedPassage],
    parents: Mapping[str, str],
    how: str,
    firsts: Set[str] = frozenset(),
) -> list[tuple[str, float]]:
    """Return the documents of one query's passages, each with its score, in order of first sight.

    `firsts` are the first passages of their documents, which `firstp` asks for. A passage without
    a parent is passed over.

    Examples
    --------
    >>> found = [RankedPassage("a#1", 3.0, 1), RankedPassage("b#0", 2.5, 2),
    ...          RankedPassage("a#0", 1.0, 3)]
    >>> parents = {"a#0": "a", "a#1": "a", "b#0": "b"}
    >>> documents_of(found, parents, "maxp")
    [('a', 3.0), ('b', 2.5)]
    >>> documents_of(found, parents, "firstp", {"a#0", "b#0"})
    [('b', 2.5), ('a', 1.0)]
    >>> documents_of(found, parents, "sump")
    [('a', 4.0), ('b', 2.5)]
    """
    grouped: defaultdict[str, list[float]] = defaultdict(list)
    for passage in passages:
        parent = parents.get(passage.docid)
        if parent and (how != "firstp" or passage.docid in firsts):
            weight = 1 / (RRF_CONSTANT + passage.rank) if how == "rrf" else passage.score
            grouped[parent].append(weight)
    return [(parent, COMBINE[how](weights)) for parent, weights in grouped.items()]


# --- From a run of passages to a run of documents, so that qrels of documents can score it.

SEPARATOR = b"#"


class ScoredDocument(NamedTuple):
    """A document with the score that its passages give it."""

    docid: bytes
    score: float


def aggregate(
    run: Run,
    parents: Mapping[bytes, bytes] | None,
    how: str = "maxp",
    *,
    file: str,
    ties: str = "trec",
    problems: Problems | None = None,
) -> dict[bytes, list[ScoredDocument]]:
    """The documents of each query, in the order in which the run first names a passage of them.

    Parameters
    ----------
    run
        Results that are passages.
    parents
        The document of each passage, a document's first passage first. None: a passage `X#Y`
        belongs to document `X`.
    how
        `maxp`: the best passage's score. `firstp`: that of the document's first passage; without it
        among the results, the document is not. `sump`: the sum of its three best. `rrf`: the sum of
        1 / (60 + rank) of its passages.
    file
        What messages call the run.
    ties
        Which of two passages of one score ranks first, for `rrf`.

    Raises
    ------
    UnknownAggregationError
        If `how` is none of the four.
    ParentsNeededError
        If `how` is `firstp` and there are no `parents`: ids do not tell which passage is the first.
    FileProblemsError
        If a result is not a passage that has a document.

    Notes
    -----
    MaxP, FirstP and SumP (of all passages): Dai & Callan, SIGIR 2019. RRF: Cormack, Clarke &
    Büttcher, SIGIR 2009, over lists; here over the passages of one list.
    """
    if how not in AGGREGATIONS:
        raise UnknownAggregationError(how=how, known=", ".join(AGGREGATIONS))
    if how == "firstp" and parents is None:
        raise ParentsNeededError(how=how)
    problems = problems or Problems()
    parent_of = _parents_in_ids(run, file, problems) if parents is None else parents
    _check(run, parent_of, file, problems)
    problems.raise_found()
    weigh = _weighing(how, parent_of, ties)
    return {qid: _documents(weigh(rows), parent_of, COMBINE[how]) for qid, rows in run.items()}


Weigh = Callable[[Sequence[RunRow]], Iterable[tuple[bytes, float]]]
"""What each passage of a query adds to its document."""


def _weighing(how: str, parents: Mapping[bytes, bytes], ties: str) -> Weigh:
    if how == "rrf":
        return lambda rows: _reciprocal_ranks(rows, ties)
    if how == "firstp":
        # Backwards, so that the first row of a document is the one that stays.
        firsts = {parent: passage for passage, parent in reversed(list(parents.items()))}
        docids = frozenset(firsts.values())
        return lambda rows: ((row.docid, row.score) for row in rows if row.docid in docids)
    return lambda rows: ((row.docid, row.score) for row in rows)


def _reciprocal_ranks(rows: Sequence[RunRow], ties: str) -> Iterable[tuple[bytes, float]]:
    ranks = {row.docid: rank for rank, row in enumerate(ranked(rows, ties), start=1)}
    return ((row.docid, 1 / (RRF_CONSTANT + ranks[row.docid])) for row in rows)


def _documents(
    weighed: Iterable[tuple[bytes, float]],
    parents: Mapping[bytes, bytes],
    combine: Callable[[list[float]], float],
) -> list[ScoredDocument]:
    grouped: defaultdict[bytes, list[float]] = defaultdict(list)
    for passage, weight in weighed:
        grouped[parents[passage]].append(weight)
    return [ScoredDocument(docid, combine(weights)) for docid, weights in grouped.items()]


def _parents_in_ids(run: Run, file: str, problems: Problems) -> dict[bytes, bytes]:
    """The parent of every passage `X#Y`; what follows the last `#` is the passage."""
    parents: dict[bytes, bytes] = {}
    for row in (row for rows in run.values() for row in rows):
        parent, _, passage = row.docid.rpartition(SEPARATOR)
        if parent and passage:
            parents[row.docid] = parent
        else:
            text = f"'{as_shown(row.docid)}' is no passage; expected DOCUMENT#PASSAGE in every row"
            problems.add(file, row.line, f"{text}. Name the parents in a file (--parents).")
    return parents


def _check(run: Run, parents: Mapping[bytes, bytes], file: str, problems: Problems) -> None:
    """Tell of every result without a document, unless that has been told."""
    if problems.found:
        return
    documents = set(parents.values())
    for row in (row for rows in run.values() for row in rows):
        if row.docid not in parents:
            text = _no_parent(row.docid, is_document=row.docid in documents)
            problems.add(file, row.line, text)


def _no_parent(docid: bytes, *, is_document: bool) -> str:
    if is_document:
        text = f"'{as_shown(docid)}' is a document; expected passages only"
        return f"{text}. Do not mix the two in one run."
    text = f"passage '{as_shown(docid)}' has no document; expected it in the file of parents"
    return f"{text}. Add it there."
