"""What of an uploaded run is taken: ids that can be, queries that the benchmark has, to a depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.errors import NOTHING_NEW, BenchmarkError, News, Problems
from benchwright.files.sources import Readable
from benchwright.formats.mapped import ResultRow
from benchwright.formats.trec import read_run
from benchwright.ids import some_ids
from benchwright.runs.blocks import run_frames, taken_id
from benchwright.runs.store import Progress, RunSummary, StoredRow, write_run, write_run_frames

if TYPE_CHECKING:
    import polars as pl


class EmptyRunError(BenchmarkError, code="run-empty"):
    message = (
        "{file} ranks no document. A run has a line for each document: qid Q0 docid rank score tag."
    )


class NoCommonQueryError(BenchmarkError, code="run-no-common-query"):
    message = (
        "{file} and the benchmark share no query id. The run has {run_ids}; the benchmark has "
        "{benchmark_ids}."
    )


@dataclass(frozen=True)
class Terms:
    """What is taken of a run, and where it is written.

    `allowed` are the queries that the benchmark has, `max_depth` is how many documents of one are
    taken; `ties` is the benchmark's rule.
    """

    file: str
    folder: Path
    ties: str
    allowed: set[str] | None = None
    max_depth: int | None = None


@dataclass(frozen=True)
class Taken:
    """A run that was written: of other queries `extra`, with what was found wrong in its file."""

    summary: RunSummary
    extra: set[str]
    news: News = NOTHING_NEW
    # What the file says of its system in comments.
    metadata: dict[str, Any] = field(default_factory=dict)

    def refuse_empty(self, terms: Terms) -> None:
        """Refuse a run of which nothing is left; raises NoCommonQueryError or EmptyRunError."""
        if self.summary.n_rows:
            return
        if not self.extra:
            raise EmptyRunError(file=terms.file)
        raise NoCommonQueryError(
            file=terms.file,
            run_ids=some_ids(self.extra),
            benchmark_ids=some_ids(terms.allowed or ()) or "none yet",
        )


@dataclass(frozen=True)
class Intake:
    """Writes what comes in as Parquet, without queries that the benchmark has not.

    `seen_extra` are those; of one source only one method is called.
    """

    terms: Terms
    problems: Problems
    progress: Progress | None
    seen_extra: set[str] = field(default_factory=set)

    def of_stream(self, stream: Readable) -> RunSummary:
        """Write a TREC run that is read in blocks."""
        frames = run_frames(stream, file=self.terms.file, problems=self.problems)
        usable = _usable_frames(frames, self.terms.allowed, self.seen_extra)
        return write_run_frames(usable, **self._written())

    def of_lines(self, lines: Iterable[bytes]) -> RunSummary:
        """Write a TREC run that is read line by line."""
        return self._of(
            _usable_rows(lines, self.terms.file, self.problems, self.terms.allowed, self.seen_extra)
        )

    def of_rows(self, rows: Iterable[StoredRow | ResultRow]) -> RunSummary:
        """Write rows that have been read already."""
        return self._of(_wanted(rows, self.terms.allowed, self.seen_extra))

    def _of(self, rows: Iterable[StoredRow | ResultRow]) -> RunSummary:
        return write_run(rows, **self._written())

    def _written(self) -> dict[str, Any]:
        return {
            "directory": self.terms.folder,
            "problems": self.problems,
            "file": self.terms.file,
            "progress": self.progress,
            "ties": self.terms.ties,
            "max_depth": self.terms.max_depth,
        }


def _usable_frames(
    frames: Iterable[pl.DataFrame], allowed: set[str] | None, seen_extra: set[str]
) -> Iterator[pl.DataFrame]:
    """The rows of queries that the benchmark has."""
    import polars as pl

    for frame in frames:
        extra = set(frame["qid"].unique()) - allowed if allowed is not None else ()
        seen_extra.update(extra)
        yield frame.filter(~pl.col("qid").is_in(list(extra))) if extra else frame


def _wanted(
    rows: Iterable[StoredRow | ResultRow], allowed: set[str] | None, seen_extra: set[str]
) -> Iterator[StoredRow | ResultRow]:
    for row in rows:
        if allowed is None or row.qid in allowed:
            yield row
        else:
            seen_extra.add(row.qid)


def _usable_rows(
    lines: Iterable[bytes],
    file: str,
    problems: Problems,
    allowed: set[str] | None,
    seen_extra: set[str],
) -> Iterator[StoredRow]:
    """Rows with ids the server takes, of queries the benchmark has."""
    qid_of: dict[bytes, str | None] = {}
    for row in read_run(lines, file=file, problems=problems):
        if row.qid not in qid_of:
            qid_of[row.qid] = taken_id(row.qid, "query id", row.line, file, problems)
        qid = qid_of[row.qid]
        if qid is None:
            continue
        if allowed is not None and qid not in allowed:
            seen_extra.add(qid)
            continue
        docid = taken_id(row.docid, "document id", row.line, file, problems)
        if docid is not None:
            yield StoredRow(row.line, qid, docid, row.score)
