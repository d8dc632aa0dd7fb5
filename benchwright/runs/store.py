"""A run as one Parquet file, ranked by the one rule, and what is read of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from benchwright.errors import BenchmarkError
from benchwright.files.external_sort import batched
from benchwright.files.parquet import ParquetSink
from benchwright.files.sources import sha256_of
from benchwright.ids import id_problem, sorted_ids

if TYPE_CHECKING:
    import polars as pl

    from benchwright.errors import Problems

PARQUET_NAME = "run.parquet"
PART_ROWS = 200_000
# Rows ranked at once; a query of more rows than this is ranked in one piece all the same.
BUCKET_ROWS = 300_000
GROUP_ROWS = 50_000
FRAME_ROWS = 50_000
TIES_SHOWN_WITHIN = 10
# A Parquet file of fewer bytes is joined with grades in memory, in half the time.
SMALL_BYTES = 1 << 20

# Line, query id, document id, score, as `StoredRow`; a reader's own row type may have more fields.
RunLine = tuple[Any, ...]
# Rows done, and of how many: None while the file is still being read.
Progress = Callable[[int, int | None], None]
Hits = dict[str, tuple[int, list[tuple[int, int]]]]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What was written; `depth` is the most documents of any query, `sha256` the Parquet's."""

    n_rows: int
    n_queries: int
    depth: int
    sha256: str
    parquet: Path
    warnings: tuple[str, ...]


class RunTooDeepError(BenchmarkError, code="run-too-deep"):
    message = (
        "{file} ranks more than {limit:,} documents for query '{query}', which this site does not "
        "take (RUN_MAX_DEPTH). Cut the ranking of each query."
    )


class StoredRow(NamedTuple):
    """One result of a run and the line it stands on."""

    line: int
    qid: str
    docid: str
    score: float


class RankedRow(NamedTuple):
    """What a run has at a rank of a query, from 1."""

    qid: str
    docid: str
    rank: int


# Writing


def write_run(
    rows: Iterable[RunLine],
    *,
    directory: Path,
    problems: Problems,
    file: str,
    progress: Progress | None = None,
    ties: str = "trec",
    max_depth: int | None = None,
) -> RunSummary:
    """Write a run as Parquet: qid, docid, score, rank; by query id bytes, then rank.

    Parameters
    ----------
    rows
        `(line, qid, docid, score, …)` in any order, queries interleaved or not; ids as text or as
        bytes of UTF-8.
    directory
        Where `run.parquet` goes; nothing is left there after an error.
    problems
        Whatever reading the rows collects here is raised at the end, with what is found here.
    progress
        Called on the caller's thread: `(read, None)` while the rows are read, `(written, total)`.
    ties
        `trec9` compares scores as 32-bit floats, as trec_eval did up to 9; `trec` as doubles.
    max_depth
        How many documents a query may have; None: any number.

    Raises
    ------
    FileProblemsError
        If a document comes twice in a query, an id cannot be taken, a score is NaN, or `problems`
        holds any. A run without rows is no error here: its summary says 0.
    RunTooDeepError
        If a query has more than `max_depth` documents, soon after it had.

    Notes
    -----
    Rank 1 is the highest score as a double; equal scores go by document id, bytes descending, as
    trec_eval 10 orders them. Memory: one part of 200,000 rows, then a bucket of 300,000
    rows or the longest query, and a count for each query.
    """
    frames = _framed(_checked(rows, problems, file))
    return write_run_frames(
        frames,
        directory=directory,
        problems=problems,
        file=file,
        progress=progress,
        ties=ties,
        max_depth=max_depth,
    )


def write_run_frames(
    frames: Iterable[pl.DataFrame],
    *,
    directory: Path,
    problems: Problems,
    file: str,
    progress: Progress | None = None,
    ties: str = "trec",
    max_depth: int | None = None,
) -> RunSummary:
    """Write a run of which line, qid, docid, score come as frames; ids and scores are good ones.

    All else as `write_run`.
    """
    directory.mkdir(parents=True, exist_ok=True)
    tell = progress or (lambda n_done, n_total: None)
    with TemporaryDirectory(dir=directory, prefix=".parts-") as folder:
        parts = _Parts(Path(folder))
        for frame in frames:
            parts.add(frame)
            if max_depth:
                parts.refuse_deeper(max_depth, file)
            tell(parts.n_rows, None)
        path = Path(folder) / PARQUET_NAME
        notes = _write_ranked(parts, path, problems, file, tell, ties)
        problems.raise_found()
        (Path(folder) / PARQUET_NAME).replace(directory / PARQUET_NAME)
    return _summary(directory / PARQUET_NAME, parts, notes)


def _framed(rows: Iterable[StoredRow]) -> Iterator[pl.DataFrame]:
    import polars as pl

    for batch in batched(rows, FRAME_ROWS):
        yield pl.DataFrame(batch, schema=_schema(), orient="row")


def _checked(rows: Iterable[RunLine], problems: Problems, file: str) -> Iterator[StoredRow]:
    """Yield the rows whose ids and score can be taken."""
    last_given, qid = None, ""
    for row in rows:
        line, query, document, score = row[:4]
        if query != last_given:  # most files have a query's rows together: check its id once
            last_given, qid = query, _taken(query, "query", line, problems, file) or ""
        docid = _taken(document, "document", line, problems, file)
        if isnan(score):
            problems.add(file, line, "score is NaN; expected a number, or leave the line out")
        elif qid and docid:
            yield StoredRow(line, qid, docid, float(score))


def _taken(value: str | bytes, kind: str, line: int, problems: Problems, file: str) -> str | None:
    """Return an id as text, or None with what is wrong told."""
    text = value if isinstance(value, str) else value.decode(errors="surrogateescape")
    reason = id_problem(text)
    if reason:
        problems.add(file, line, f"{kind} id {text[:60]!r}: {reason}")
        return None
    return text


def _schema() -> dict[str, Any]:
    import polars as pl

    return {"line": pl.Int64(), "qid": pl.String(), "docid": pl.String(), "score": pl.Float64()}


class _Parts:
    """Rows on disk in files that are each sorted by query, and how many each query has."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self.n_rows = 0
        self._paths: list[Path] = []
        self._waiting: list[pl.DataFrame] = []
        self._n_waiting = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Take the next rows."""
        if not len(frame):
            return
        self._waiting.append(frame)
        for qid, n in frame["qid"].value_counts().iter_rows():
            self.counts[qid] += n
        self.n_rows += len(frame)
        self._n_waiting += len(frame)
        if self._n_waiting >= PART_ROWS:
            self._spill()

    def refuse_deeper(self, limit: int, file: str) -> None:
        for qid, n in self.counts.most_common(1):
            if n > limit:
                raise RunTooDeepError(file=file, query=qid, limit=limit)

    def buckets(self) -> Iterator[pl.DataFrame]:
        """Yield all rows, cut between queries; buckets ascend by the bytes of query ids."""
        import polars as pl

        if not self._paths and self._waiting:  # too few rows to have been written down
            yield self._sorted()
            return
        self._spill()
        if not self._paths:
            return
        scan = pl.scan_parquet(self._paths)
        for first, last in self._ranges():
            # Parts are sorted by query: their statistics skip what is out of range.
            yield scan.filter(pl.col("qid").is_between(pl.lit(first), pl.lit(last))).collect()

    def _ranges(self) -> Iterator[tuple[str, str]]:
        first, n_rows, last = "", 0, ""
        for qid in sorted_ids(self.counts):
            if n_rows and n_rows + self.counts[qid] > BUCKET_ROWS:
                yield first, last
                n_rows = 0
            first = first if n_rows else qid
            last, n_rows = qid, n_rows + self.counts[qid]
        yield first, last

    def _sorted(self) -> pl.DataFrame:
        """What waits, by query; in the order of the file within one, which is mostly by rank."""
        import polars as pl

        return pl.concat(self._waiting, rechunk=False).sort("qid", maintain_order=True)

    def _spill(self) -> None:
        if not self._waiting:
            return
        path = self.folder / f"part-{len(self._paths)}.parquet"
        self._sorted().write_parquet(path, compression="lz4", row_group_size=20_000)
        self._paths.append(path)
        self._waiting, self._n_waiting = [], 0


@dataclass(slots=True)
class _Notes:
    """What the scores look like, counted over buckets."""

    n_tied: int = 0
    n_constant: int = 0
    n_infinite: int = 0
    # Queries that have a document more than once.
    n_repeated: int = 0

    def add(self, other: _Notes) -> None:
        for name, n in asdict(other).items():
            setattr(self, name, getattr(self, name) + n)


def _write_ranked(
    parts: _Parts, path: Path, problems: Problems, file: str, tell: Progress, ties: str
) -> _Notes:
    import polars as pl

    notes = _Notes()
    schema = {
        "qid": pl.String(),
        "docid": pl.String(),
        "score": pl.Float64(),
        "rank": pl.Int32(),
    }
    n_done = 0
    with ParquetSink(path, schema=schema, rows_per_group=GROUP_ROWS, has_statistics=True) as sink:
        for bucket in parts.buckets():
            ranked, of_bucket = _ranked(bucket, ties)
            if of_bucket.n_repeated:
                ranked, of_bucket = _ranked(_without_repeated(bucket, problems, file), ties)
            notes.add(of_bucket)
            sink.write(ranked)
            n_done += len(ranked)
            tell(n_done, parts.n_rows)
    return notes


def _ranked(bucket: pl.DataFrame, ties: str) -> tuple[pl.DataFrame, _Notes]:
    """The rows by query, score descending, document id descending, with their rank; and notes."""
    import polars as pl

    qid = pl.col("qid")
    score = pl.col("score").cast(pl.Float32) if ties == "trec9" else pl.col("score")
    falls = (qid == qid.shift()) & (score < score.shift())
    # Most files stand in the order of their ranks, without ties: to see that is a third of sorting.
    is_ordered, n_infinite, n_pairs = bucket.select(
        ((qid > qid.shift()) | falls).all().alias("ordered"),
        pl.col("score").is_infinite().sum().alias("infinite"),
        pl.struct("qid", "docid").hash().n_unique().alias("pairs"),
    ).row(0)
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("qid").alias("rank")
    if is_ordered and n_pairs == len(bucket):
        return bucket.select("qid", "docid", "score", rank), _Notes(n_infinite=n_infinite)
    ordered = bucket.sort(["qid", score, "docid"], descending=[False, True, True])
    ranked = ordered.select("qid", "docid", "score", rank)
    return ranked, _notes_of(ranked)


def _without_repeated(bucket: pl.DataFrame, problems: Problems, file: str) -> pl.DataFrame:
    """The rows; where bad ones are left out, without those that say a document once more."""
    import polars as pl

    repeated = bucket.filter(pl.struct("qid", "docid").is_duplicated())
    if not len(repeated):
        return bucket
    first = pl.col("line").min().over("qid", "docid").alias("first")
    # Not by their lines, which may be one: a JSON object of a single line.
    is_later = pl.int_range(pl.len()).over("qid", "docid") > 0
    rows = repeated.with_columns(first).sort("line", maintain_order=True).filter(is_later)
    for line, qid, docid, _, first_line in rows.iter_rows():
        text = f"query {qid} had document {docid} on line {first_line} already; keep one of them"
        problems.add(file, line, text)
    if not problems.does_without(file):
        return bucket
    return bucket.sort("line").unique(["qid", "docid"], keep="first", maintain_order=True)


def _notes_of(ranked: pl.DataFrame) -> _Notes:
    import polars as pl

    score, is_top = pl.col("score"), pl.col("rank") <= TIES_SHOWN_WITHIN
    by_query = ranked.lazy().group_by("qid")
    counts = by_query.agg(
        n_tied=score.filter(is_top).is_duplicated().any(),
        n_constant=(score.min() == score.max()) & (pl.len() > 1),
        n_infinite=score.is_infinite().sum(),
        n_repeated=pl.col("docid").n_unique() < pl.len(),
    )
    return _Notes(**counts.select(pl.exclude("qid").sum()).collect().row(0, named=True))


def _summary(parquet: Path, parts: _Parts, notes: _Notes) -> RunSummary:
    n_queries = len(parts.counts)
    return RunSummary(
        n_rows=parts.n_rows,
        n_queries=n_queries,
        depth=max(parts.counts.values(), default=0),
        sha256=sha256_of(parquet),
        parquet=parquet,
        warnings=tuple(_warnings(notes, n_queries)),
    )


def _warnings(notes: _Notes, n_queries: int) -> Iterator[str]:
    if notes.n_constant:
        yield (
            f"{notes.n_constant} of {n_queries} queries give every document the same score: "
            "their order is that of the ids, not of the system; write scores that fall with rank"
        )
    if notes.n_tied > notes.n_constant:
        yield (
            f"{notes.n_tied} of {n_queries} queries have equal scores among their first "
            f"{TIES_SHOWN_WITHIN}: ties are ordered by document id, descending"
        )
    if notes.n_infinite:
        yield f"{notes.n_infinite} scores are infinite; they rank first or last"


# Reading


def top_k(parquet: Path, k: int) -> Iterator[RankedRow]:
    """Yield the first `k` of each query, by query id bytes, then rank."""
    import polars as pl

    scan = pl.scan_parquet(parquet).filter(pl.col("rank") <= k)
    yield from map(RankedRow._make, scan.select("qid", "docid", "rank").collect().iter_rows())


def tops_of(parquet: Path, qids: Collection[str], k: int) -> dict[str, list[str]]:
    """{query id: its first `k` document ids, best first} of those queries that the run answers."""
    import polars as pl

    if not qids:
        return {}
    first, last = min(qids, key=str.encode), max(qids, key=str.encode)
    # Rows stand in the order of query ids: the bounds let whole blocks of the file be passed over.
    is_near = (pl.col("qid") >= first) & (pl.col("qid") <= last)
    is_wanted = is_near & pl.col("qid").is_in(list(qids)) & (pl.col("rank") <= k)
    tops: dict[str, list[str]] = {}
    rows = pl.scan_parquet(parquet).filter(is_wanted).select("qid", "docid").collect().rows()
    for qid, docid in rows:
        tops.setdefault(qid, []).append(docid)
    return tops


def ranks_of(parquet: Path, qid: str, docids: Collection[str]) -> list[tuple[str, int]]:
    """(document id, rank) of those documents that the run has for a query, by rank."""
    import polars as pl

    rows = pl.scan_parquet(parquet).filter(
        (pl.col("qid") == qid) & pl.col("docid").is_in(list(docids))
    )
    return rows.select("docid", "rank").collect().rows()


def query_ids(parquet: Path) -> list[str]:
    """Return the ids of the queries that the run answers, by their bytes."""
    import polars as pl

    # Every query has one document of rank 1, and rows are in the order of query ids.
    scan = pl.scan_parquet(parquet).filter(pl.col("rank") == 1)
    return scan.select("qid").collect()["qid"].to_list()


def document_ids(parquet: Path) -> list[str]:
    """Return the ids of all documents that the run retrieves, each once, by their bytes."""
    import polars as pl

    return (
        pl.scan_parquet(parquet)
        .select(pl.col("docid").unique().sort())
        .collect()["docid"]
        .to_list()
    )


def hits_against(
    parquet: Path,
    qrels: Mapping[str, Mapping[str, int]] | pl.DataFrame,
    *,
    only: Collection[str] | None = None,
) -> Hits:
    """Return, for each query of the run, how much it retrieved and which of it was judged.

    Parameters
    ----------
    parquet
        A file of `write_run`.
    qrels
        Grades by query and document, or a frame with columns qid, docid, grade. A pair with a
        negative grade is handed back as it is: it was pooled, and is not judged.
    only
        Queries to read; all unless given. Rows are in the order of query ids, so that of the row
        groups only those are read that may hold one of these.

    Returns
    -------
    dict
        `{qid: (n_retrieved, [(rank, grade), …])}`, ranks ascending; also the queries without
        qrels, with no hits. A query of the qrels that the run lacks is not in it.
    """
    import polars as pl

    grades = grades_frame(qrels)
    if only is None and parquet.stat().st_size < SMALL_BYTES:
        run = pl.read_parquet(parquet, columns=["qid", "docid", "rank"])
        # Its rows stand in the order of query ids, then ranks.
        sizes = run["qid"].rle().struct.unnest().select("value", "len")
        joined = run.join(grades, on=["qid", "docid"], how="inner", maintain_order="left")
        rows = joined.select("qid", "rank", "grade")
    else:
        sizes, rows = _streamed(parquet, grades, only)
    hits: Hits = {qid: (n_retrieved, []) for qid, n_retrieved in sizes.iter_rows()}
    for qid, rank, grade in rows.iter_rows():
        hits[qid][1].append((rank, grade))
    return hits


def _streamed(
    parquet: Path, grades: pl.DataFrame, only: Collection[str] | None
) -> list[pl.DataFrame]:
    """How many rows each query has, and qid, rank, grade of the judged ones, both in order."""
    import polars as pl

    scan = pl.scan_parquet(parquet)
    if only is not None:
        scan = scan.filter(pl.col("qid").is_in(sorted_ids(only)))
    of_queries = scan.group_by("qid").agg(pl.len()).sort("qid")
    joined = scan.join(grades.lazy(), on=["qid", "docid"], how="inner")
    judged = joined.select("qid", "rank", "grade").sort("qid", "rank")
    return pl.collect_all([of_queries, judged], engine="streaming")


def grades_frame(qrels: Mapping[str, Mapping[str, int]] | pl.DataFrame) -> pl.DataFrame:
    """Grades as `hits_against` joins a run with them: a row each, of qid, docid, grade."""
    import polars as pl

    if isinstance(qrels, pl.DataFrame):
        return qrels.select("qid", "docid", "grade")
    rows = [(qid, docid, grade) for qid, graded in qrels.items() for docid, grade in graded.items()]
    schema = {"qid": pl.String(), "docid": pl.String(), "grade": pl.Int64()}
    return pl.DataFrame(rows, schema=schema, orient="row")
