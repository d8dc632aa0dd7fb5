"""Reading what somebody submits, in a process of its own (`core.submitted_files`)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from benchmarks_app.collections.services import runs
from benchmarks_app.common.selectors.reading import unknown_documents
from benchmarks_app.common.services import reading_apart
from benchmarks_app.models import Benchmark
from benchwright.uploads import Place
from benchwright.uploads.submissions import READ, take_submitted

Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Read:
    """A submitted file that was found right."""

    staged: runs.StagedRun
    # What the file says of its system in comments.
    metadata: dict[str, Any] = field(default_factory=dict)


def read_submitted(
    *,
    path: Path,
    name: str,
    folder: Path,
    benchmark: Benchmark,
    aggregation: str,
    tell_read: Tell = lambda done, total: None,
    tell_written: Tell = lambda done, total: None,
) -> Read:
    """Check a submitted file and write it as Parquet into `folder`.

    Raises
    ------
    BenchmarkError
        With every line that is wrong, or what is wrong with the file as a whole; see
        `runs.stage_run` and `core.apart`.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def told(what: str, done: int, total: int) -> None:
        (tell_read if what == READ else tell_written)(done, total)

    staged = runs.stage_run(
        file=name,
        folder=folder / "run",
        taken_apart=lambda terms: reading_apart.call(
            take_submitted,
            Place(path, name),
            folder,
            terms,
            file=name,
            is_job=True,
            progress=told,
        ),
        allowed_queries=set(benchmark.queries.committed().values_list("qid", flat=True)),
        known_document=lambda docids: unknown_documents(benchmark, docids),
        benchmark=benchmark,
        aggregation=aggregation,
        max_depth=settings.RUN_MAX_DEPTH,
    )
    return Read(staged, staged.said)
