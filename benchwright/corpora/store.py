"""A corpus as one sorted Parquet file and an index that finds a document by its id."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchwright.files.external_sort import ExternalSort, batched_by_weight
from benchwright.files.parquet import ParquetSink, rows_per_group_of
from benchwright.files.sources import sha256_of
from benchwright.formats.beir_writing import MetadataShape
from benchwright.ids import content_hash, id_problem
from benchwright.texts.images import IMAGE_KEY, digests_in

if TYPE_CHECKING:
    import polars as pl

    from benchwright.corpora.cuts import Cut
    from benchwright.errors import Problems
    from benchwright.formats.beir import CorpusRow

PARQUET_NAME = "corpus.parquet"
INDEX_NAME = "corpus.index.npy"
MAX_GROUP_ROWS = 10_000
# To show one document its whole row group is read: about this much text keeps that to milliseconds.
GROUP_BYTES = 4 << 20
# Rows are put into columns so many at a time, or fewer where their texts are long.
BATCH_ROWS = 5_000
BATCH_BYTES = 8 << 20
PROGRESS_EVERY = 5_000
TEXT_COLUMNS = ("docid", "title", "text", "metadata")

# Documents done, and of how many: None while the file is still being read.
Progress = Callable[[int, int | None], None]
UInt64s = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class CorpusSummary:
    """What was written; `sha256` and `n_bytes` are the Parquet file's.

    `n_given` and `n_kept` are of a cut: how many documents there were, and how many of those
    written had to stay. `n_parents` are the documents that the passages are of.
    """

    n_documents: int
    sha256: str
    parquet: Path
    index: Path
    n_bytes: int
    n_given: int
    n_kept: int = 0
    n_parents: int = 0
    metadata_kinds: dict[str, list[str]] = field(default_factory=dict)


# Of a row's metadata: the digests of its images, in order.


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as it was imported; `metadata_json` is the text of a JSON object.

    `parent` is the document that a passage is of, empty where it is none.
    """

    docid: str
    title: str
    text: str
    metadata_json: str
    parent: str = ""

    @property
    def metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = json.loads(self.metadata_json)
        return metadata

    @property
    def image_digests(self) -> list[str]:
        """The digests of its images, in order."""
        return digests_in(self.metadata) if IMAGE_KEY in self.metadata_json else []

    @property
    def content_hash(self) -> str:
        """Of what a person who judges it sees: title, text and images."""
        return content_hash(self.title, self.text, self.image_digests)


# Writing


def write_corpus(
    rows: Iterable[CorpusRow],
    *,
    directory: Path,
    problems: Problems,
    file: str,
    progress: Progress | None = None,
    cut: Cut | None = None,
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
    cut
        How many documents to keep, and which; all unless given.

    Raises
    ------
    FileProblemsError
        If an id comes twice or cannot be taken, passages and documents are mixed, there is no
        document, or `problems` holds any.

    Notes
    -----
    Memory: one part of 64 MB of text and what sorting it takes, then a block of each part; and
    24 bytes a document for the index, twice that of passages. Parts on disk are compressed.
    """
    directory.mkdir(parents=True, exist_ok=True)
    tell = progress or (lambda n_done, n_total: None)
    with TemporaryDirectory(dir=directory, prefix=".parts-") as folder:
        parts = Path(folder)
        documents = _Taken(ExternalSort(parts, by=["docid", "line"]), problems, file, cut)
        documents.take(rows, tell)
        written = _write_parquet(documents, parts / PARQUET_NAME, tell)
        if not documents.n_documents and not problems.found:
            problems.add(file, 0, "holds no document")
        problems.raise_found()
        _write_index(written, parts / INDEX_NAME)
        if written.parents is not None:
            _refuse_mixed_units(parts / PARQUET_NAME, parts / INDEX_NAME, problems, file)
        for name in (PARQUET_NAME, INDEX_NAME):
            (parts / name).replace(directory / name)
    return _summary(directory, documents, written)


# Nearly every id; the others are looked at one by one.
PLAIN_ID = r"\A[!-~]{1,512}\z"


class _Taken:
    """The documents while they come in: into columns, checked, and to the sort."""

    def __init__(self, sort: ExternalSort, problems: Problems, file: str, cut: Cut | None) -> None:
        self.sort = sort
        self.problems = problems
        self.file = file
        self.cut = cut
        self.shape = MetadataShape()
        self.n_documents = self.n_bytes = 0
        self.has_parents = False
        self.draws: list[UInt64s] = []

    @property
    def rows_per_group(self) -> int:
        """Rows whose texts make about 4 MiB, from the totals, so that any order gives the same."""
        mean = self.n_bytes / max(1, self.n_documents)
        return max(1, min(MAX_GROUP_ROWS, int(GROUP_BYTES / max(1.0, mean))))

    def take(self, rows: Iterable[CorpusRow], tell: Progress) -> None:
        n_told = 0
        largest = min(BATCH_ROWS, PROGRESS_EVERY)
        for batch in batched_by_weight(rows, largest, lambda row: len(row.text), BATCH_BYTES):
            frame = self._good(self._frame(batch))
            if len(frame):
                self._add(frame)
            if self.n_documents - n_told >= PROGRESS_EVERY:
                n_told = self.n_documents
                tell(n_told, None)

    def _frame(self, batch: list[CorpusRow]) -> pl.DataFrame:
        import polars as pl

        lines, docids, titles, texts, metadata, parents = zip(*batch, strict=True)
        columns = {
            "docid": docids,
            "line": lines,
            "title": titles,
            "text": texts,
            "metadata": [self._metadata(fields) if fields else "{}" for fields in metadata],
            "parent": parents,
        }
        schema = {name: pl.Int64() if name == "line" else pl.String() for name in columns}
        return pl.DataFrame(columns, schema=schema)

    def _metadata(self, fields: Mapping[str, Any]) -> str:
        self.shape.add(fields)
        return json.dumps(fields, ensure_ascii=False)

    def _good(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows whose ids can be taken, and tell of the others."""
        import polars as pl

        is_plain = frame.select(
            pl.col("docid").str.contains(PLAIN_ID)
            & ((pl.col("parent") == "") | pl.col("parent").str.contains(PLAIN_ID))
        ).to_series()
        if is_plain.all():
            return frame
        refused = {
            number
            for number, docid, line, parent in frame.select(
                pl.int_range(pl.len()), "docid", "line", "parent"
            )
            .filter(~is_plain)
            .iter_rows()
            if self._is_refused(docid, line, parent)
        }
        return frame.filter(pl.Series([number not in refused for number in range(len(frame))]))

    def _is_refused(self, docid: str, line: int, parent: str) -> bool:
        ids = [("document id", docid), *([("parent", parent)] if parent else [])]
        for what, text in ids:
            if reason := id_problem(text):
                self.problems.add(self.file, line, f"{what} {text[:60]!r}: {reason}")
                return True
        return False

    def _add(self, frame: pl.DataFrame) -> None:
        import polars as pl

        lengths = frame.select(
            pl.col("docid").str.len_bytes().cast(pl.Int64).sum(),
            *(pl.col(c).str.len_chars().cast(pl.Int64).sum() for c in TEXT_COLUMNS[1:]),
        )
        self.n_documents += len(frame)
        self.n_bytes += sum(lengths.row(0))
        self.has_parents = self.has_parents or bool((frame["parent"] != "").any())
        self.sort.add(frame if self.cut is None else self._drawn(frame, self.cut))

    def _drawn(self, frame: pl.DataFrame, cut: Cut) -> pl.DataFrame:
        """Return the rows with what decides whether they stay; 0 stands for one that must."""
        import polars as pl

        draws = np.fromiter((cut.draw(docid) for docid in frame["docid"]), np.uint64, len(frame))
        keep = cut.keep
        is_kept = [a in keep or b in keep for a, b in frame.select("docid", "parent").iter_rows()]
        self.draws.append(draws[~np.asarray(is_kept)])
        return frame.with_columns(
            pl.Series("draw", draws, dtype=pl.UInt64()), pl.Series("kept", is_kept)
        )

    def largest_draw(self) -> int | None:
        """The draw up to which a document stays, so that `max_docs` are written; None: none."""
        if self.cut is None or not self.draws:
            return None
        draws = np.concatenate(self.draws)
        n_wanted = min(self.cut.max_docs - (self.n_documents - len(draws)), len(draws))
        return int(np.partition(draws, n_wanted - 1)[n_wanted - 1]) if n_wanted > 0 else None


@dataclass(slots=True)
class _Written:
    """Of the documents written, in their order: the hash of each id, and of each parent's."""

    docids: UInt64s
    parents: UInt64s | None
    n_kept: int = 0


def _write_parquet(documents: _Taken, path: Path, tell: Progress) -> _Written:
    import polars as pl

    columns = [*TEXT_COLUMNS, *(["parent"] if documents.has_parents else [])]
    schema = dict.fromkeys(columns, pl.String())
    most = documents.largest_draw()
    n_most = documents.n_documents
    docids = np.empty(n_most, np.uint64)
    parents = np.empty(n_most if documents.has_parents else 0, np.uint64)
    n_done = n_kept = 0
    with ParquetSink(path, schema=schema, rows_per_group=documents.rows_per_group) as sink:
        for merged in documents.sort.merged():
            frame = _without_repeated(merged, documents.problems, documents.file)
            if documents.cut is not None:
                n_kept += int(frame["kept"].sum())
                drawn = pl.lit(value=False) if most is None else pl.col("draw") <= most
                frame = frame.filter(pl.col("kept") | drawn)
            docids[n_done : n_done + len(frame)] = _hashes_of(frame["docid"])
            if documents.has_parents:
                parents[n_done : n_done + len(frame)] = _hashes_of(frame["parent"])
            sink.write(frame.select(columns))
            n_done += len(frame)
            tell(n_done, documents.n_documents)
    return _Written(docids[:n_done], parents[:n_done] if documents.has_parents else None, n_kept)


def _without_repeated(frame: pl.DataFrame, problems: Problems, file: str) -> pl.DataFrame:
    """Return the first row of each id; equal ids are neighbours, and in one frame."""
    import polars as pl

    is_repeated = frame.select(pl.col("docid") == pl.col("docid").shift(1)).to_series()
    if not is_repeated.any():
        return frame
    first_line = pl.col("line").first().over("docid").alias("first")
    repeated = frame.select("docid", "line", first_line).filter(is_repeated)
    for docid, line, first in repeated.iter_rows():
        text = f"document {docid} was on line {first} already; keep one of them"
        problems.add(file, line, text)
    return frame.filter(~is_repeated.fill_null(value=False))


def _hashes_of(ids: pl.Series) -> UInt64s:
    return _hashes(text.encode() for text in ids)


def _hashes(docids: Iterable[bytes]) -> UInt64s:
    """Return 64 bits of BLAKE2b of each id: not to be trusted alone, an id confirms it."""
    digests = b"".join([blake2b(docid, digest_size=8).digest() for docid in docids])
    return np.frombuffer(digests, "<u8").astype(np.uint64, copy=False)


def _write_index(written: _Written, path: Path) -> None:
    """Write two rows, the hashes sorted and the row number each belongs to; two more of parents."""
    tables = [written.docids] if written.parents is None else [written.docids, written.parents]
    shape = (2 * len(tables), len(written.docids))
    index = np.lib.format.open_memmap(path, "w+", np.uint64, shape)
    for number, hashes in enumerate(tables):
        order = np.argsort(hashes, kind="stable")
        index[2 * number] = hashes[order]
        index[2 * number + 1] = order
    index.flush()


def _refuse_mixed_units(parquet: Path, index: Path, problems: Problems, file: str) -> None:
    """Refuse a corpus in which the document of some passage is itself a row."""
    reader = CorpusReader(parquet, index)
    both = np.intersect1d(reader.hashes(PARENTS), reader.hashes(DOCIDS))
    for docid in reader.ids_with(both):
        passages = reader.passages([docid]).get(docid, [])
        if passages:
            problem = (
                f"'{docid}' is a document of its own and also the parent of passage "
                f"'{passages[0].docid}': passages and documents are mixed. Keep one of the units."
            )
            problems.add(file, 0, problem)
            break
    problems.raise_found()


def _summary(directory: Path, documents: _Taken, written: _Written) -> CorpusSummary:
    parquet = directory / PARQUET_NAME
    return CorpusSummary(
        n_documents=len(written.docids),
        sha256=sha256_of(parquet),
        parquet=parquet,
        index=directory / INDEX_NAME,
        n_bytes=parquet.stat().st_size,
        n_given=documents.n_documents,
        n_kept=written.n_kept,
        n_parents=0 if written.parents is None else len(np.unique(written.parents)),
        metadata_kinds={key: sorted(kinds) for key, kinds in documents.shape.kinds.items()},
    )


# Reading


# Which half of the index: ids of the documents themselves, or of those that passages are of.
DOCIDS, PARENTS = 0, 1
# Of more ids than this, reading two columns whole is quicker than looking each of them up.
FEW = 2_000
# Documents put together of their passages in one go.
DOCUMENTS_AT_ONCE = 2_000
DIGITS = re.compile(r"(\d+)")


class CorpusReader:
    """Finds documents by id in milliseconds: only the row groups that hold them are read."""

    def __init__(self, parquet: Path, index: Path) -> None:
        self.parquet = parquet
        self._index: UInt64s = np.load(index, mmap_mode="r")
        self._rows_per_group: int | None = None

    @property
    def n_documents(self) -> int:
        return int(self._index.shape[1])

    @property
    def has_parents(self) -> bool:
        """Whether its rows are passages that name their document."""
        return int(self._index.shape[0]) == 4

    def get(self, docids: Iterable[str]) -> dict[str, StoredDocument]:
        """Return the documents that the corpus has of these, by id, in no particular order."""
        frames = self._frames_with(set(docids), self._columns())
        return {row[0]: StoredDocument(*row) for frame in frames for row in frame.iter_rows()}

    def passages(self, parents: Iterable[str]) -> dict[str, list[StoredDocument]]:
        """Return the passages of these documents, by document, in the natural order of their ids.

        In natural order numbers count as numbers: `d#2` comes before `d#10`.
        """
        if not self.has_parents:
            return {}
        passages: dict[str, list[StoredDocument]] = {}
        for frame in self._frames_with(set(parents), self._columns(), PARENTS):
            for row in frame.iter_rows():
                passages.setdefault(row[4], []).append(StoredDocument(*row))
        return {
            parent: sorted(rows, key=lambda row: natural_key(row.docid))
            for parent, rows in passages.items()
        }

    def documents(self, parents: Iterable[str]) -> dict[str, StoredDocument]:
        """Return the documents that passages are of, put together of them in their order."""
        return {parent: _whole(parent, rows) for parent, rows in self.passages(parents).items()}

    def missing(self, docids: Iterable[str]) -> set[str]:
        """Return the ids that the corpus does not have."""
        return self._missing(set(docids), DOCIDS)

    def missing_parents(self, parents: Iterable[str]) -> set[str]:
        """Return the ids that are no passage's document."""
        return self._missing(set(parents), PARENTS) if self.has_parents else set(parents)

    def parents_of(self, passages: Iterable[str]) -> dict[str, str]:
        """Return the document of each passage that the corpus has."""
        if not self.has_parents:
            return {}
        return dict(self._pairs(set(passages), DOCIDS))

    def first_passages(self, parents: Iterable[str]) -> set[str]:
        """Return the first passage, in the natural order of ids, of each of these documents."""
        firsts: dict[str, str] = {}
        if self.has_parents:
            for docid, parent in self._pairs(set(parents), PARENTS):
                first = firsts.get(parent)
                if first is None or natural_key(docid) < natural_key(first):
                    firsts[parent] = docid
        return set(firsts.values())

    def _pairs(self, docids: set[str], which: int) -> Iterator[tuple[str, str]]:
        """Yield passage and document, for the wanted of either."""
        import polars as pl

        if len(docids) <= FEW:
            for frame in self._frames_with(docids, ["docid", "parent"], which):
                yield from frame.iter_rows()
            return
        key = ("docid", "parent")[which]
        among = pl.LazyFrame({key: sorted(docids)}, schema={key: pl.String()})
        pairs = pl.scan_parquet(self.parquet).select("docid", "parent")
        yield from pairs.join(among, on=key, how="semi").collect(engine="streaming").iter_rows()

    def iterate(self) -> Iterator[StoredDocument]:
        """Yield every document, sorted by the bytes of its id, a row group in memory."""
        for frame in self.frames(self._columns()):
            for row in frame.iter_rows():
                yield StoredDocument(*row)

    def between(self, start: int, stop: int) -> Iterator[StoredDocument]:
        """Yield the documents at the places from `start` to before `stop`, a group at a time."""
        step, columns = self._group_rows(), self._columns()
        for first in range(start, min(stop, self.n_documents), step):
            for row in self._slice(first, min(step, stop - first), columns).iter_rows():
                yield StoredDocument(*row)

    def iterate_documents(self) -> Iterator[StoredDocument]:
        """Yield the documents that the passages are of, by the bytes of their ids."""
        import polars as pl

        column = pl.scan_parquet(self.parquet).select(pl.col("parent").unique().sort())
        parents = column.collect(engine="streaming")["parent"]
        for start in range(0, len(parents), DOCUMENTS_AT_ONCE):
            some = parents[start : start + DOCUMENTS_AT_ONCE].to_list()
            documents = self.documents(some)
            yield from (documents[parent] for parent in some)

    def frames(self, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
        """Yield the rows as columns, a row group at a time."""
        step, names = self._group_rows(), columns or self._columns()
        for start in range(0, self.n_documents, step):
            yield self._slice(start, step, names)

    def at(self, rows: Iterable[int]) -> list[StoredDocument]:
        """Return the documents at these places of the order."""
        documents = []
        for row in sorted(set(rows)):
            documents += [
                StoredDocument(*cells) for cells in self._slice(row, 1, self._columns()).rows()
            ]
        return documents

    def hashes(self, which: int) -> UInt64s:
        """Return the sorted hashes of one half of the index."""
        hashes: UInt64s = self._index[2 * which]
        return hashes

    def ids_with(self, hashes: Iterable[int]) -> list[str]:
        """Return the ids of the documents with these hashes, sorted."""
        hash_array = np.asarray(list(hashes), np.uint64)
        at = np.searchsorted(self._index[0], hash_array, "left")
        rows = self._index[1, at].astype(np.int64).tolist()
        return sorted(self._slice(row, 1, ["docid"]).item() for row in rows)

    def _missing(self, docids: set[str], which: int) -> set[str]:
        column = ("docid", "parent")[which]
        missing = set(docids)
        for frame in self._frames_with(docids, [column], which):
            missing.difference_update(frame[column])
        return missing

    def _columns(self) -> list[str]:
        return [*TEXT_COLUMNS, *(["parent"] if self.has_parents else [])]

    def _frames_with(
        self, docids: set[str], columns: list[str], which: int = DOCIDS
    ) -> Iterator[pl.DataFrame]:
        """Yield, a row group at a time, the rows whose id, or whose parent's, is wanted."""
        import polars as pl

        rows = self._candidate_rows(docids, which)
        if not len(rows):
            return
        key = ("docid", "parent")[which]
        groups = rows // self._group_rows()
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        for part in np.split(rows, starts[1:]):
            first = int(part[0])
            frame = self._slice(first, int(part[-1]) - first + 1, columns)[(part - first).tolist()]
            yield frame.filter(pl.Series([text in docids for text in frame[key]]))

    def _candidate_rows(self, docids: set[str], which: int) -> npt.NDArray[np.int64]:
        """Return the numbers, ascending, of the rows whose id has the hash of a wanted one."""
        # An id that UTF-8 cannot write is in no corpus; "replace" keeps it from stopping us.
        hashes = np.sort(_hashes(docid.encode(errors="replace") for docid in docids))
        stored, numbers = self._index[2 * which], self._index[2 * which + 1]
        first = np.searchsorted(stored, hashes, "left")
        after = np.searchsorted(stored, hashes, "right")
        n_found = after - first
        # Two ids of one hash stand side by side, and both are candidates.
        within = np.arange(n_found.sum()) - np.repeat(np.cumsum(n_found) - n_found, n_found)
        return np.unique(numbers[np.repeat(first, n_found) + within].astype(np.int64))

    def _slice(self, start: int, length: int, columns: list[str]) -> pl.DataFrame:
        import polars as pl

        return pl.scan_parquet(self.parquet).select(columns).slice(start, length).collect()

    def _group_rows(self) -> int:
        """Return the rows of a row group, found out once: all but the last have as many."""
        if self._rows_per_group is None:
            self._rows_per_group = rows_per_group_of(self.parquet)
        return self._rows_per_group


def natural_key(docid: str) -> tuple[tuple[bool, int, str], ...]:
    """Return what sorts ids as people number them, and then by their characters.

    >>> sorted(["d#10", "d#9", "d#b"], key=natural_key)
    ['d#9', 'd#10', 'd#b']
    """
    pieces = DIGITS.split(docid)
    key = [(piece.isdecimal(), int(piece) if piece.isdecimal() else 0, piece) for piece in pieces]
    return (*key, (False, 0, docid))


def _whole(parent: str, passages: list[StoredDocument]) -> StoredDocument:
    """The document that these passages are of: their common title, their texts in order."""
    titles = list(dict.fromkeys(passage.title for passage in passages))
    text = "\n\n".join(passage.text for passage in passages)
    return StoredDocument(parent, titles[0] if len(titles) == 1 else "", text, "{}")
