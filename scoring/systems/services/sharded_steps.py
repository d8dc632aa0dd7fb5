"""What the jobs of a shared retrieval do: count, add up, search, merge."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

from django.urls import reverse

from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Benchmark, User
from benchwright.retrieval.searching import Result
from benchwright.retrieval.sparse.counting import Statistics
from benchwright.retrieval.sparse.sharding import (
    count_shard,
    merged_results,
    merged_statistics,
    open_shard,
    read_statistics,
)
from benchwright.retrieval.sparse.systems import Parameters
from scoring.models import ShardJob
from scoring.rescoring.services.rescoring import start_scoring_new_runs
from scoring.systems.selectors import is_made
from scoring.systems.services.baseline_runs import (
    create_baseline,
    staged_run,
    texts_between,
    write_results,
)
from scoring.systems.services.baseline_timing import Taken, indexing, memory_watched, timed_results
from scoring.systems.services.shards import STATISTICS, Piece, put_in_place

TELL_EVERY = 2_000


def retrieve_shard(job: RunningJob) -> None:
    """The handler: whichever step this job is of."""
    piece = Piece(job)
    STEPS[piece.row.step](piece)


def _count(piece: Piece) -> None:
    start, stop = piece.rows
    path, times = piece.job.folder / "counted", Taken()
    texts = _told_of(texts_between(piece.asked.version, start, stop), stop - start, piece)
    with memory_watched(times), indexing(times):
        count_shard(
            piece.asked.system, texts, path, parameters=Parameters(language=piece.asked.language)
        )
    took = _written(piece.job.folder / "took-counting.json", times)

    def put_down() -> None:
        put_in_place(path, piece.folder / _counted(piece.number))
        put_in_place(took, piece.folder / f"{piece.number}-took-counting.json")

    piece.end(put_down)


def _add_up(piece: Piece) -> None:
    path, times = piece.job.folder / STATISTICS, Taken()
    with indexing(times):
        counted = [
            read_statistics(piece.shared(_counted(number)))
            for number in range(piece.asked.n_shards)
        ]
        merged_statistics(counted).write(path)
    took = _written(piece.job.folder / "took.json", times)

    def put_down() -> None:
        put_in_place(path, piece.folder / STATISTICS)
        put_in_place(took, piece.folder / "took-adding-up.json")

    piece.end(put_down)


def _search(piece: Piece) -> None:
    times, queries = Taken(), piece.queries()
    path = piece.job.folder / "results.jsonl"
    with memory_watched(times):
        with indexing(times):
            statistics = Statistics.read(piece.shared(STATISTICS))
            searcher = open_shard(piece.shared(_counted(piece.number)), statistics)
        results = timed_results(
            searcher, queries, k=piece.asked.depth, taken=times, progress=piece.progress
        )
        _write_lines(results, path)
    took = _written(piece.job.folder / "took.json", times)

    def put_down() -> None:
        put_in_place(path, piece.folder / _found(piece.number))
        put_in_place(took, piece.folder / f"{piece.number}-took.json")

    piece.end(put_down)


def _merge(piece: Piece) -> None:
    baseline = piece.asked
    # Baselines are made for a benchmark, and who started it stays: accounts are emptied.
    benchmark = cast(Benchmark, piece.parent.benchmark)
    user = cast(User, piece.parent.created_by)
    numbers = range(baseline.n_shards)
    path = piece.job.folder / f"{baseline.system}.trec"
    rankings = [_read_lines(piece.shared(_found(number))) for number in numbers]
    write_results(merged_results(rankings, k=baseline.depth), baseline.system, path)
    staged = staged_run(benchmark, path, piece.job.folder / "stored")
    n_queries, times = len(piece.queries()), _taken(piece)

    def make() -> dict[str, Any]:
        if is_made(benchmark, baseline.parameters()):
            return {"notes": [f"{baseline.system} was made by another job meanwhile."]}
        run = create_baseline(
            benchmark=benchmark,
            user=user,
            asked=baseline,
            taken=times,
            n_queries=n_queries,
            path=path,
            staged=staged,
        )
        start_scoring_new_runs(benchmark, user)
        url = reverse("scoring:baseline-list", args=[benchmark.slug])
        return {"made": [f"run '{run.name}'"], "url": url}

    piece.end_with_parent(make)


STEPS: dict[str, Callable[[Piece], None]] = {
    ShardJob.Step.COUNT: _count,
    ShardJob.Step.STATISTICS: _add_up,
    ShardJob.Step.SEARCH: _search,
    ShardJob.Step.MERGE: _merge,
}


# --- files ---------------------------------------------------------------------------------


def _counted(number: int) -> str:
    return f"{number}-counted"


def _found(number: int) -> str:
    return f"{number}-results.jsonl"


def _write_lines(results: Iterable[Result], path: Path) -> None:
    """A line of JSON a query; scores as Python writes them, which gives back every bit."""
    with path.open("w") as out:
        for result in results:
            out.write(f"{json.dumps(result)}\n")


def _read_lines(path: Path) -> Iterator[Result]:
    with path.open() as lines:
        for line in lines:
            qid, hits = json.loads(line)
            yield qid, [(docid, score) for docid, score in hits]


def _written(path: Path, times: Taken) -> Path:
    path.write_text(json.dumps(times.as_json()))
    return path


def _read(path: Path) -> Taken:
    return Taken(**json.loads(path.read_text()))


def _taken(piece: Piece) -> Taken:
    """What all steps took together: the shards side by side, the steps one after the other."""
    numbers = range(piece.asked.n_shards)
    counting = Taken.side_by_side(
        [_read(piece.shared(f"{number}-took-counting.json")) for number in numbers]
    )
    searching = Taken.side_by_side(
        [_read(piece.shared(f"{number}-took.json")) for number in numbers]
    )
    adding_up = _read(piece.shared("took-adding-up.json"))
    steps = (counting, adding_up, searching)
    return Taken(
        indexing_seconds=sum(step.indexing_seconds for step in steps),
        memory_bytes=max(
            (step.memory_bytes for step in steps if step.memory_bytes is not None), default=None
        ),
        milliseconds=searching.milliseconds,
    )


def _told_of(
    texts: Iterable[tuple[str, str]], total: int, piece: Piece
) -> Iterator[tuple[str, str]]:
    for n, text in enumerate(texts, start=1):
        yield text
        if n % TELL_EVERY == 0:
            piece.progress(n, total)
