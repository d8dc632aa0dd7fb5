"""From a file that is sent in to its scores, and runs scored again, by two workers on Redis.

Real processes: web server, two workers, sweeper, and Redis.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from tests.performance.toy import size
from tests.system.making import run_file
from tests.system.sending import sent_in, signed_in
from tests.system.site import Site, free_port

N_SENT, N_QUERIES = size((20, 50), (1, 5))
N_AGAIN, N_QUERIES_AGAIN, DEPTH_AGAIN, N_CHANGED = size((24, 500, 100, 50), (2, 10, 5, 1))
# As many lines as a run of MS MARCO's development queries has.
LARGE_QUERIES, LARGE_DEPTH = size((7_000, 1_000), (10, 100))
GOALS = {"sent": 3.0, "large": 15.0, "again": 20.0}


def main() -> list[str]:
    """The lines of the table in docs/performance.md."""
    # The commands of the processes are those of the supervisor, which reads the settings.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    with (
        tempfile.TemporaryDirectory() as folder,
        broker(Path(folder)) as url,
        Site(Path(folder) / "site", broker=url) as site,
    ):
        rows = [sent(site, Path(folder)), again(site), large(site, Path(folder))]
    lines = ["| what | median | 95 % | goal |", "|---|---:|---:|---:|"]
    lines += [f"| {what} | {m:.2f} s | {p:.2f} s | {goal:g} s |" for what, m, p, goal in rows]
    print("\n".join(lines))
    return lines


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """The Redis of `TEST_BROKER_URL`, or else one of its own."""
    if url := os.environ.get("TEST_BROKER_URL"):
        yield url
        return
    if shutil.which("redis-server") is None:
        raise SystemExit("Install redis-server, or name a Redis as TEST_BROKER_URL.")
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    process = subprocess.Popen([*command, "--dir", str(folder)], stdout=subprocess.DEVNULL)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(timeout=10)


def start(site: Site) -> None:
    site.start("web")
    site.start("worker", n_workers=2)
    site.start("sweeper")
    site.wait_for(lambda: site.rows("SELECT 1 FROM benchmarks_app_workerheartbeat"), "a worker")


def sent(site: Site, folder: Path) -> tuple[str, float, float, float]:
    """Each run from the first byte sent until its scores are there, one after the other."""
    site.call("make_phase", slug="sent", n_queries=N_QUERIES)
    start(site)
    seconds = []
    with signed_in(site, "sam") as client:
        for n in range(N_SENT):
            name = f"run{n}"
            path = run_file(
                folder / f"{name}.run", n_queries=N_QUERIES, depth=100 + n, n_documents=500
            )
            began = time.monotonic()
            answer = sent_in(client, "sent", str(path))
            if answer.status_code != 200:
                raise RuntimeError(answer.text[-2000:])
            wait_until_scored(site, name)
            seconds.append(time.monotonic() - began)
    what = f"{N_QUERIES} queries sent in, until scored"
    return what, median(seconds), sorted(seconds)[int(len(seconds) * 0.95) - 1], GOALS["sent"]


def wait_until_scored(site: Site, name: str, seconds: float = 300) -> None:
    sql = "SELECT state FROM scoring_submission WHERE name = ?"

    def is_decided() -> bool:
        ((state,),) = site.rows(sql, name)
        if state in ("failed", "invalid"):
            raise RuntimeError(f"{name} is {state}")
        return state == "scored"

    site.wait_for(is_decided, f"{name} to be scored", seconds, pause=0.01)


def again(site: Site) -> tuple[str, float, float, float]:
    """All runs of a benchmark on a release that changes a tenth of the queries."""
    site.call("make_phase", slug="again", n_queries=N_QUERIES_AGAIN)
    site.call("make_runs", slug="again", n=N_AGAIN, n_queries=N_QUERIES_AGAIN, depth=DEPTH_AGAIN)
    wait_for_scores(site, N_AGAIN)
    began = time.monotonic()
    site.call("publish_changed", slug="again", n=N_CHANGED)
    published = time.monotonic()
    wait_for_scores(site, 2 * N_AGAIN)
    print(f"the release itself took {published - began:.1f} s")
    took = time.monotonic() - published
    what = f"{N_AGAIN} runs of {N_QUERIES_AGAIN} queries scored again"
    return what, took, took, GOALS["again"]


def wait_for_scores(site: Site, n: int) -> None:
    sql = (
        "SELECT count(*) FROM scoring_scoreset s JOIN benchmarks_app_run r ON r.id = s.run_id"
        " JOIN benchmarks_app_benchmark b ON b.id = r.benchmark_id WHERE b.slug = 'again'"
    )
    site.wait_for(lambda: site.rows(sql) == [(n,)], f"{n} score sets", 300, pause=0.02)


def large(site: Site, folder: Path) -> tuple[str, float, float, float]:
    """A run of seven million lines."""
    site.call("make_phase", slug="large", n_queries=LARGE_QUERIES)
    path = run_file(
        folder / "large.run", n_queries=LARGE_QUERIES, depth=LARGE_DEPTH, n_documents=100_000
    )
    with signed_in(site, "sam") as client:
        began = time.monotonic()
        sent_in(client, "large", str(path))
        wait_until_scored(site, "large")
        took = time.monotonic() - began
    return (
        f"{LARGE_QUERIES * LARGE_DEPTH:,} lines sent in, until scored",
        took,
        took,
        GOALS["large"],
    )
