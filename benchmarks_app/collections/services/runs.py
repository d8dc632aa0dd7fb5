"""Taking in a run: checked line by line, stored as Parquet, then a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction

from benchmarks_app import files
from benchmarks_app.collections.services.summing_up import in_unit_of
from benchmarks_app.models import Benchmark, Run, Team, Upload, User
from benchwright.corpora.store import CorpusReader
from benchwright.errors import BenchmarkError, Problems
from benchwright.files.sources import Readable
from benchwright.formats.mapped import ResultRow
from benchwright.runs.aggregation import DEFAULT
from benchwright.runs.intake import Intake, Taken, Terms
from benchwright.runs.intake import NoCommonQueryError as NoCommonQueryError
from benchwright.runs.store import Progress, RunSummary, StoredRow


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
    # What the file says of its system in comments.
    said: dict[str, Any] = field(default_factory=dict)


def stage_run(
    *,
    file: str,
    folder: Path,
    lines: Iterable[bytes] | None = None,
    stream: Readable | None = None,
    rows: Iterable[StoredRow | ResultRow] | None = None,
    taken_apart: Callable[[Terms], Taken] | None = None,
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

    It comes as the `lines` or the `stream` of a TREC run, or as `rows`; one from outside is read
    and written elsewhere, by what `taken_apart` calls. `allowed_queries` are the
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
    terms = Terms(file, folder, str(ties), allowed_queries, max_depth)
    if taken_apart:
        taken = taken_apart(terms)
        problems.take(taken.news)
    else:
        taken = _taken(Intake(terms, problems, progress), lines, stream, rows)
    problems.raise_found()
    taken.refuse_empty(terms)
    summary = taken.summary
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
    return StagedRun(summary, len(taken.extra), warnings, metadata, taken.metadata)


def _taken(
    intake: Intake,
    lines: Iterable[bytes] | None,
    stream: Readable | None,
    rows: Iterable[StoredRow | ResultRow] | None,
) -> Taken:
    if stream is not None:
        summary = intake.of_stream(stream)
    else:
        summary = intake.of_lines(lines or ()) if rows is None else intake.of_rows(rows)
    return Taken(summary, intake.seen_extra)


def _refuse_unknown_documents(
    summary: RunSummary, file: str, known_document: Callable[[Iterable[str]], set[str]]
) -> None:
    """Top ranks tell a run of another corpus from ours, and they are what is pooled."""
    from benchwright.runs.store import top_k

    ids = {row.docid for row in top_k(summary.parquet, 10)}
    unknown = known_document(ids)
    if unknown:
        problems = Problems()
        for docid in sorted(unknown)[:20]:
            problems.add(
                file, 0, f"document '{docid}' is not in the corpus. Was it made from another one?"
            )
        problems.raise_found(is_cut=len(unknown) > 20)


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
