"""The scanner in pure Python: from a run's blocks of bytes to its hits.

It is the reference of the C extension, and what reads where there is none. Blocks of plain lines
are split and grouped as a whole; any other block is read line by line by `trec`, which also says
what is wrong with it. Only one query's results are held at a time; when a query comes back later
in the file, reading starts anew and holds all of them.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import ge, ne
from pathlib import Path
from typing import Any

from benchmarks_app.core.formats.sources import (
    CHUNK,
    DEFAULT_LIMITS,
    line_too_long,
    open_inflated,
    shown_name,
)
from benchmarks_app.core.formats.trec import BYTE_ORDER_MARK, RunLines, RunRow, whole_number
from benchmarks_app.core.problems import Problems
from scoring.core.reading.hits import Hit, QueryHits, TieGroup
from scoring.core.reading.loading import duplicate_text
from scoring.core.reading.shapes import Shape, read_ranking

Grades = Mapping[bytes, Mapping[bytes, int]]
Block = tuple[int, bytes]
"""The number of a block's first line, and whole lines."""

# Rank columns mostly count; up to here the numbers are written down once to compare with.
_COUNTED = 100_000


class ComesBackError(Exception):
    """A query's rows do not stand together."""


@dataclass(slots=True)
class _Query:
    """The results of one query so far; `lines` holds (place, line) where line numbers jump."""

    qid: bytes
    docids: list[bytes] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    lines: list[tuple[int, int]] = field(default_factory=list)
    is_descending: bool = True


def scan(
    path: Path,
    grades: Grades,
    *,
    shape: Shape,
    ties: str,
    depth: int | None,
    problems: Problems,
    block: int = CHUNK,
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
            found = reading.run(block)
            break
        except ComesBackError:
            continue
    for warning in noted.warnings:
        problems.warn(warning.file, warning.line, warning.text)
    for problem in noted.found:
        problems.add(problem.file, problem.line, problem.text)
    problems.raise_found()
    return found


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
        columns = None if self.shape.kind == "three" else plain_columns(block, first)
        if columns is None:
            for row in self._odd_rows(first, block):
                self.take(row.qid, row.line, [row.docid], [row.score])
            return
        qids, docids, ranks, scores = columns
        start = 0
        for qid, group in groupby(qids):
            stop = start + len(list(group))
            line, within = first + start, slice(start, stop)
            self.see_ranks(qid, line, ranks[within], scores[within])
            self.take(qid, line, docids[within], scores[within])
            start = stop

    def _odd_rows(self, first: int, block: bytes) -> Iterator[RunRow]:
        lines = block.split(b"\n")
        del lines[-1]  # what follows the last line feed: nothing
        if self.shape.kind != "three":
            return self.reader.rows(lines, first=first)
        told, self.is_three_told = self.is_three_told, first <= self.shape.line < first + len(lines)
        told = told or self.shape.line < first
        return read_ranking(lines, file=self.file, problems=self.problems, first=first, told=told)

    def see_ranks(self, qid: bytes, line: int, ranks: list[bytes], scores: Sequence[float]) -> None:
        """What `RankCheck` says of these rows in turn; it need not see them all where ranks only
        count or stay the same."""
        check = self.reader.ranks
        if check.last is None:
            return
        is_counting = self._is_counting(ranks) and all(map(ge, scores, islice(scores, 1, None)))
        if is_counting or ranks.count(ranks[0]) == len(ranks):
            check.see(qid, line, whole_number(ranks[0]), scores[0])
            if qid in (check.last or ()):
                check.last[qid] = (int(ranks[-1]), scores[-1])
            return
        for place, (rank, score) in enumerate(zip(ranks, scores, strict=True)):
            check.see(qid, line + place, whole_number(rank), score)

    def _is_counting(self, ranks: list[bytes]) -> bool:
        if not ranks[0].isdigit() or len(ranks[0]) > 5:
            return False
        first = int(ranks[0])
        last = first + len(ranks)
        if last > _COUNTED:
            return False
        self.counting += [b"%d" % n for n in range(len(self.counting), last)]
        return ranks == self.counting[first:last]

    def take(self, qid: bytes, line: int, docids: list[bytes], scores: list[float]) -> None:
        query = self.current
        if query is None or query.qid != qid:
            query = self.current = self.come_to(qid)
        query.lines.append((len(query.docids), line))
        before = query.scores[-1:]
        query.is_descending = (
            query.is_descending
            and not (before and before[0] < scores[0])
            and (len(scores) == 1 or all(map(ge, scores, islice(scores, 1, None))))
        )
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
    number, rest, longest = 1, b"", DEFAULT_LIMITS.max_line_bytes
    while chunk := stream.read(size):
        end = chunk.rfind(b"\n") + 1
        if len(rest) + (chunk.find(b"\n") + 1 or len(chunk)) > longest:
            raise line_too_long(file, number, longest)
        if not end:
            rest += chunk
            continue
        block = rest + chunk[:end]
        yield number, block
        number += block.count(b"\n")
        rest = chunk[end:]
    if rest:
        yield number, rest + b"\n"


Columns = tuple[list[bytes], list[bytes], list[bytes], list[float]]


def plain_columns(block: bytes, first: int) -> Columns | None:
    """Queries, documents, ranks and scores of a block in which every line is as it should be:
    six columns, no comment, a score that is a number; otherwise None."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if any(byte in block for byte in (b"\0", b"\r", b"\x0b", b"\x0c")):
        return None
    if first == 1 and block.startswith(BYTE_ORDER_MARK):
        return None
    n = block.count(b"\n")
    # A NUL stands for each line feed: with six columns a line, every seventh is one.
    tokens = block.replace(b"\n", b" \0 ").split()
    if len(tokens) != 7 * n or tokens[6::7].count(b"\0") != n:
        return None
    qids = tokens[::7]
    if b"#" in block and any(qid.startswith(b"#") for qid in set(qids)):
        return None
    scores = numbers(tokens[4::7])
    return None if scores is None else (qids, tokens[2::7], tokens[3::7], scores)


def numbers(tokens: list[bytes]) -> list[float] | None:
    """Scores of tokens; None where one of them is none."""
    try:
        scores = list(map(float, tokens))
    except ValueError:
        return None
    # float() takes 1_0, which no other reader of runs does; NaN differs from itself.
    if any(map(ne, scores, scores)) or b"_" in b"".join(tokens):
        return None
    return scores


def rank_hits(
    query: _Query, grades: Mapping[bytes, int], ties: str
) -> tuple[list[Hit], list[TieGroup]]:
    """The hits of one query by rank, and under `expected` the ties that hold one.

    Nothing is sorted but scores out of order, and ties that hold a hit.
    """
    scores = query.scores if ties != "trec9" else list(array("f", query.scores))
    place_of = dict(zip(query.docids, range(len(scores)), strict=True))
    ascending = scores[::-1] if query.is_descending else sorted(scores)
    tied: dict[float, dict[bytes, int]] = {}
    hits, groups = [], []
    for docid in grades.keys() & place_of.keys():
        score = scores[place_of[docid]]
        upto = bisect_right(ascending, score)
        rank = len(ascending) - upto + 1
        if upto > 1 and ascending[upto - 2] == score:
            if score not in tied:
                tied[score] = order_of_tie(query.docids, scores, score, ties)
                groups.append(TieGroup(rank, len(tied[score])))
            rank += tied[score][docid]
        hits.append(Hit(rank, grades[docid]))
    return sorted(hits), sorted(groups) if ties == "expected" else []


def order_of_tie(
    docids: list[bytes], scores: list[float], score: float, ties: str
) -> dict[bytes, int]:
    """Documents of one score and their places among themselves, from 0."""
    equal = [docid for docid, of in zip(docids, scores, strict=True) if of == score]
    if ties != "file":
        equal.sort(reverse=ties != "docid-asc")
    return dict(zip(equal, range(len(equal)), strict=True))
