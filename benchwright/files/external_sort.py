"""Sorting more rows than fit in memory: sorted parts on disk, merged as they are read.

Rows travel as columns, so that sorting, writing and merging cost little per row. polars is
imported inside functions only (`parquet.py` says why).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from itertools import accumulate, count, islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import polars as pl


# --- Sorting more rows than fit in memory: sorted parts on disk, merged as they are read.

# Bytes of a part, of one block of a part, and of what is merged at once.
PART_BYTES = 64 << 20
BLOCK_BYTES = 256 << 10
MERGED_BYTES = 16 << 20
# Of more parts than this the blocks in hand would be too many: they are merged in rounds.
FAN_IN = 256


class ExternalSort:
    """Takes frames in any order, then yields their rows sorted, with bounded memory.

    Parameters
    ----------
    folder
        An existing folder for the parts; whoever made it removes it.
    by
        The columns to sort by. The first is text: all rows that are equal in it come in one frame.
    part_bytes
        Frames are put together until they hold about this much, then sorted and written.
    """

    def __init__(self, folder: Path, *, by: list[str], part_bytes: int = PART_BYTES) -> None:
        self.folder = folder
        self.by = by
        self.part_bytes = part_bytes
        self._numbers = count()
        self._parts: list[_Part] = []
        self._waiting: list[pl.DataFrame] = []
        self._waiting_bytes = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Take some rows; every frame has the same columns."""
        self._waiting.append(frame)
        self._waiting_bytes += int(frame.estimated_size())
        if self._waiting_bytes >= self.part_bytes:
            self._spill()

    def merged(self) -> Iterator[pl.DataFrame]:
        """Yield every row in order, in frames; nothing may be added after that."""
        self._spill()
        while len(self._parts) > FAN_IN:
            group, self._parts = self._parts[:FAN_IN], self._parts[FAN_IN:]
            self._parts.append(self._write(_merge(group, self.by)))
            for part in group:
                part.path.unlink()
        return _merge(self._parts, self.by)

    def _spill(self) -> None:
        import polars as pl

        if self._waiting:
            whole = pl.concat(self._waiting, rechunk=True).sort(self.by)
            self._waiting = []
            self._parts.append(self._write([whole]))
        self._waiting_bytes = 0

    def _write(self, frames: Iterable[pl.DataFrame]) -> _Part:
        part = _Part(self.folder / f"part-{next(self._numbers)}", self.by[0])
        with part.path.open("wb") as stream:
            for frame in frames:
                n_blocks = max(1, int(frame.estimated_size()) // BLOCK_BYTES)
                for block in frame.iter_slices(-(-len(frame) // n_blocks)):
                    packed = BytesIO()
                    block.write_ipc_stream(packed, compression="lz4")
                    part.note(block[-1, part.key], packed.tell(), int(block.estimated_size()))
                    stream.write(packed.getbuffer())
        return part


@dataclass(slots=True)
class _Part:
    """A file of sorted blocks; of each block its last key, its bytes on disk and in memory."""

    path: Path
    key: str
    last_keys: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)

    def note(self, last_key: str, size: int, weight: int) -> None:
        self.last_keys.append(last_key)
        self.sizes.append(size)
        self.weights.append(weight)

    def blocks(self) -> Iterator[pl.DataFrame]:
        import polars as pl

        # Opened for each block: parts may be more than files that may be open.
        for end, size in zip(accumulate(self.sizes), self.sizes, strict=True):
            with self.path.open("rb") as stream:
                stream.seek(end - size)
                yield pl.read_ipc_stream(BytesIO(stream.read(size)))


def _merge(parts: list[_Part], by: list[str]) -> Iterator[pl.DataFrame]:
    """Yield the rows of all parts in order, a range of keys at a time."""
    import polars as pl

    cursors = [_Cursor(part) for part in parts]
    for last in _range_ends(parts):
        pieces = [piece for cursor in cursors for piece in cursor.up_to(last)]
        if pieces:
            yield pl.concat(pieces).sort(by)


def _range_ends(parts: list[_Part]) -> Iterator[str]:
    """Yield the last key of each range, so that a range holds about `MERGED_BYTES`."""
    noted = [pair for part in parts for pair in zip(part.last_keys, part.weights, strict=True)]
    waiting = 0
    ordered = sorted(noted, key=lambda pair: pair[0].encode())
    for number, (key, weight) in enumerate(ordered, start=1):
        waiting += weight
        if waiting >= MERGED_BYTES or number == len(ordered):
            yield key
            waiting = 0


class _Cursor:
    """Where the merge stands in one part."""

    def __init__(self, part: _Part) -> None:
        self.part = part
        self._blocks = part.blocks()
        self._number = 0
        self._rest: pl.DataFrame | None = None

    def up_to(self, last: str) -> Iterator[pl.DataFrame]:
        """Yield the rows not yet given whose key is `last` or before it."""
        encoded = last.encode()
        while (block := self._current()) is not None:
            if self.part.last_keys[self._number].encode() <= encoded:
                yield block
                self._number, self._rest = self._number + 1, None
                continue
            n_rows = int((block[self.part.key] <= last).sum())
            if n_rows:
                yield block[:n_rows]
                self._rest = block[n_rows:]
            return

    def _current(self) -> pl.DataFrame | None:
        if self._rest is None:
            self._rest = next(self._blocks, None)
        return self._rest


# --- Cutting a stream into lists.

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size` items in order; the last may be shorter.

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def batched_by_weight(
    items: Iterable[T], size: int, weight: Callable[[T], int], most: int
) -> Iterator[list[T]]:
    """Yield lists as `batched` does, shorter ones where their weights come to `most`.

    >>> list(batched_by_weight(["a", "bbbb", "c", "d", "e"], 3, len, 4))
    [['a', 'bbbb'], ['c', 'd', 'e']]
    """
    batch: list[T] = []
    total = 0
    for item in items:
        batch.append(item)
        total += weight(item)
        if len(batch) >= size or total >= most:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
