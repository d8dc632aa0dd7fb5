"""The run that is made of a live system's answers, and what was noticed about them."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from django.utils import timezone

from benchmarks_app.collections.services import runs, uploading
from benchmarks_app.common.selectors.reading import corpus_reader, unknown_documents
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Benchmark, Run, User
from benchwright.evaluation.latency import latency_summary
from benchwright.files.sources import open_lines
from benchwright.ids import some_ids, storable
from benchwright.live.templates import digest_of
from benchwright.live.writing import Noticed
from scoring.live.services.errors import LiveEmptyError, LiveOtherCorpusError
from scoring.models import LiveRun, LiveSystem, RunLatencies
from scoring.scores.services.latencies import keep_latencies

FAILED_KEPT = 50


def staged_run(job: RunningJob, system: LiveSystem, noticed: Noticed, path: Path) -> runs.StagedRun:
    """The run as it is stored, in the benchmark's unit; unknown documents are noticed.

    Raises
    ------
    LiveEmptyError
        If not one query was answered with a document.
    LiveOtherCorpusError
        If the corpus has none of the documents.
    """
    if not noticed.n_rows:
        raise LiveEmptyError(name=system.name, n=len(noticed.times))
    staged = runs.stage_run(
        lines=open_lines(path),
        file=path.name,
        folder=job.folder / "stored",
        benchmark=job.benchmark,
    )
    answered = _documents(staged)
    noticed.unknown = frozenset(unknown_documents(job.benchmark, answered))
    if noticed.unknown == answered:
        raise LiveOtherCorpusError(
            name=system.name,
            n=len(answered),
            found=some_ids(answered),
            known=some_ids(_some_documents(job.benchmark)),
        )
    return staged


def _documents(staged: runs.StagedRun) -> set[str]:
    import polars as pl

    scan = pl.scan_parquet(staged.summary.parquet).select("docid").unique()
    return set(scan.collect()["docid"].to_list())


def _some_documents(benchmark: Benchmark) -> list[str]:
    version = benchmark.current_corpus_version
    if version is None:
        return []
    reader = corpus_reader(version)
    return [document.docid for document in reader.at(range(min(3, reader.n_documents)))]


def create_live_run(
    job: RunningJob,
    system: LiveSystem,
    *,
    staged: runs.StagedRun,
    noticed: Noticed,
    path: Path,
) -> Run:
    """The run with its times and what is known of how it was asked; inside the job's commit."""
    # Who started it stays: accounts are emptied, not deleted.
    user = cast(User, job.row.created_by)
    benchmark, name = job.benchmark, job.parameters["run"]
    upload = uploading.receive_path(benchmark=benchmark, owner=user, path=path)
    uploading.mark_imported(upload, f"run '{name}'")
    run = runs.create_run(
        staged=staged,
        benchmark=benchmark,
        name=name,
        owner=user,
        sha256=upload.sha256,
        upload=upload,
        kind=Run.Kind.LIVE,
        description=f"Asked of the live system {system.name}.",
        metadata=_facts(system, noticed),
    )
    keep_latencies(
        run=run,
        milliseconds=noticed.times,
        source=RunLatencies.Source.LIVE,
        folder=job.folder,
    )
    LiveRun.objects.create(
        system=system,
        run=run,
        job=job.row,
        asked_as=_asked_as(system, noticed),
        n_asked=noticed.n_asked,
        n_failed=len(noticed.failed),
        n_empty=noticed.n_empty,
        n_repeated=noticed.n_repeated,
        n_unknown=len(noticed.unknown),
    )
    return run


def _facts(system: LiveSystem, noticed: Noticed) -> dict[str, Any]:
    """What the run says of its system: nothing of what is sent but a digest."""
    times = latency_summary(noticed.times.values())
    facts: dict[str, Any] = {
        "system": system.name,
        "endpoint": system.host,
        "asked at": f"{timezone.now():%Y-%m-%d %H:%M} UTC",
        "template SHA-256": digest_of(system.template),
        "results asked for": str(system.k),
    }
    if times:
        facts |= {
            "latency_ms": round(times.p50, 3),
            "latency p95 ms": f"{times.p95:.3f}",
            "latency max ms": f"{times.longest:.3f}",
        }
    for name, n in (
        ("answered with nothing", noticed.n_empty),
        ("failed queries", len(noticed.failed)),
        ("unknown documents", len(noticed.unknown)),
    ):
        if n:
            facts[name] = str(n)
    return facts


def _asked_as(system: LiveSystem, noticed: Noticed) -> dict[str, Any]:
    """How it was asked, for who keeps the benchmark; no header, for its name may be telling."""
    names = (
        *("kind", "method", "results_path", "id_path", "score_path", "k", "retries"),
        *("requests_per_second", "concurrency", "timeout_seconds"),
    )
    return {
        "system": system.name,
        "host": system.host,
        "template": digest_of(system.template),
        **{name: getattr(system, name) for name in names},
        "failed": storable([asdict(failure) for failure in noticed.failed[:FAILED_KEPT]]),
        "unknown": sorted(noticed.unknown)[:FAILED_KEPT],
        "n_beyond": noticed.n_beyond,
        "n_unordered": noticed.n_unordered,
        "n_tried_again": noticed.n_tried_again,
    }


def notes_on(noticed: Noticed) -> list[str]:
    """What is worth knowing about the answers, in words."""
    unknown = some_ids(noticed.unknown)
    failed = "; ".join(f"'{failure.qid}': {failure.why}" for failure in noticed.failed[:3])
    notes = (
        (
            len(noticed.failed),
            f"query failed, as many as may; it counts as 0: {failed}.",
            f"queries failed, as many as may; they count as 0: {failed}.",
        ),
        (
            noticed.n_empty,
            "query was answered with an empty list; that is no failure.",
            "queries were answered with an empty list; they are no failure.",
        ),
        (
            len(noticed.unknown),
            f"document is not in the corpus, such as {unknown}.",
            f"documents are not in the corpus, such as {unknown}.",
        ),
        (
            noticed.n_repeated,
            "document was given twice for a query; the first place counts.",
            "documents were given twice for a query; the first place counts.",
        ),
        (
            noticed.n_beyond,
            "answer held more results than were asked for; the first count.",
            "answers held more results than were asked for; the first count.",
        ),
        (
            noticed.n_unordered,
            "answer was not in the order of its scores; the run is ordered by score.",
            "answers were not in the order of their scores; the run is ordered by score.",
        ),
        (
            noticed.n_tried_again,
            "query was answered at a second try or later.",
            "queries were answered at a second try or later.",
        ),
    )
    return [f"{n:,} {singular if n == 1 else plural}" for n, singular, plural in notes if n]


def file_stem(name: str) -> str:
    """A name for the file of a run."""
    letters = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    return letters.strip("-")[:80] or "run"
