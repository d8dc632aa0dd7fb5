"""A corpus retrieved by four worker processes, of which one is killed with a shard in its hands.

The run has to have the bytes of the one that a single process makes. Workers, queue on Redis,
sweeper and database are real ones of a site made for this.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.performance.scoring_service import broker
from tests.performance.toy import size
from tests.system.site import ROOT, Site
from tests.system.working import wait_for_job

N_DOCUMENTS = int(os.environ.get("SHARDS_DOCUMENTS", size("1000000", "8000")))
N_QUERIES, N_WORKERS, N_SHARDS = size((200, 4, 8), (20, 2, 3))
INTO_THE_MIDDLE = size(1.0, 0.0)  # seconds
SYSTEM, DEPTH = "bm25", 100
AT_WORK = (
    "SELECT count(*) FROM benchmarks_app_job WHERE kind = 'retrieve-shard' AND state = 'running'"
)


def main() -> list[str]:
    """The lines of the page."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    with (
        TemporaryDirectory() as folder,
        broker(Path(folder)) as url,
        Site(Path(folder) / "site", broker=url) as site,
    ):
        site.longest_seconds = 3600
        made_in = _seconds(lambda: site.call("make_words", **_texts()))
        print(f"{N_DOCUMENTS:,} documents imported in {made_in:.0f} s", flush=True)
        alone = Path(folder) / "alone.trec"
        one_seconds, one_memory = _alone(site, alone)
        print(f"one process: {one_seconds:.1f} s, {one_memory / 1e6:,.0f} MB", flush=True)
        several_seconds, made = _shared(site)
        is_same = Path(made["path"]).read_bytes() == alone.read_bytes()
        n_lines = len(alone.read_bytes().splitlines())
    print(f"{N_WORKERS} workers: {several_seconds:.1f} s, same bytes: {is_same}", flush=True)
    if not is_same or 2 not in made["attempts"]:
        raise AssertionError(f"the runs differ, or no shard was lost: {made['attempts']}")
    return [
        f"{N_DOCUMENTS:,} documents of 40 words, {N_QUERIES} queries, the first {DEPTH} of each: "
        f"{n_lines:,} lines, the same bytes both ways.",
        "",
        "| | seconds | memory of a process |",
        "|---|---:|---:|",
        f"| one process | {one_seconds:.1f} | {one_memory / 1e6:,.0f} MB in all |",
        f"| {N_WORKERS} workers, {N_SHARDS} shards, one worker killed | {several_seconds:.1f} "
        f"| {made['memory'] / 1e6:,.0f} MB beyond what a worker holds |",
        "",
        f"Done twice: {made['attempts'].count(2)} of {len(made['attempts'])} jobs. Of a query, the "
        f"slowest shard took {made['p50']:.1f} ms at p50 and {made['p95']:.1f} ms at p95.",
    ]


def _texts() -> dict[str, Any]:
    return {"slug": "words", "n_documents": N_DOCUMENTS, "n_queries": N_QUERIES}


def _alone(site: Site, path: Path) -> tuple[float, float]:
    """Seconds and peak memory of one process that makes the run."""
    asked = ["--system", SYSTEM, "--k", str(DEPTH), "--shards", "1", "-o", str(path)]
    command = [sys.executable, "manage.py", "retrieve", "words", *asked]
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=site.env)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise AssertionError(f"retrieve ended with {status}")
    return time.perf_counter() - started, usage.ru_maxrss * 1024


def _shared(site: Site) -> tuple[float, dict[str, Any]]:
    """Seconds of the workers, with the one that dies; and what they made."""
    job = site.call("start_baseline", slug="words", system=SYSTEM, n_shards=N_SHARDS)
    started = time.perf_counter()
    # Alone at first, so that it has a shard in its hands however quick the others are.
    site.start("worker", name="worker-0")
    _stop_at_work(site, "worker-0")
    for number in range(1, N_WORKERS):
        site.start("worker", name=f"worker-{number}")
    site.start("sweeper")
    time.sleep(INTO_THE_MIDDLE)
    site.kill("worker-0")
    wait_for_job(site, job, seconds=3600)
    seconds = time.perf_counter() - started
    return seconds, site.call("baseline_made", slug="words")


def _stop_at_work(site: Site, name: str) -> None:
    """Stop the one worker there is in the middle of a shard, which it does not finish any more."""

    def is_at_work() -> bool:
        return site.rows(AT_WORK) == [(1,)]

    site.wait_for(is_at_work, "a worker to be at work", seconds=120, pause=0.005)
    site.kill(name, signal.SIGSTOP)
    while not is_at_work():
        site.kill(name, signal.SIGCONT)
        site.wait_for(is_at_work, "it to be at work again", seconds=120, pause=0.005)
        site.kill(name, signal.SIGSTOP)


def _seconds(work: Any) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
