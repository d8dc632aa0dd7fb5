"""Which queries an outside list holds, nearly holds, or shares relevant documents with."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from benchwright.contamination.outside import OutsideQuery
from benchwright.contamination.sketches import (
    NEAR_BANDS,
    POSSIBLE_BANDS,
    Hasher,
    SketchHeader,
    SketchMatch,
    SketchMatcher,
    read_documents,
    read_header,
    read_sketch,
)
from benchwright.families.keys import DEFAULT_LANGUAGE, bag_keys, exact_key
from benchwright.families.similarity import similar_rows, similarities
from benchwright.families.vectors import Matrix, weighted_grams
from benchwright.files.external_sort import batched_by_weight
from benchwright.leaks.types import NEAR_AT, POSSIBLE_AT
from benchwright.sandbox import reader

AT_ONCE = 50_000
# A line may have 64 MB.
CHARACTERS_AT_ONCE = 16 << 20
"""Outside queries compared at a time; how rare a gram is, is counted over them and ours."""

ALL = "all queries"
Progress = Callable[[int, int, str], None]


class Degree(StrEnum):
    """How sure it is that a query was seen; the surest first."""

    EXACT = "exact"
    NEAR = "near"
    POSSIBLE = "possible"
    DOCUMENT = "document"


CONTAMINATED = (Degree.EXACT, Degree.NEAR)
"""What a query must not be, to be in the clean subset."""


@dataclass(frozen=True, slots=True)
class OurQuery:
    """A query of the benchmark, with its relevant documents."""

    qid: str
    text: str
    relevant: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Match:
    """What was found of one query; `outside` is the nearest text, "" where only hashes are seen.

    Of a `document` match `similarity` is the share of our relevant documents that are relevant to
    outside queries, too, and `outside` names some.
    """

    qid: str
    degree: Degree
    similarity: float
    outside: str = ""


@dataclass
class _Best:
    """The nearest outside query so far."""

    degree: Degree | None = None
    similarity: float = 0.0
    text: str = ""

    def take(self, degree: Degree, similarity: float, text: str) -> None:
        order = list(Degree)
        mine = len(order) if self.degree is None else order.index(self.degree)
        if (order.index(degree), -similarity) < (mine, -self.similarity):
            self.degree, self.similarity, self.text = degree, similarity, text


def check_queries(
    ours: Sequence[OurQuery],
    outside: Iterable[OutsideQuery],
    *,
    language: str = DEFAULT_LANGUAGE,
    tell: Progress | None = None,
) -> tuple[list[Match], int]:
    """What an outside list has of our queries, and how many queries it holds; one pass over it."""
    work = _TextCheck(ours, language)
    n = 0
    for batch in batched_by_weight(
        outside, AT_ONCE, lambda query: len(query.text), CHARACTERS_AT_ONCE
    ):
        work.take(batch)
        n += len(batch)
        if tell:
            tell(n, 0, f"{n:,} outside queries compared")
    return work.matches(), n


class _TextCheck:
    """Our queries, and the best that was found of each."""

    def __init__(self, ours: Sequence[OurQuery], language: str) -> None:
        self.ours = ours
        self.language = language
        self.texts = [query.text for query in ours]
        self.best = [_Best() for _ in ours]
        self.exact = _places(exact_key(text) for text in self.texts)
        self.bags = _places(bag_keys(self.texts, language))
        self.docids = {docid for query in ours for docid in query.relevant}
        self.documents: set[str] = set()

    def take(self, batch: Sequence[OutsideQuery]) -> None:
        distinct: dict[str, str] = {}
        for query in batch:
            distinct.setdefault(exact_key(query.text), query.text)
            self.documents.update(self.docids.intersection(query.documents))
        for key, text in distinct.items():
            for place in self.exact.get(key, ()):
                self.best[place].take(Degree.EXACT, 1.0, text)
        # Those that are one of ours as well: they may be near to another of ours.
        others = list(distinct.values())
        both = weighted_grams([*self.texts, *others])
        rows, theirs = both[: len(self.texts)], both[len(self.texts) :]
        for place, other, similarity in similar_rows(rows, theirs, threshold=POSSIBLE_AT):
            is_near = similarity + 1e-6 >= NEAR_AT
            degree = Degree.NEAR if is_near else Degree.POSSIBLE
            self.best[place].take(degree, similarity, others[other])
        self._take_same_words(others, rows, theirs)

    def _take_same_words(self, others: Sequence[str], rows: Matrix, theirs: Matrix) -> None:
        """Outside texts of one of our bags of words, however little alike they read."""
        pairs = [
            (place, other)
            for other, bag in enumerate(bag_keys(others, self.language))
            for place in self.bags.get(bag, ())
        ]
        a, b = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        for (place, other), similarity in zip(pairs, similarities(rows, a, b, theirs), strict=True):
            self.best[place].take(Degree.NEAR, float(similarity), others[other])

    def matches(self) -> list[Match]:
        matches = [
            Match(query.qid, best.degree, best.similarity, best.text)
            for query, best in zip(self.ours, self.best, strict=True)
            if best.degree
        ]
        return matches + _document_matches(self.ours, self.documents)


def _places(keys: Iterable[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    return places


def _document_matches(ours: Sequence[OurQuery], documents: Collection[str]) -> list[Match]:
    """Queries whose relevant documents are relevant to outside queries, too."""
    matches = []
    for query in ours:
        shared = sorted(query.relevant.intersection(documents), key=str.encode)
        if shared:
            share = len(shared) / len(query.relevant)
            matches.append(Match(query.qid, Degree.DOCUMENT, share, " ".join(shared[:5])))
    return matches


# --- against a sketch ----------------------------------------------------------------------


def check_sketch(
    ours: Sequence[OurQuery],
    path: Path,
    *,
    header: SketchHeader,
    hasher: Hasher,
    file: str = "",
    tell: Progress | None = None,
) -> list[Match]:
    """What a sketch has of our queries; the texts behind its hashes stay unknown."""
    matcher = SketchMatcher([query.text for query in ours], hasher)
    n = 0
    for block in read_sketch(path, file=file or path.name):
        matcher.take(block)
        n += len(block)
        if tell:
            tell(n, header.n_queries, f"{n:,} hashed queries compared")
    matches = [
        Match(query.qid, degree, match.similarity)
        for query, match in zip(ours, matcher.matches(), strict=True)
        if (degree := _degree_of(match))
    ]
    return matches + _document_matches(ours, _known_documents(ours, path, hasher))


@reader
def header_at(path: Path, name: str) -> SketchHeader:
    """What a sketch from outside says of itself; raises as `read_header` does."""
    return read_header(path, file=name)


@reader
def sketch_matches(
    ours: Sequence[OurQuery],
    path: Path,
    name: str,
    header: SketchHeader,
    salt: str,
    *,
    progress: Progress,
) -> list[Match]:
    """As `check_sketch`, of a sketch from outside."""
    hasher = Hasher(salt, header.language)
    return check_sketch(ours, path, header=header, hasher=hasher, file=name, tell=progress)


def _degree_of(match: SketchMatch) -> Degree | None:
    if match.is_exact:
        return Degree.EXACT
    if match.has_same_words or match.n_bands >= NEAR_BANDS:
        return Degree.NEAR
    return Degree.POSSIBLE if match.n_bands >= POSSIBLE_BANDS else None


def _known_documents(ours: Sequence[OurQuery], path: Path, hasher: Hasher) -> set[str]:
    theirs = set(read_documents(path).tolist())
    docids = sorted({docid for query in ours for docid in query.relevant})
    numbers = hasher.documents(docids).tolist() if theirs and docids else []
    return {docid for docid, number in zip(docids, numbers, strict=False) if number in theirs}


# --- what it comes to ----------------------------------------------------------------------


def by_slice(
    qids: Sequence[str], matches: Sequence[Match], slices: Mapping[str, Collection[str]]
) -> list[dict[str, Any]]:
    """A row of counts for all queries and for each slice: of each degree, and of clean ones."""
    rows = {ALL: set(qids), **{name: set(slices[name]) & set(qids) for name in sorted(slices)}}
    qids_of: dict[Degree, set[str]] = {degree: set() for degree in Degree}
    for match in matches:
        qids_of[match.degree].add(match.qid)
    contaminated = set().union(*(qids_of[degree] for degree in CONTAMINATED))
    return [
        {
            "name": name,
            "n": len(members),
            **{f"n_{degree}": len(qids_of[degree] & members) for degree in Degree},
            "n_clean": len(members - contaminated),
        }
        for name, members in rows.items()
    ]
