"""Taking in a run: checked line by line, stored as Parquet, then a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction

from benchmarks_app import files
from benchmarks_app.core.aggregating import DEFAULT
from benchmarks_app.core.corpus_store import CorpusReader
from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.core.formats.mapped import ResultRow
from benchmarks_app.core.formats.sources import Readable
from benchmarks_app.core.formats.trec import read_run
from benchmarks_app.core.ids import id_problem
from benchmarks_app.core.problems import Problems
from benchmarks_app.core.run_blocks import run_frames
from benchmarks_app.core.run_store import (
    Progress,
    RunSummary,
    StoredRow,
    write_run,
    write_run_frames,
)
from benchmarks_app.models import Benchmark, Run, Team, Upload, User
from benchmarks_app.services.summing_up import in_unit_of

if TYPE_CHECKING:
    import polars as pl


class EmptyRunError(BenchmarkError):
    code = "run-empty"
    message = (
        "{file} ranks no document. A run has a line for each document: qid Q0 docid rank score tag."
    )


class NoCommonQueryError(BenchmarkError):
    code = "run-no-common-query"
    message = (
        "{file} and the benchmark share no query id. The run has {run_ids}; the benchmark has "
        "{benchmark_ids}."
    )


class RunTooDeepError(BenchmarkError):
    code = "run-too-deep"
    message = (
        "{file} ranks more than {limit:,} documents for query '{query}', which this site does not "
        "take (RUN_MAX_DEPTH). Cut the ranking of each query."
    )


class RunNameTakenError(BenchmarkError):
    code = "run-name-taken"
    status = 409
    message = "A run named '{name}' is in this benchmark already; choose another name."


@dataclass(frozen=True)
class StagedRun:
    """A run that was found valid, not yet in the database."""

    summary: RunSummary
    n_extra_queries: int
    warnings: list[str]
    # How its passages became documents, where they did; the run's metadata keeps it.
    metadata: dict[str, Any] = field(default_factory=dict)


def stage_run(
    *,
    file: str,
    folder: Path,
    lines: Iterable[bytes] | None = None,
    stream: Readable | None = None,
    rows: Iterable[StoredRow | ResultRow] | None = None,
    problems: Problems | None = None,
    allowed_queries: set[str] | None = None,
    known_document: Callable[[Iterable[str]], set[str]] | None = None,
    progress: Progress | None = None,
    benchmark: Benchmark | None = None,
    aggregation: str = DEFAULT,
    reader: CorpusReader | None = None,
    max_depth: int | None = None,
) -> StagedRun:
    """Check a run and write it as Parquet into `folder`.

    It comes as the `lines` or the `stream` of a TREC run, or as `rows`. `allowed_queries` are the
    benchmark's: other queries are kept out and counted. `known_document` returns the ids the
    corpus lacks among those given. Where `benchmark` measures documents and its corpus holds
    passages, a run of passages becomes one of documents, by `aggregation`. `reader` is a corpus
    that is not in the benchmark yet. `max_depth` is how many documents a query may have.

    Raises
    ------
    FileProblemsError
        With every line that cannot be read, up to the limit.
    EmptyRunError, NoCommonQueryError
        If nothing of it can be scored.
    RunTooDeepError
        As soon as a query has more than `max_depth` documents.
    MixedUnitsError, OtherUnitError, ParentsMissingError, UnknownAggregationError
        If it is not of the benchmark's unit, and cannot be brought to it.
    """
    problems = problems or Problems()
    folder.mkdir(parents=True, exist_ok=True)
    ties = benchmark.tie_rule if benchmark else Benchmark.TieRule.TREC
    seen_extra: set[str] = set()
    if stream is not None:
        frames = run_frames(stream, file=file, problems=problems)
        usable = _usable_frames(frames, allowed_queries, seen_extra)
        if max_depth:
            usable = _frames_to_depth(usable, max_depth, file)
        summary = write_run_frames(
            usable, directory=folder, problems=problems, file=file, progress=progress, ties=ties
        )
    else:
        if rows is None:
            rows = _usable_rows(lines or (), file, problems, allowed_queries, seen_extra)
        else:
            rows = _wanted(rows, allowed_queries, seen_extra)
        if max_depth:
            rows = _rows_to_depth(rows, max_depth, file)
        summary = write_run(
            rows, directory=folder, problems=problems, file=file, progress=progress, ties=ties
        )
    problems.raise_found()
    if not summary.n_rows and seen_extra:
        raise NoCommonQueryError(
            file=file,
            run_ids=_three(seen_extra),
            benchmark_ids=_three(allowed_queries or ()) or "none yet",
        )
    if not summary.n_rows:
        raise EmptyRunError(file=file)
    metadata: dict[str, Any] = {}
    if benchmark:
        summary, metadata = in_unit_of(
            benchmark,
            summary,
            file=file,
            folder=folder / "documents",
            how=aggregation,
            reader=reader,
        )
    if known_document:
        _refuse_unknown_documents(summary, file, known_document)
    warnings = [str(warning) for warning in problems.warnings]
    return StagedRun(summary, len(seen_extra), warnings, metadata)


def _usable_frames(
    frames: Iterable[pl.DataFrame], allowed: set[str] | None, seen_extra: set[str]
) -> Iterator[pl.DataFrame]:
    """The rows of queries that the benchmark has."""
    import polars as pl

    for frame in frames:
        extra = set(frame["qid"].unique()) - allowed if allowed is not None else ()
        seen_extra.update(extra)
        yield frame.filter(~pl.col("qid").is_in(list(extra))) if extra else frame


def _frames_to_depth(
    frames: Iterable[pl.DataFrame], limit: int, file: str
) -> Iterator[pl.DataFrame]:
    counts: Counter[str] = Counter()
    for frame in frames:
        for qid, n in frame.group_by("qid").len().iter_rows():
            _count(counts, qid, n, limit, file)
        yield frame


def _rows_to_depth(
    rows: Iterable[StoredRow | ResultRow], limit: int, file: str
) -> Iterator[StoredRow | ResultRow]:
    counts: Counter[str] = Counter()
    for row in rows:
        _count(counts, row.qid, 1, limit, file)
        yield row


def _count(counts: Counter[str], qid: str, n: int, limit: int, file: str) -> None:
    counts[qid] += n
    if counts[qid] > limit:
        raise RunTooDeepError(file=file, query=qid, limit=limit)


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
    known: dict[bytes, str | None] = {}
    for row in read_run(lines, file=file, problems=problems):
        if row.qid not in known:
            known[row.qid] = _decoded(row.qid, "query id", row.line, file, problems)
        qid = known[row.qid]
        if qid is None:
            continue
        if allowed is not None and qid not in allowed:
            seen_extra.add(qid)
            continue
        docid = _decoded(row.docid, "document id", row.line, file, problems)
        if docid is not None:
            yield StoredRow(row.line, qid, docid, row.score)


def _decoded(raw: bytes, what: str, line: int, file: str, problems: Problems) -> str | None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        problems.add(file, line, f"{what} {raw!r} is not UTF-8; write the file as UTF-8")
        return None
    reason = id_problem(text)
    if reason:
        problems.add(file, line, f"{what} {text!r}: {reason}")
        return None
    return text


def _refuse_unknown_documents(
    summary: RunSummary, file: str, known_document: Callable[[Iterable[str]], set[str]]
) -> None:
    """Top ranks tell a run of another corpus from ours, and they are what is pooled."""
    from benchmarks_app.core.run_store import top_k

    ids = {row.docid for row in top_k(summary.parquet, 10)}
    unknown = known_document(ids)
    if unknown:
        problems = Problems()
        for docid in sorted(unknown)[:20]:
            problems.add(
                file, 0, f"document '{docid}' is not in the corpus. Was it made from another one?"
            )
        problems.raise_found(is_cut=len(unknown) > 20)


def _three(ids: Iterable[str]) -> str:
    return ", ".join(f"'{one}'" for one in sorted(ids)[:3])


def create_run(
    *,
    staged: StagedRun,
    benchmark: Benchmark,
    name: str,
    owner: User,
    sha256: str,
    upload: Upload | None = None,
    kind: str = Run.Kind.UPLOADED,
    visibility: str = Run.Visibility.BENCHMARK,
    description: str = "",
    metadata: dict[str, Any] | None = None,
    team: Team | None = None,
) -> Run:
    """Publish the staged file and write the run's row.

    Raises
    ------
    RunNameTakenError
        If the benchmark has a run of this name.
    """
    summary = staged.summary
    parquet = files.publish(Path(summary.parquet), f"runs/{benchmark.pk}/{summary.sha256}.parquet")
    try:
        with transaction.atomic():
            return Run.objects.create(
                benchmark=benchmark,
                name=name,
                owner=owner,
                team=team,
                kind=kind,
                visibility=visibility,
                description=description,
                metadata={**(metadata or {}), **staged.metadata},
                upload=upload,
                sha256=sha256,
                parquet=parquet,
                n_rows=summary.n_rows,
                n_queries=summary.n_queries,
                depth=summary.depth,
            )
    except IntegrityError as error:
        if Run.objects.filter(benchmark=benchmark, name=name).exists():
            raise RunNameTakenError(name=name) from error
        raise
