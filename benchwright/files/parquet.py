"""Parquet written batch by batch. polars is imported inside functions only: a forked worker that
inherits an imported polars hangs.
"""

from __future__ import annotations

import queue
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    import polars as pl

WAITING_BATCHES = 2
POLL_SECONDS = 0.2
GROUP_KEY = "rows_per_group"


class ParquetSink:
    """A Parquet file that takes frames one at a time and holds few of them in memory.

    Equal rows give equal bytes, however they were cut into frames. Used as a context manager:
    leaving it well finishes the file, leaving it by an error removes it.

    polars asks for frames on a thread of its own, so that whoever calls `write` stays on theirs:
    progress is told, and problems are raised, where the caller's database connection is. A single
    frame needs none.
    """

    def __init__(
        self,
        path: Path,
        *,
        schema: dict[str, Any],
        rows_per_group: int,
        has_statistics: bool = False,
    ) -> None:
        self.path = path
        self.schema = schema
        self.rows_per_group = rows_per_group
        self.has_statistics = has_statistics
        self._frames: queue.Queue[pl.DataFrame | None] = queue.Queue(WAITING_BATCHES)
        self._first: pl.DataFrame | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="parquet-sink", daemon=True)

    def __enter__(self) -> Self:
        return self

    def write(self, frame: pl.DataFrame) -> None:
        """Append the rows of a frame, which has the sink's schema."""
        if self._thread.ident is None and self._first is None:
            self._first = frame
            return
        if self._first is not None:
            self._thread.start()
            self._put(self._first)
            self._first = None
        self._put(frame)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import polars as pl

        try:
            if self._thread.ident is not None:
                self._put(None)
            elif error is None:
                self._run(pl.DataFrame(schema=self.schema) if self._first is None else self._first)
        finally:
            if self._thread.ident is not None:
                self._thread.join()
            if error is not None or self._error is not None:
                self.path.unlink(missing_ok=True)
        self._raise_own(unless=error)

    def _put(self, frame: pl.DataFrame | None) -> None:
        while self._thread.is_alive():
            try:
                return self._frames.put(frame, timeout=POLL_SECONDS)
            except queue.Full:
                continue  # the disk is slower than we are: look again whether it still writes
        return self._raise_own(unless=None)

    def _raise_own(self, *, unless: BaseException | None) -> None:
        if self._error is not None and unless is None:
            raise self._error

    def _run(self, frame: pl.DataFrame | None = None) -> None:
        from polars.io.plugins import register_io_source

        try:
            batches = register_io_source(self._batches, schema=self.schema)
            (batches if frame is None else frame.lazy()).sink_parquet(
                self.path,
                compression="zstd",
                row_group_size=self.rows_per_group,
                # Smallest and largest values let a filter pass over row groups. Those of long texts
                # would make the footer, which every read of one row begins with, several times as
                # long.
                statistics=self.has_statistics,
                maintain_order=True,
                metadata={GROUP_KEY: str(self.rows_per_group)},
            )
        except BaseException as error:  # noqa: BLE001 - handed over to the writing thread
            self._error = error

    def _batches(
        self,
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        while (frame := self._frames.get()) is not None:
            yield frame


def rows_per_group_of(path: Path) -> int:
    """Return how many rows each row group but the last has, as `ParquetSink` noted it."""
    import polars as pl

    return int(pl.read_parquet_metadata(path)[GROUP_KEY])
