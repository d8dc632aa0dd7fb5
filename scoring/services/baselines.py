"""Four lexical systems as runs of a benchmark that has none, from one button."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from django.db import transaction
from django.urls import reverse

from benchmarks_app import selectors
from benchmarks_app.core.formats.sources import open_lines
from benchmarks_app.core.formats.trec import RunRow, write_run
from benchmarks_app.models import Benchmark, Job, Run, User
from benchmarks_app.services import audit, jobs, runs, uploading
from benchmarks_app.services.jobs import RunningJob
from scoring.core.retrieval import SYSTEMS, Index, build_index
from scoring.services.errors import NoQueriesError, NoTextsError
from scoring.services.rescoring import start_scoring_new_runs

JOB_KIND = "make-baselines"
DEPTH = 100
SYSTEM_KEY = "system"
Progress = Callable[[int, int], None]


@transaction.atomic
def start_baselines(*, benchmark: Benchmark, user: User) -> Job:
    """Start a job that makes the baselines the benchmark lacks.

    Raises
    ------
    NoTextsError, NoQueriesError
        If there is nothing to search, or nothing to search for.
    """
    refuse_without_texts(benchmark)
    job = jobs.start(benchmark=benchmark, user=user, **baselines_arguments())
    audit.record(actor=user, action="make-baselines", benchmark=benchmark)
    return job


def baselines_arguments() -> dict[str, object]:
    """What `jobs.start` or `jobs.run_here` need to make the baselines."""
    return {"kind": JOB_KIND, "title": "Make four baselines", "parameters": {"depth": DEPTH}}


def refuse_without_texts(benchmark: Benchmark) -> None:
    """Raise where a retrieval system has nothing to work on."""
    if not benchmark.corpus.has_texts or benchmark.current_corpus_version is None:
        raise NoTextsError(benchmark=benchmark.name)
    if not benchmark.queries.committed().exists():
        raise NoQueriesError(benchmark=benchmark.name)


def corpus_texts(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    """(docid, title and text) of every document of the newest corpus version."""
    for document in selectors.corpus_reader(benchmark.current_corpus_version).iterate():
        yield document.docid, f"{document.title}\n{document.text}".strip()


def query_texts(benchmark: Benchmark) -> list[tuple[str, str]]:
    """(qid, text) of every query, by the bytes of the ids."""
    pairs = benchmark.queries.committed().values_list("qid", "text")
    return sorted(pairs, key=lambda pair: pair[0].encode())


def retrieve(
    *,
    benchmark: Benchmark,
    system: str,
    k: int,
    path: Path,
    progress: Progress | None = None,
) -> int:
    """Write the run of one system over all queries as a TREC file; returns its rows.

    Raises
    ------
    NoTextsError, NoQueriesError, UnknownSystemError, CutoffError
    """
    refuse_without_texts(benchmark)
    index = build_index(system, corpus_texts(benchmark))
    return _write_run(_results(index, query_texts(benchmark), k, system, progress), path)


def _results(
    index: Index,
    queries: list[tuple[str, str]],
    k: int,
    system: str,
    progress: Progress | None,
) -> Iterator[RunRow]:
    for qid, found in index.search(queries, k=k, progress=progress):
        for rank, (docid, score) in enumerate(found, start=1):
            yield RunRow(0, qid.encode(), docid.encode(), score, rank, system.encode())


def _write_run(rows: Iterable[RunRow], path: Path) -> int:
    n = 0
    with path.open("wb") as out:
        for n, line in enumerate(write_run(rows), start=1):  # noqa: B007  # n is the count
            out.write(line)
    return n


def make_baselines(job: RunningJob) -> None:
    """The handler: a file for each missing system, then all their runs in one commit."""
    benchmark, user = job.benchmark, job.row.created_by
    refuse_without_texts(benchmark)
    missing = [name for name in SYSTEMS if name not in _systems_made(benchmark)]
    staged = [(name, _staged(job, name, place, len(missing))) for place, name in enumerate(missing)]
    job.progress(len(missing), len(missing), "making the runs visible")
    with job.commit() as result:
        for name, (path, run) in staged:
            _create(benchmark, user, name, path, run)
        start_scoring_new_runs(benchmark, user)
        result["made"] = [f"run '{name}'" for name in missing]
        result["url"] = reverse("run-list", args=[benchmark.slug])


def _systems_made(benchmark: Benchmark) -> set[str]:
    made = benchmark.runs.filter(kind=Run.Kind.BASELINE).values_list("metadata", flat=True)
    return {metadata.get(SYSTEM_KEY, "") for metadata in made}


def _staged(job: RunningJob, system: str, place: int, n: int) -> tuple[Path, runs.StagedRun]:
    folder = job.folder / system
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{system}.trec"
    total = n * 1000

    def tell(done: int, of: int) -> None:
        job.progress(place * 1000 + 1000 * done // max(of, 1), total, f"{system}: {done} queries")

    job.progress(place * 1000, total, f"{system}: indexing the corpus")
    retrieve(
        benchmark=job.benchmark, system=system, k=job.parameters["depth"], path=path, progress=tell
    )
    lines = open_lines(path)
    staged = runs.stage_run(
        lines=lines, file=path.name, folder=folder / "stored", benchmark=job.benchmark
    )
    return path, staged


def _create(
    benchmark: Benchmark, user: User, system: str, path: Path, staged: runs.StagedRun
) -> Run:
    upload = uploading.receive_path(benchmark=benchmark, owner=user, path=path)
    name = _free_name(benchmark, system)
    uploading.mark_imported(upload, f"baseline '{name}'")
    return runs.create_run(
        staged=staged,
        benchmark=benchmark,
        name=name,
        owner=user,
        sha256=upload.sha256,
        upload=upload,
        kind=Run.Kind.BASELINE,
        description=SYSTEMS[system].description,
        metadata={SYSTEM_KEY: system},
    )


def _free_name(benchmark: Benchmark, system: str) -> str:
    taken = set(benchmark.runs.filter(name__startswith=system).values_list("name", flat=True))
    names = (system, f"{system} baseline", *(f"{system} baseline {n}" for n in range(2, 1000)))
    return next(name for name in names if name not in taken)
