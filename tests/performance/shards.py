"""A corpus retrieved by four worker processes, one killed with SIGKILL in the middle.

The run has to have the bytes of the one that a single process makes. Workers, queue on Redis,
sweeper and database are real ones of a site made for this.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.system.site import ROOT, SETUP, Site
from tests.system.working import wait_for_job

N_DOCUMENTS = int(os.environ.get("SHARDS_DOCUMENTS", "1000000"))
N_QUERIES, N_WORKERS, N_SHARDS = 200, 4, 8
SYSTEM, DEPTH = "bm25", 100
BROKER = os.environ.get("TEST_BROKER_URL", "redis://127.0.0.1:6379/9")
AT_WORK = (
    "SELECT count(*) FROM benchmarks_app_job WHERE kind = 'retrieve-shard' AND state = 'running'"
)


def main() -> list[str]:
    """The lines of the page."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    with TemporaryDirectory() as folder, Site(Path(folder) / "site", broker=BROKER) as site:
        made_in = _seconds(lambda: _inside(site, "make_words", _texts()))
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
    asked = {"slug": "words", "system": SYSTEM, "n_shards": N_SHARDS}
    job = _inside(site, "start_baseline", asked)
    started = time.perf_counter()
    for number in range(N_WORKERS):
        site.start("worker", name=f"worker-{number}")
    site.start("sweeper")
    site.wait_for(lambda: site.rows(AT_WORK)[0][0] == N_WORKERS, "all to be at work", seconds=120)
    time.sleep(1)  # into the middle of it
    site.kill("worker-1")
    wait_for_job(site, job, seconds=3600)
    seconds = time.perf_counter() - started
    return seconds, _inside(site, "baseline_made", {"slug": "words"})


def _inside(site: Site, name: str, arguments: dict[str, Any]) -> Any:
    """As `Site.call`, without its limit of time."""
    code = (
        f"{SETUP}import json; from tests.system import inside; "
        f"print(json.dumps(inside.call({name!r}, {arguments!r})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=site.env, capture_output=True, text=True
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def _seconds(work: Any) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
