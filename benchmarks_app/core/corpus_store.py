"""A corpus as one sorted Parquet file and an index that finds a document by its id."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks_app.core.external_sort import ExternalSort, Record
from benchmarks_app.core.formats.sources import sha256_of
from benchmarks_app.core.ids import id_problem
from benchmarks_app.core.parquet import ParquetSink, rows_per_group_of

if TYPE_CHECKING:
    import polars as pl

    from benchmarks_app.core.formats.beir import CorpusRow
    from benchmarks_app.core.problems import Problems

PARQUET_NAME = "corpus.parquet"
INDEX_NAME = "corpus.index.npy"
MAX_GROUP_ROWS = 10_000
# To show one document its whole row group is read: about this much text keeps that to milliseconds.
GROUP_BYTES = 4 << 20
BATCH_BYTES = 8 << 20
PROGRESS_EVERY = 5_000

# Documents done, and of how many: None while the file is still being read.
Progress = Callable[[int, int | None], None]
UInt64s = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class CorpusSummary:
    """What was written; `sha256` and `n_bytes` are the Parquet file's."""

    n_documents: int
    sha256: str
    parquet: Path
    index: Path
    n_bytes: int


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as it was imported; `metadata_json` is the text of a JSON object."""

    docid: str
    title: str
    text: str
    metadata_json: str

    @property
    def metadata(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.metadata_json)
        return found


# Writing


def write_corpus(
    rows: Iterable[CorpusRow],
    *,
    directory: Path,
    problems: Problems,
    file: str,
    progress: Progress | None = None,
) -> CorpusSummary:
    """Write the documents, sorted by the bytes of their ids, as Parquet with an index.

    Parameters
    ----------
    rows
        In any order, read once; equal documents in another order give the same bytes.
    directory
        Where `corpus.parquet` and `corpus.index.npy` go; nothing is left there after an error.
    problems
        Whatever reading the rows collects here is raised at the end, with the duplicate ids.
    progress
        Called on the caller's thread every few thousand documents: `(read, None)` while the rows
        are read, then `(written, total)`.

    Raises
    ------
    FileProblemsError
        If an id comes twice or cannot be taken, there is no document, or `problems` holds any.

    Notes
    -----
    Memory: one part of 64 MB of text, then a block of each part; and 24 bytes a document for
    the index. Parts on disk take as much as the texts.
    """
    directory.mkdir(parents=True, exist_ok=True)
    tell = progress or (lambda n_done, n_total: None)
    with TemporaryDirectory(dir=directory, prefix=".parts-") as folder:
        parts = Path(folder)
        sort = ExternalSort(parts, size_of=_text_bytes)
        totals = _add_all(rows, sort, problems, file, tell)
        unique = _unique(sort.merged(), problems, file)
        hashes = _write_parquet(unique, parts / PARQUET_NAME, totals, tell)
        if not totals.n_documents and not problems.found:
            problems.add(file, 0, "holds no document")
        problems.raise_found()
        _write_index(hashes, parts / INDEX_NAME)
        for name in (PARQUET_NAME, INDEX_NAME):
            (parts / name).replace(directory / name)
    return _summary(directory, totals.n_documents)


@dataclass(slots=True)
class _Totals:
    n_documents: int = 0
    n_bytes: int = 0

    @property
    def rows_per_group(self) -> int:
        """Rows whose texts make about 4 MiB, from the totals, so that any order gives the same."""
        mean = self.n_bytes / max(1, self.n_documents)
        return max(1, min(MAX_GROUP_ROWS, int(GROUP_BYTES / max(1.0, mean))))


def _text_bytes(record: Record) -> int:
    docid, _, title, text, metadata = record
    return len(docid) + len(title) + len(text) + len(metadata)


def _add_all(
    rows: Iterable[CorpusRow], sort: ExternalSort, problems: Problems, file: str, tell: Progress
) -> _Totals:
    totals = _Totals()
    for row in rows:
        reason = id_problem(row.docid)
        if reason:
            problems.add(file, row.line, f"document id {row.docid[:60]!r}: {reason}")
            continue
        record = _record(row)
        sort.add(record)
        totals.n_documents += 1
        totals.n_bytes += _text_bytes(record)
        if totals.n_documents % PROGRESS_EVERY == 0:
            tell(totals.n_documents, None)
    return totals


def _record(row: CorpusRow) -> Record:
    metadata = json.dumps(row.metadata, ensure_ascii=False) if row.metadata else "{}"
    return row.docid.encode(), row.line, row.title, row.text, metadata


def _unique(records: Iterator[Record], problems: Problems, file: str) -> Iterator[Record]:
    """Yield the records whose id was not there before; equal ids are neighbours."""
    last_id, first_line = None, 0
    for record in records:
        docid, line = record[:2]
        if docid == last_id:
            text = f"document {docid.decode()} was on line {first_line} already; keep one of them"
            problems.add(file, line, text)
            continue
        last_id, first_line = docid, line
        yield record


def _write_parquet(
    records: Iterator[Record], path: Path, totals: _Totals, tell: Progress
) -> UInt64s:
    """Write the records and return the hash of each id, in their order."""
    import polars as pl

    schema = dict.fromkeys(("docid", "title", "text", "metadata"), pl.String())
    hashes = np.empty(totals.n_documents, np.uint64)
    n_done = 0
    with ParquetSink(path, schema=schema, rows_per_group=totals.rows_per_group) as sink:
        for batch in _batches(records):
            docids, _, titles, texts, metadata = zip(*batch, strict=True)
            decoded = [docid.decode() for docid in docids]
            columns = {"docid": decoded, "title": titles, "text": texts, "metadata": metadata}
            hashes[n_done : n_done + len(batch)] = _hashes(docids)
            sink.write(pl.DataFrame(columns, schema=schema))
            n_done += len(batch)
            tell(n_done, totals.n_documents)
    return hashes[:n_done]


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0
    for record in records:
        batch.append(record)
        size += _text_bytes(record)
        if size >= BATCH_BYTES or len(batch) >= MAX_GROUP_ROWS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _hashes(docids: Iterable[bytes]) -> UInt64s:
    """Return 64 bits of BLAKE2b of each id: not to be trusted alone, an id confirms it."""
    digests = b"".join(blake2b(docid, digest_size=8).digest() for docid in docids)
    return np.frombuffer(digests, "<u8").astype(np.uint64, copy=False)


def _write_index(hashes: UInt64s, path: Path) -> None:
    """Write two rows, the hashes sorted and the row number each belongs to."""
    order = np.argsort(hashes, kind="stable")
    index = np.lib.format.open_memmap(path, "w+", np.uint64, (2, len(hashes)))
    index[0] = hashes[order]
    index[1] = order
    index.flush()


def _summary(directory: Path, n_documents: int) -> CorpusSummary:
    parquet = directory / PARQUET_NAME
    return CorpusSummary(
        n_documents=n_documents,
        sha256=sha256_of(parquet),
        parquet=parquet,
        index=directory / INDEX_NAME,
        n_bytes=parquet.stat().st_size,
    )


# Reading


class CorpusReader:
    """Finds documents by id in milliseconds: only the row groups that hold them are read."""

    def __init__(self, parquet: Path, index: Path) -> None:
        self.parquet = parquet
        self._index: UInt64s = np.load(index, mmap_mode="r")
        self._rows_per_group: int | None = None

    @property
    def n_documents(self) -> int:
        return int(self._index.shape[1])

    def get(self, docids: Iterable[str]) -> dict[str, StoredDocument]:
        """Return the documents that the corpus has of these, by id, in no particular order."""
        wanted = set(docids)
        frames = self._frames_with(wanted, ["docid", "title", "text", "metadata"])
        return {row[0]: StoredDocument(*row) for frame in frames for row in frame.iter_rows()}

    def missing(self, docids: Iterable[str]) -> set[str]:
        """Return the ids that the corpus does not have."""
        wanted = set(docids)
        missing = set(wanted)
        for frame in self._frames_with(wanted, ["docid"]):
            missing.difference_update(frame["docid"])
        return missing

    def iterate(self) -> Iterator[StoredDocument]:
        """Yield every document, sorted by the bytes of its id, a row group in memory."""
        step = self._group_rows()
        columns = ["docid", "title", "text", "metadata"]
        for start in range(0, self.n_documents, step):
            for row in self._slice(start, step, columns).iter_rows():
                yield StoredDocument(*row)

    def _frames_with(self, wanted: set[str], columns: list[str]) -> Iterator[pl.DataFrame]:
        """Yield, a row group at a time, the rows whose id is wanted."""
        import polars as pl

        rows = self._candidate_rows(wanted)
        if not len(rows):
            return
        groups = rows // self._group_rows()
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        for part in np.split(rows, starts[1:]):
            first = int(part[0])
            frame = self._slice(first, int(part[-1]) - first + 1, columns)[(part - first).tolist()]
            yield frame.filter(pl.Series([docid in wanted for docid in frame["docid"]]))

    def _candidate_rows(self, wanted: set[str]) -> npt.NDArray[np.int64]:
        """Return the numbers, ascending, of the rows whose id has the hash of a wanted one."""
        # An id that UTF-8 cannot write is in no corpus; "replace" keeps it from stopping us.
        hashes = np.sort(_hashes(docid.encode(errors="replace") for docid in wanted))
        first = np.searchsorted(self._index[0], hashes, "left")
        after = np.searchsorted(self._index[0], hashes, "right")
        n_found = after - first
        # Two ids of one hash stand side by side, and both are candidates.
        within = np.arange(n_found.sum()) - np.repeat(np.cumsum(n_found) - n_found, n_found)
        return np.unique(self._index[1, np.repeat(first, n_found) + within].astype(np.int64))

    def _slice(self, start: int, length: int, columns: list[str]) -> pl.DataFrame:
        import polars as pl

        return pl.scan_parquet(self.parquet).select(columns).slice(start, length).collect()

    def _group_rows(self) -> int:
        """Return the rows of a row group, found out once: all but the last have as many."""
        if self._rows_per_group is None:
            self._rows_per_group = rows_per_group_of(self.parquet)
        return self._rows_per_group
