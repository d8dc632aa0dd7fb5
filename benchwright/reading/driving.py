"""Feeds files to the C extension, and tells what it noted. Where it refuses, the answer is None and
the twin reads instead: it knows the words."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

from benchwright.files.sources import (
    CHUNK,
    INFLATED_CHUNK,
    InflatedReader,
    open_inflated,
    settled,
    shown_name,
)
from benchwright.formats.trec import MARK_LEFT_OUT, TAG_MISSING, rank_warning, split_columns
from benchwright.reading.choosing import extension
from benchwright.reading.hits import Hit, QueryHits, TieGroup
from benchwright.reading.loading import repeated_text
from benchwright.reading.shapes import READ_AS_RANKING, READ_AS_THREE, Shape

if TYPE_CHECKING:
    import io
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

    from benchwright.errors import Problems
    from benchwright.reading._scanner import Scanner, Table

# By their numbers in the extension.
TIE_NUMBERS = {"trec": 0, "trec9": 1, "docid-asc": 2, "file": 3, "expected": 4}
FINE, REFUSED, INTERLEAVED = 0, 1, 2

# Below this a second thread costs more than it saves; each further one wants half of it.
WORTH_PARTING = 8 << 20
# How far from its even share a part may begin.
_LONGEST_SEARCH = 16 << 20


# --- qrels ---------------------------------------------------------------------------------


def compiled(grades: Mapping[bytes, Mapping[bytes, int]]) -> Table | None:
    """Grades in memory as a table; None without the extension, or if it does not take them."""
    module = extension()
    if module is None:
        return None
    table: Table = module.Table()
    for qid, documents in grades.items():
        if table.add(qid, dict(documents)) != FINE:
            return None
    return table if table.end() == FINE else None


def scan_table(path: Path, *, shape: Shape, problems: Problems, block: int = CHUNK) -> Table | None:
    """A qrels file as a table; None without the extension, or if it refuses the file."""
    module = extension()
    if module is None:
        return None
    table: Table = module.Table(
        is_three=shape.kind in ("three", "beir"), has_header=shape.kind == "beir"
    )
    if _fed(table, path, block) != FINE:
        return None
    file = shown_name(path)
    has_mark, repeated = table.notes()
    if has_mark:
        problems.warn(file, 1, MARK_LEFT_OUT)
    if shape.kind == "three":
        problems.warn(file, shape.line, READ_AS_THREE)
    for line, first, qid, docid in sorted(repeated)[: problems.limit]:
        problems.warn(file, line, repeated_text(qid, docid, first))
    return table


# --- runs ----------------------------------------------------------------------------------


def scan(
    path: Path,
    table: Table,
    *,
    shape: Shape,
    ties: str,
    depth: int | None,
    problems: Problems,
    block: int = CHUNK,
    worth_parting: int = WORTH_PARTING,
) -> dict[bytes, QueryHits[bytes]] | None:
    """Every query of a run file with its hits; None if the extension refuses the file."""
    module = extension()
    assert module is not None, "a table was compiled"
    reading = _Reading(module, path, table, shape, TIE_NUMBERS[ties], depth or 0, block)
    scanned = reading.scanned(worth_parting)
    if scanned is None:
        return None
    _tell(scanned, shape, shown_name(path), problems)
    return {
        qid: QueryHits(qid, hits, n_retrieved, groups)
        for scanner in scanned
        for qid, hits, n_retrieved, groups in scanner.results(Hit, TieGroup)
    }


class _Reading:
    """One run file, one table and the rules."""

    def __init__(
        self, module: Any, path: Path, table: Table, shape: Shape, ties: int, depth: int, block: int
    ) -> None:
        self.module = module
        self.path = path
        self.table = table
        self.is_three = shape.kind == "three"
        self.ties = ties
        self.depth = depth
        self.block = block

    def scanner(self, *, is_kept: bool = False, is_start: bool = True) -> Scanner:
        scanner: Scanner = self.module.Scanner(
            self.table, self.ties, self.depth, self.is_three, is_kept, is_start
        )
        return scanner

    def scanned(self, worth_parting: int) -> list[Scanner] | None:
        """The scanners that saw the file to its end, in its order; None where one refused."""
        starts = starts_of(settled(self.path), worth_parting)
        scanners, status = self.in_parts(starts) if starts else self.whole(is_kept=False)
        if status == INTERLEAVED:
            scanners, status = self.whole(is_kept=True)
        return scanners if status == FINE else None

    def whole(self, *, is_kept: bool) -> tuple[list[Scanner], int]:
        scanner = self.scanner(is_kept=is_kept)
        return [scanner], _fed(scanner, self.path, self.block)

    def in_parts(self, starts: list[int]) -> tuple[list[Scanner], int]:
        """A plain file in parts, all scanned at once; `starts` of all but the first."""
        from threading import Thread  # which small files do not need

        path = settled(self.path)
        scanners = [self.scanner(), *(self.scanner(is_start=False) for _ in starts)]
        statuses = [FINE] * len(scanners)

        def feed(part: int, start: int, stop: int | None) -> None:
            statuses[part] = _fed_part(scanners[part], path, start, stop, self.block)

        others = [
            Thread(target=feed, args=(part, start, stop), daemon=True)
            for part, (start, stop) in enumerate(zip(starts, [*starts[1:], None], strict=True), 1)
        ]
        for other in others:
            other.start()
        feed(0, 0, starts[0])
        for other in others:
            other.join()
        status = max(statuses, key=(FINE, INTERLEAVED, REFUSED).index)
        if status == FINE:
            qids = [qid for scanner in scanners for qid in scanner.queries()]
            status = FINE if len(set(qids)) == len(qids) else INTERLEAVED
        return scanners, status


def starts_of(path: Path, worth: int) -> list[int]:
    """Where the parts of a file begin that are scanned at once, but for the first; none for one.

    One for each processor, each of at least half of `worth` bytes, at the first query that begins
    after its even share.
    """
    size = path.stat().st_size
    n_parts = min(os.cpu_count() or 1, 2 * size // worth)
    if n_parts < 2:
        return []
    starts: list[int] = []
    with open_inflated(path) as stream:
        if isinstance(stream.raw, InflatedReader):
            return []
        for part in range(1, n_parts):
            start = size * part // n_parts
            stream.seek(start)
            stream.readline(_LONGEST_SEARCH)  # the rest of a line
            place = _next_query(stream, start + _LONGEST_SEARCH)
            if place > (starts[-1] if starts else 0):
                starts.append(place)
    return starts


def _next_query(stream: io.BufferedReader, furthest: int) -> int:
    first = None
    place = stream.tell()
    while place < furthest and (line := stream.readline(_LONGEST_SEARCH)):
        columns = split_columns(line)[:1]
        if columns and not columns[0].startswith(b"#"):
            first = first or columns
            if columns != first:
                return place
        place += len(line)
    return 0


def _fed(scanner: Table | Scanner, path: Path, block: int) -> int:
    """The status after a whole file; what is compressed is inflated while scanning."""
    with open_inflated(path) as stream:
        if isinstance(stream.raw, InflatedReader):
            piece = min(block, INFLATED_CHUNK)
            with closing(_ahead(iter(lambda: stream.read(piece), b""))) as blocks:
                status = next((bad for data in blocks if (bad := scanner.feed(data))), FINE)
        else:
            status = _fed_from(scanner, stream, block, None)
    return status or scanner.end()


def _fed_part(scanner: Scanner, path: Path, start: int, stop: int | None, block: int) -> int:
    with path.open("rb", buffering=0) as stream:
        stream.seek(start)
        status = _fed_from(scanner, stream, block, None if stop is None else stop - start)
    return status or scanner.end()


def _fed_from(
    scanner: Table | Scanner, stream: io.RawIOBase | io.BufferedReader, block: int, size: int | None
) -> int:
    buffer = memoryview(bytearray(block))
    while size is None or size > 0:
        n = stream.readinto(buffer if size is None else buffer[:size])
        if not n:
            break
        status = scanner.feed(buffer[:n])
        if status != FINE:
            return status
        size = None if size is None else size - n
    return FINE


def _ahead(blocks: Iterator[bytes]) -> Generator[bytes]:
    """The same blocks, the next two of which are made on another thread meanwhile."""
    from queue import Queue
    from threading import Thread

    queue: Queue[bytes | BaseException | None] = Queue(2)
    is_wanted = True

    def make() -> None:
        try:
            for block in blocks:
                queue.put(block)
                if not is_wanted:
                    return
            queue.put(None)
        except BaseException as error:  # noqa: BLE001 - handed over to the scanning thread
            queue.put(error)

    maker = Thread(target=make, name="inflating", daemon=True)
    maker.start()
    try:
        while (block := queue.get()) is not None:
            if isinstance(block, BaseException):
                raise block
            yield block
    finally:
        is_wanted = False
        while maker.is_alive():
            while not queue.empty():
                queue.get_nowait()
            maker.join(0.01)


def _tell(scanned: list[Scanner], shape: Shape, file: str, problems: Problems) -> None:
    """The warnings that reading line by line gives, in the same order."""
    warnings: list[tuple[int, int, str]] = []
    before = 0
    is_tag_told = is_rank_told = False
    for scanner in scanned:
        n_lines, has_mark, without_tag, notes = scanner.notes()
        if has_mark:
            warnings.append((1, 0, MARK_LEFT_OUT))
        if without_tag and not is_tag_told:
            warnings.append((before + without_tag, 1, TAG_MISSING))
            is_tag_told = True
        if notes and not is_rank_told:
            warnings.append((before + notes[0], 2, rank_warning(*notes[1:])))
            is_rank_told = True
        before += n_lines
    if shape.kind == "three":
        warnings.append((shape.line, 1, READ_AS_RANKING))
    for line, _, text in sorted(warnings):
        problems.warn(file, line, text)
