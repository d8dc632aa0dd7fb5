"""Where the processor time of a submission goes: a flame of names, and the SQL of each.

One process does what the web server and a worker do, one run of 50 queries to rank 300 after the
other. Named functions are timed by the processor's clock, each with those that it calls in it; what
a reader uses is that of its own process. The queue between the two is not in it.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.performance.burst import DEPTH, N_JUDGED, N_QUERIES, TICKS, run_text
from tests.performance.toy import size
from tests.system.site import Site

N_RUNS, N_WARM = size((100, 5), (2, 1))
SLUG = "flame"
SUBMITTING, SCORING = "scoring.submissions.services.submitting", "scoring.scores.services.scoring"
JOB = "scoring.submissions.services.scoring_submission"
ENDPOINT = "scoring.submissions.api.submissions:SubmissionEndpoint"
# What is timed, in the order it is done in: where its name is looked up, and what that does.
PIECES = {
    f"{SUBMITTING}:submit_file": "take the file in",
    f"{SUBMITTING}:refuse_same_bytes": "same bytes before",
    f"{SUBMITTING}:refuse_over_limit": "limits of the phase",
    f"{SUBMITTING}:receive_upload": "store the upload",
    f"{SUBMITTING}:accept_submission": "admit it, start the job",
    "benchmarks_app.jobs.services.jobs:send": "send the job to the queue",
    f"{ENDPOINT}.told": "write the answer",
    "benchmarks_app.jobs.services.jobs:execute": "do the job",
    "benchmarks_app.jobs.services.jobs:_take": "take it from the queue's row",
    f"{JOB}:_validated": "validate",
    f"{JOB}:_read_run": "have the file read apart",
    f"{JOB}:held_target": "the release's grades",
    f"{SCORING}:scan_stored_run": "join with the grades",
    f"{SCORING}:scored_run": "score",
    f"{SCORING}:evaluate_hits": "measures",
    f"{SCORING}:mean_intervals": "intervals",
    f"{SCORING}:write_score_files": "write values and hits",
    f"{JOB}:_run_of": "store the run",
    f"{SCORING}:store_scores": "store the scores",
    f"{JOB}:_tell": "notices",
}


@dataclass
class Piece:
    """How often something was done, within what, its seconds and its statements."""

    depth: int = 0
    n: int = 0
    seconds: float = 0.0
    statements: int = 0


class Flame:
    """Times the named functions."""

    def __init__(self) -> None:
        self.pieces: dict[str, Piece] = {}
        self.depth = self.n_statements = 0

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        piece = self.pieces.setdefault(name, Piece(self.depth))
        began, before = time.process_time(), self.n_statements
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            piece.n += 1
            piece.seconds += time.process_time() - began
            piece.statements += self.n_statements - before

    def counted(self, execute: Callable[..., Any], *asked: Any) -> Any:
        self.n_statements += 1
        return execute(*asked)

    def watch(self, address: str, name: str) -> None:
        module, _, attribute = address.partition(":")
        *owners, last = attribute.split(".")
        owner: Any = import_module(module)
        for inner in owners:
            owner = getattr(owner, inner)
        function = getattr(owner, last)

        @wraps(function)
        def timed(*arguments: Any, **options: Any) -> Any:
            with self.within(name):
                return function(*arguments, **options)

        setattr(owner, last, timed)


def main() -> list[str]:
    """The lines of the table in docs/performance.md."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    limits = {"API_UPLOADS_PER_MINUTE": "1000000", "API_REQUESTS_PER_MINUTE": "1000000"}
    with tempfile.TemporaryDirectory() as folder, Site(Path(folder) / "site") as site:
        site.env |= limits
        site.longest_seconds = 1_800
        result = site.python("from tests.performance.flame import inside; inside()")
    rows = json.loads(result.splitlines()[-1])
    whole = sum(row["seconds"] for row in rows if not row["depth"])
    lines = [
        f"{N_RUNS:,} runs of {N_QUERIES} queries to rank {DEPTH}: "
        f"{1000 * whole / N_RUNS:.1f} ms of processor each.",
        "",
        "| what | ms a run | share | SQL statements |",
        "|---|---:|---:|---:|",
    ]
    lines += [
        f"| {'· ' * row['depth']}{row['name']} | {1000 * row['seconds'] / N_RUNS:.1f} "
        f"| {100 * row['seconds'] / whole:.0f}% | {row['statements'] / N_RUNS:.0f} |"
        for row in rows
    ]
    print("\n".join(lines))
    return lines


def inside() -> None:
    """In a process of the site: print the pieces as JSON."""
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.db import connection
    from django.test import Client

    from benchmarks_app.common.services import reading_apart
    from benchmarks_app.jobs.services import jobs
    from benchmarks_app.models import Job
    from scoring.models import Phase, Submission
    from tests.system import inside as made

    made.make_phase(SLUG, n_queries=N_QUERIES, n_judged=N_JUDGED)
    Phase.objects.update(daily_limit=1_000_000)
    token = made.token_of("sam")
    client = Client(headers={"host": "localhost", "Authorization": f"Bearer {token}"})
    flame = Flame()

    def send(name: str) -> None:
        file = SimpleUploadedFile(f"{name}.run", run_text(name).encode())
        with flame.within("request to the web server"):
            answer = client.post(
                f"/api/v1/benchmarks/{SLUG}/submissions/", {"name": name, "file": file}
            )
        assert answer.status_code == 201, answer.content
        jobs.execute(Job.objects.latest("pk").pk)

    for n in range(N_WARM):
        send(f"warm-{n}")
    flame.pieces.clear()
    for address, name in PIECES.items():
        flame.watch(address, name)
    readers = [child.process.pid for child in reading_apart.pool()._idle]
    before = sum(map(_seconds_of, readers))
    with connection.execute_wrapper(flame.counted):
        for n in range(N_RUNS):
            send(f"run-{n}")
    assert Submission.objects.filter(state=Submission.State.SCORED).count() == N_RUNS + N_WARM
    order = ["request to the web server", *PIECES.values()]
    rows = [{"name": name, **vars(flame.pieces[name])} for name in order if name in flame.pieces]
    spent = sum(map(_seconds_of, readers)) - before
    reader = {"name": "a reader: the file checked, ranked, written as Parquet", "depth": 0}
    print(json.dumps([*rows, {**reader, "n": N_RUNS, "seconds": spent, "statements": 0}]))


def _seconds_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / TICKS


if __name__ == "__main__":
    main()
