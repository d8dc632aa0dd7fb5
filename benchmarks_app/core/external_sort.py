"""Sorting more records than fit in memory: sorted parts on disk, merged as they are read."""

import heapq
import marshal
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

PART_BYTES = 64 << 20
BLOCK_BYTES = 128 << 10
FAN_IN = 128
# What a record takes in memory beside its texts: the tuple, its objects' headers, the list's slot.
RECORD_OVERHEAD = 320

# A tuple of bytes, str, int, float or None that sorts by itself.
Record = tuple[Any, ...]


class ExternalSort:
    """Takes records in any order, then yields them sorted, with bounded memory.

    Parameters
    ----------
    folder
        An existing folder for the parts; whoever made it removes it.
    size_of
        Bytes of text in a record; beyond `part_bytes` of them a part is written.
    """

    def __init__(
        self, folder: Path, *, size_of: Callable[[Record], int], part_bytes: int = PART_BYTES
    ) -> None:
        self.folder = folder
        self.size_of = size_of
        self.part_bytes = part_bytes
        self._numbers = count()
        self._parts: list[Path] = []
        self._waiting: list[Record] = []
        self._waiting_bytes = 0

    def add(self, record: Record) -> None:
        """Take one record."""
        self._waiting.append(record)
        self._waiting_bytes += self.size_of(record) + RECORD_OVERHEAD
        if self._waiting_bytes >= self.part_bytes:
            self._spill()

    def merged(self) -> Iterator[Record]:
        """Yield every record in order; nothing may be added after that."""
        self._spill()
        while len(self._parts) > FAN_IN:
            group, self._parts = self._parts[:FAN_IN], self._parts[FAN_IN:]
            self._parts.append(self._write(_merge(group)))
            for part in group:
                part.unlink()
        return _merge(self._parts)

    def _spill(self) -> None:
        if self._waiting:
            self._waiting.sort()
            self._parts.append(self._write(self._waiting))
        self._waiting, self._waiting_bytes = [], 0

    def _write(self, records: Iterable[Record]) -> Path:
        path = self.folder / f"part-{next(self._numbers)}"
        with path.open("wb") as stream:
            for block in self._blocks(records):
                marshal.dump(block, stream)
        return path

    def _blocks(self, records: Iterable[Record]) -> Iterator[list[Record]]:
        block: list[Record] = []
        size = 0
        for record in records:
            block.append(record)
            size += self.size_of(record) + RECORD_OVERHEAD
            if size >= BLOCK_BYTES:
                yield block
                block, size = [], 0
        if block:
            yield block


def _merge(parts: list[Path]) -> Iterator[Record]:
    return heapq.merge(*(_read(part) for part in parts))


def _read(path: Path) -> Iterator[Record]:
    with path.open("rb") as stream:
        while True:
            try:
                # Our own file of a moment ago, in a folder of our own: nobody else wrote it.
                block = marshal.load(stream)
            except EOFError:
                return
            yield from block
