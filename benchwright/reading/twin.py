"""The scanner in pure Python: from a run's blocks of bytes to its hits.

It is the reference of the C extension, and what reads where there is none. Blocks of plain lines
are split and grouped as a whole; any other block is read line by line by `trec`, which also says
what is wrong with it. Only one query's results are held at a time; when a query comes back later
in the file, reading starts anew and holds all of them.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import compress, repeat
from operator import add
from pathlib import Path
from typing import Any, cast

from benchwright.errors import Problems
from benchwright.files.sources import DEFAULT_LIMITS, line_too_long, open_inflated, shown_name
from benchwright.formats.trec import RunLines, RunRow, whole_number
from benchwright.reading.hits import Hit, QueryHits, TieGroup
from benchwright.reading.loading import duplicate_text
from benchwright.reading.plain import (
    Form,
    Order,
    Rows,
    Scores,
    groups_of,
    run_parts,
    split_columns,
    without_oddities,
)
from benchwright.reading.shapes import Shape, read_ranking

Grades = Mapping[bytes, Mapping[bytes, int]]
Block = tuple[int, bytes]
"""The number of a block's first line, and whole lines."""

# As many tokens as the processor's cache holds.
BLOCK = 1 << 17

# Rank columns mostly count; up to here the numbers are written down once to compare with.
_COUNTED = 100_000


class ComesBackError(Exception):
    """A query's rows do not stand together."""


@dataclass(slots=True)
class _Query:
    """The results of one query so far; `lines` holds (place, line) where line numbers jump."""

    qid: bytes
    docids: list[bytes] = field(default_factory=list)
    scores: list[Any] = field(default_factory=list)  # `Scores` of that form
    form: Form | None = None
    lines: list[tuple[int, int]] = field(default_factory=list)
    is_descending: bool = True
    has_ties: bool = False  # told only where the scores descend


def scan(
    path: Path,
    grades: Grades,
    *,
    shape: Shape,
    ties: str,
    depth: int | None,
    problems: Problems,
    block: int = BLOCK,
) -> dict[bytes, QueryHits[bytes]]:
    """Every query of a run file with its hits, in the order of the file.

    Raises
    ------
    FileProblemsError
        If lines cannot be read, or a document stands twice in one query.
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated.
    """
    for is_kept in (False, True):
        noted = Problems(problems.limit)
        reading = _Scan(path, grades, shape, ties, depth, noted, is_kept)
        try:
            hits = reading.run(block)
            break
        except ComesBackError:
            continue
    for warning in noted.warnings:
        problems.warn(warning.file, warning.line, warning.text)
    for problem in noted.found:
        problems.add(problem.file, problem.line, problem.text)
    problems.raise_found()
    return hits


def scan_grades(path: Path, *, block: int = BLOCK) -> dict[bytes, dict[bytes, int]] | None:
    """The grades of a TREC qrels file in which every line is as it should be, otherwise None."""
    grades: dict[bytes, dict[bytes, int]] = {}
    with open_inflated(path) as stream:
        for first, lines in whole_lines(stream, shown_name(path), block):
            clean = without_oddities(lines, is_start=first == 1)
            columns = split_columns(clean, 4) if clean else None
            if columns is None or not _take_grades(grades, *columns):
                return None
    return grades


def _take_grades(
    grades_of: dict[bytes, dict[bytes, int]],
    qids: list[bytes],
    _: list[bytes],
    docids: list[bytes],
    tokens: list[bytes],
) -> bool:
    """Whether every token was a grade, and no document there already."""
    grade_of = {token: whole_number(token) for token in set(tokens)}
    if None in grade_of.values():
        return False
    grades = cast("list[int]", list(map(grade_of.__getitem__, tokens)))
    for start, stop in groups_of(qids):
        of = grades_of.setdefault(qids[start], {})
        n_before = len(of)
        of.update(zip(docids[start:stop], grades[start:stop], strict=True))
        if len(of) != n_before + stop - start:
            return False
    return True


class _Scan:
    """One pass over a file."""

    def __init__(
        self,
        path: Path,
        grades: Grades,
        shape: Shape,
        ties: str,
        depth: int | None,
        problems: Problems,
        is_kept: bool,
    ) -> None:
        self.path = path
        self.file = shown_name(path)
        self.grades = grades
        self.shape = shape
        self.ties = ties
        self.depth = depth
        self.problems = problems
        self.is_kept = is_kept
        self.reader = RunLines(file=self.file, problems=problems)
        self.queries: dict[bytes, _Query] = {}
        self.current: _Query | None = None
        self.found: dict[bytes, QueryHits[bytes]] = {}
        self.counting: list[bytes] = []
        self.is_three_told = False

    def run(self, block: int) -> dict[bytes, QueryHits[bytes]]:
        with open_inflated(self.path) as stream:
            for first, lines in whole_lines(stream, self.file, block):
                self.take_block(first, lines)
        for query in self.queries.values():
            self.end(query)
        return self.found

    def take_block(self, first: int, block: bytes) -> None:
        is_three = self.shape.kind == "three"
        for part in [block] if is_three else run_parts(block, is_start=first == 1):
            if isinstance(part, bytes):
                self.take_lines(first, part)
                first += part.count(b"\n")
            else:
                order = part.order
                self.see_ranks(part, first, order)
                self.take(part.qid, first, part.docids, part.scores, order, part.form)
                first += len(part.docids)

    def take_lines(self, first: int, block: bytes) -> None:
        """Take lines one by one, which `trec` reads, and says what is wrong with them."""
        for row in self._odd_rows(first, block):
            self.take(row.qid, row.line, [row.docid], [row.score], "strictly")

    def _odd_rows(self, first: int, block: bytes) -> Iterator[RunRow]:
        lines = block.split(b"\n")
        del lines[-1]  # what follows the last line feed: nothing
        if self.shape.kind != "three":
            return self.reader.rows(lines, first=first)
        has_warned, self.is_three_told = (
            self.is_three_told,
            first <= self.shape.line < first + len(lines),
        )
        has_warned = has_warned or self.shape.line < first
        return read_ranking(
            lines, file=self.file, problems=self.problems, first=first, told=has_warned
        )

    def see_ranks(self, rows: Rows, line: int, order: Order) -> None:
        """What `RankCheck` says of these rows in turn; it need not see them all where ranks only
        count up while scores go down, or stay the same."""
        check, qid, ranks = self.reader.ranks, rows.qid, rows.ranks
        scores: list[Any] = rows.scores
        if check.last is None:
            return
        if (order != "not" and self._is_counting(ranks)) or ranks.count(ranks[0]) == len(ranks):
            check.see(qid, line, whole_number(ranks[0]), float(scores[0]))
            last = whole_number(ranks[-1])
            if check.last is not None and last is not None:
                check.last[qid] = (last, float(scores[-1]))
            return
        for place, (rank, score) in enumerate(zip(ranks, scores, strict=True)):
            check.see(qid, line + place, whole_number(rank), float(score))

    def _is_counting(self, ranks: list[bytes]) -> bool:
        if not ranks[0].isdigit() or len(ranks[0]) > 5:
            return False
        first = int(ranks[0])
        last = first + len(ranks)
        if last > _COUNTED:
            return False
        self.counting += [b"%d" % n for n in range(len(self.counting), last)]
        return ranks == self.counting[first:last]

    def take(
        self,
        qid: bytes,
        line: int,
        docids: list[bytes],
        scores: Scores,
        order: Order,
        form: Form | None = None,
    ) -> None:
        query = self.current
        if query is None or query.qid != qid:
            query = self.current = self.come_to(qid)
        if not query.docids:
            query.form = form
        elif query.form != form:
            query.scores, query.form = list(map(float, query.scores)), None
            scores = list(map(float, scores))
        query.lines.append((len(query.docids), line))
        if query.scores:
            query.is_descending &= query.scores[-1] >= scores[0]
            query.has_ties |= query.scores[-1] == scores[0]
        query.is_descending &= order != "not"
        query.has_ties |= order == "with ties"
        query.docids += docids
        query.scores += scores

    def come_to(self, qid: bytes) -> _Query:
        if self.is_kept:
            return self.queries.setdefault(qid, _Query(qid))
        if qid in self.found:
            raise ComesBackError
        if self.current:
            self.end(self.current)
        self.queries = {qid: _Query(qid)}
        return self.queries[qid]

    def end(self, query: _Query) -> None:
        grades = self.grades.get(query.qid)
        n = len(query.docids)
        if len(set(query.docids)) != n:
            self.tell_duplicates(query)
        hits, groups = rank_hits(query, grades, self.ties) if grades else ([], [])
        if self.depth is not None:
            n = min(n, self.depth)
            hits = [hit for hit in hits if hit.rank <= self.depth]
        self.found[query.qid] = QueryHits(query.qid, tuple(hits), n, tuple(groups))

    def tell_duplicates(self, query: _Query) -> None:
        lines = list(line_numbers(query))
        first: dict[bytes, int] = {}
        for line, docid in zip(lines, query.docids, strict=True):
            known = first.setdefault(docid, line)
            if known != line:
                self.problems.add(self.file, line, duplicate_text(query.qid, docid, known))


def line_numbers(query: _Query) -> Iterator[int]:
    ends = [place for place, _ in query.lines[1:]] + [len(query.docids)]
    for (place, line), end in zip(query.lines, ends, strict=True):
        yield from range(line, line + end - place)


def whole_lines(stream: Any, file: str, size: int) -> Iterator[Block]:
    """A stream in blocks of whole lines; the last of them gets a line feed if it lacks one."""
    number, longest = 1, DEFAULT_LIMITS.max_line_bytes
    rest, n_rest = [], 0  # pieces of a line that has not ended yet, and their bytes
    while chunk := stream.read(size):
        end = chunk.rfind(b"\n") + 1
        if n_rest + (chunk.find(b"\n") + 1 or len(chunk)) > longest:
            raise line_too_long(file, number, longest)
        if not end:
            rest.append(chunk)
            n_rest += len(chunk)
            continue
        block = b"".join((*rest, chunk[:end]))
        yield number, block
        number += block.count(b"\n")
        rest, n_rest = [chunk[end:]], len(chunk) - end
    if n_rest:
        yield number, b"".join((*rest, b"\n"))


# `Hit._make` without its check of the length, for very many of them.
_HIT = partial(tuple.__new__, Hit)


def rank_hits(
    query: _Query, grades: Mapping[bytes, int], ties: str
) -> tuple[list[Hit], list[TieGroup]]:
    """The hits of one query by rank, and under `expected` the ties that hold one.

    Nothing is sorted but scores out of order, and ties that hold a hit.
    """
    docids, scores = query.docids, query.scores
    if ties == "trec9":
        scores = list(array("f", map(float, scores)))
    places = list(compress(range(len(docids)), map(grades.__contains__, docids)))
    grades_found = map(grades.__getitem__, map(docids.__getitem__, places))
    # At 32 bits there may be more ties.
    has_ties = query.has_ties or ties == "trec9"
    if query.is_descending and (ties == "file" or not has_ties):
        return list(map(_HIT, zip(map(add, places, repeat(1)), grades_found, strict=True))), []
    ascending = scores[::-1] if query.is_descending else sorted(scores)
    orders: dict[Any, dict[bytes, int]] = {}
    hits, groups = [], []
    for place, grade in zip(places, grades_found, strict=True):
        score = scores[place]
        upto = bisect_right(ascending, score)
        rank = len(ascending) - upto + 1
        if upto > 1 and ascending[upto - 2] == score:
            if score not in orders:
                orders[score] = order_of_tie(docids, scores, score, ties)
                groups.append(TieGroup(rank, len(orders[score])))
            rank += orders[score][docids[place]]
        hits.append((rank, grade))
    return list(map(_HIT, sorted(hits))), sorted(groups) if ties == "expected" else []


def order_of_tie(docids: list[bytes], scores: list[Any], score: Any, ties: str) -> dict[bytes, int]:
    """Documents of one score and their places among themselves, from 0."""
    equal = [docid for docid, of in zip(docids, scores, strict=True) if of == score]
    if ties != "file":
        equal.sort(reverse=ties != "docid-asc")
    return dict(zip(equal, range(len(equal)), strict=True))
