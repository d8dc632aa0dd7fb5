"""Systems of this site as runs of a benchmark: started, made in one process, or by several."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Benchmark, CorpusVersion, Job, User
from benchwright.retrieval.catalog import CATALOG, LEXICAL, entry_named
from benchwright.retrieval.languages import language_code, language_or_english
from benchwright.retrieval.searching import Progress, Result
from benchwright.retrieval.sparse.sharding import (
    count_shard,
    merged_results,
    merged_statistics,
    read_statistics,
    search_shard,
)
from benchwright.retrieval.sparse.systems import Parameters
from scoring.rescoring.services.rescoring import start_scoring_new_runs
from scoring.scores.services.errors import NoQueriesError, NoTextsError
from scoring.systems.selectors import is_made, jobs_at_work
from scoring.systems.services.baseline_errors import DepthError, NothingChosenError
from scoring.systems.services.baseline_runs import (
    DEPTH,
    Asked,
    corpus_texts,
    create_baseline,
    query_texts,
    shards_for,
    staged_run,
    texts_between,
    write_results,
)
from scoring.systems.services.baseline_timing import Taken, indexing, memory_watched, timed_results
from scoring.systems.services.shards import bounds, start_shards

JOB_KIND = "make-baselines"
TELL_EVERY = 2_000
# Of a job's progress: reading and indexing the corpus, then searching.
INDEXED, WHOLE = 50, 100


# --- starting ------------------------------------------------------------------------------


@transaction.atomic
def start_baselines(
    *,
    benchmark: Benchmark,
    user: User,
    systems: Sequence[str] = LEXICAL,
    language: str = "",
    depth: int = DEPTH,
    n_shards: int | None = None,
) -> list[Job]:
    """Start a job for each of the systems that has no such run and is not at work on one.

    Raises
    ------
    NoTextsError, NoQueriesError
        If there is nothing to search, or nothing to search for.
    UnknownSystemError, MissingExtraError, UnknownLanguageError, DepthError, NothingChosenError
        If it cannot be done so.
    """
    baselines = wanted_baselines(benchmark, systems, language, depth, n_shards)
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    started = [
        jobs.start(benchmark=benchmark, user=user, **baseline_arguments(baseline))
        for baseline in baselines
        if not is_made(benchmark, baseline.parameters())
        and not jobs_at_work(benchmark, JOB_KIND, baseline.parameters()).exists()
    ]
    if started:
        names = ", ".join(job.parameters["system"] for job in started)
        audit.record(actor=user, action="make-baselines", benchmark=benchmark, target=names)
    return started


def wanted_baselines(
    benchmark: Benchmark,
    systems: Sequence[str],
    language: str = "",
    depth: int = DEPTH,
    n_shards: int | None = None,
) -> list[Asked]:
    """What to make of the newest corpus version, in the language of the corpus by default."""
    version = version_with_texts(benchmark)
    if not systems:
        raise NothingChosenError(known=", ".join(CATALOG))
    if not 1 <= depth <= settings.RUN_MAX_DEPTH:
        raise DepthError(depth=depth, most=settings.RUN_MAX_DEPTH)
    code = language_code(language) if language else language_or_english(benchmark.corpus.lang)
    baselines = []
    for name in dict.fromkeys(systems):
        entry = entry_named(name)
        entry.refuse_unavailable()
        n = n_shards if n_shards and entry.in_shards else shards_for(entry, version.n_documents)
        n = max(1, min(n, version.n_documents))
        baselines.append(Asked(name, code, depth, version.pk, n))
    return baselines


def baseline_arguments(baseline: Asked) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to make one baseline."""
    title = f"Make the baseline {baseline.system}"
    return {"kind": JOB_KIND, "title": title, "parameters": baseline.parameters()}


def version_with_texts(benchmark: Benchmark) -> CorpusVersion:
    """The newest corpus version; raises where a retrieval system has nothing to work on."""
    version = benchmark.current_corpus_version
    if not benchmark.corpus.has_texts or version is None:
        raise NoTextsError(benchmark=benchmark.name)
    if not benchmark.queries.committed().exists():
        raise NoQueriesError(benchmark=benchmark.name)
    return version


# --- making --------------------------------------------------------------------------------


def make_baseline(job: RunningJob) -> None:
    """The handler: one system's run, or the start of the shards that make it."""
    benchmark, baseline = job.benchmark, Asked.of(job.parameters)
    # Who started it stays: accounts are emptied, not deleted.
    user = cast(User, job.row.created_by)
    version_with_texts(benchmark)
    baseline.entry.refuse_unavailable()
    queries = query_texts(benchmark)
    if baseline.n_shards > 1:
        start_shards(job, baseline, queries)
        return
    times, path = Taken(), job.folder / f"{baseline.system}.trec"
    write_results(_results(job, baseline, queries, times), baseline.system, path)
    job.progress(WHOLE, WHOLE, "making the run visible")
    staged = staged_run(benchmark, path, job.folder / "stored")
    with job.commit() as result:
        if is_made(benchmark, baseline.parameters()):
            result["notes"] = [f"{baseline.system} was made by another job meanwhile."]
            return
        run = create_baseline(
            benchmark=benchmark,
            user=user,
            asked=baseline,
            taken=times,
            n_queries=len(queries),
            path=path,
            staged=staged,
        )
        start_scoring_new_runs(benchmark, user)
        result["made"] = [f"run '{run.name}'"]
        result["url"] = reverse("scoring:baseline-list", args=[benchmark.slug])


def _results(
    job: RunningJob, baseline: Asked, queries: list[tuple[str, str]], times: Taken
) -> Iterator[Result]:
    def tell(done: int, total: int) -> None:
        part = INDEXED + (WHOLE - INDEXED - 1) * done // max(total, 1)
        job.progress(part, WHOLE, f"{done:,} of {total:,} queries")

    version = baseline.version
    with memory_watched(times):
        with indexing(times):
            texts = _told_of(corpus_texts(version), version.n_documents, job.progress)
            searcher = baseline.entry.searcher(texts, baseline.language)
        yield from timed_results(searcher, queries, k=baseline.depth, taken=times, progress=tell)


def _told_of(
    texts: Iterable[tuple[str, str]], total: int, progress: Callable[[int, int, str], None]
) -> Iterator[tuple[str, str]]:
    """The texts as they are, telling now and then how many were read."""
    for n, text in enumerate(texts, start=1):
        yield text
        if n % TELL_EVERY == 0:
            progress(INDEXED * n // max(total, 1), WHOLE, f"{n:,} of {total:,} documents read")


# --- a file, without a job -----------------------------------------------------------------


def retrieve(
    *,
    benchmark: Benchmark,
    system: str,
    k: int,
    path: Path,
    language: str = "",
    n_shards: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Write the run of one system over all queries as a TREC file; returns its rows.

    Several shards are searched here one after the other: a corpus of which one shard fits into
    memory at a time needs no more.

    Raises
    ------
    NoTextsError, NoQueriesError, UnknownSystemError, MissingExtraError, UnknownLanguageError,
    DepthError
    """
    (baseline,) = wanted_baselines(benchmark, [system], language, k, n_shards)
    queries = query_texts(benchmark)
    if baseline.n_shards == 1:
        searcher = baseline.entry.searcher(corpus_texts(baseline.version), baseline.language)
        return write_results(searcher.search(queries, k=k, progress=progress), system, path)
    with TemporaryDirectory(dir=settings.STAGING_DIR) as folder:
        results = _results_by_shard(baseline, queries, Path(folder), progress)
        return write_results(results, system, path)


def _results_by_shard(
    baseline: Asked, queries: list[tuple[str, str]], folder: Path, progress: Progress | None
) -> Iterator[Result]:
    version, parameters = baseline.version, Parameters(language=baseline.language)
    folders = [folder / str(number) for number in range(baseline.n_shards)]
    ranges = pairwise(bounds(version.n_documents, baseline.n_shards))
    for place, (start, stop) in zip(folders, ranges, strict=True):
        texts = texts_between(version, start, stop)
        count_shard(baseline.system, texts, place, parameters=parameters)
    statistics = merged_statistics([read_statistics(place) for place in folders])
    rankings = [
        list(search_shard(place, statistics, queries, k=baseline.depth, progress=progress))
        for place in folders
    ]
    yield from merged_results(rankings, k=baseline.depth)
