"""What the parts of an import share: the job, the file, its problems, and what the commit does."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Benchmark, Upload
from benchwright.corpora.images import DocumentImage
from benchwright.corpora.store import CorpusReader
from benchwright.errors import Problems

ROWS_PER_BATCH = 500
TOLD_EVERY_ROWS = 1000


@dataclass
class Import:
    """One import at work. `on_commit` are short: they run in the transaction that ends the job."""

    job: RunningJob
    upload: Upload
    file: str
    options: dict[str, Any]
    problems: Problems = field(default_factory=Problems)
    on_commit: list[Callable[[], None]] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)  # what it became, in words
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # files, each with its first problem
    # The corpus of the same import, where it brings one: runs beside it are of its documents.
    staged_corpus: CorpusReader | None = None
    # Images that were put aside: by their digests, and those beside an archive's tables by path.
    images_here: dict[str, DocumentImage] = field(default_factory=dict)
    images_beside: dict[Path, tuple[dict[str, DocumentImage], frozenset[str]]] = field(
        default_factory=dict
    )
    url: str = ""
    # Ids of the queries that this import has staged.
    staged_qids: set[str] = field(default_factory=set)
    # Not all of its queries are staged, for something is wrong: those that are named and not here
    # may be among them.
    lacks_queries: bool = False
    # The uploads at work now, and those that a file of a name came in: whom an error is about.
    at: list[Upload] = field(default_factory=list)
    upload_of: dict[str, set[int]] = field(default_factory=dict)

    @property
    def benchmark(self) -> Benchmark:
        return self.job.benchmark

    def option(self, upload: Upload, name: str) -> Any:
        """What was said of an upload: of one of several it was said by its key."""
        of = self.options.get("of")
        return (self.options if of is None else of.get(str(upload.pk), {})).get(name)

    def told(self, rows: Any, what: str) -> Any:
        """The same rows, with the job's progress told on the way."""
        n = 0
        for n, row in enumerate(rows, start=1):
            if n % TOLD_EVERY_ROWS == 0:
                self.job.progress(n, 0, f"{n:,} {what} read")
            yield row
        self.job.progress(n, 0, f"{n:,} {what} read")
