"""A machine judge asked about a whole pool: answers a second, of those that its server can give.

A site with a worker of its own, and a judge on the loopback in another process that takes a fifth
of a second for each answer and has as many places as are asked at once. What it can serve at most
is places over delay; what a campaign comes to includes reading texts, checking answers and writing
each label in a transaction of its own.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.performance.judging import DATABASES, cpu_seconds, made_site, tree
from tests.performance.toy import size
from tests.system.site import ROOT
from tests.system.working import wait_for_job

N_PAIRS = size(10_000, 60)
CONCURRENCY = 16
DELAY = 0.2
LEAST = 0.9
LONGEST_SECONDS = 1_800
HEAD = [
    "| database | pairs | seconds | answers/s | of what the judge serves | worker CPU ms a pair "
    "| written twice |",
    "|---|---|---|---|---|---|---|",
]


def campaign(database: str, folder: Path, url: str) -> tuple[str, float]:
    """A row of the table, and the share of what the judge could serve."""
    with made_site(database, folder) as site:
        site.env["JUDGE_PRIVATE_ADDRESSES"] = "1"
        site.start("worker")
        started = site.call(
            "start_campaign", slug="asked", n_pairs=N_PAIRS, url=url, concurrency=CONCURRENCY
        )
        began = time.perf_counter()
        wait_for_job(site, started["job"], seconds=LONGEST_SECONDS)
        seconds = time.perf_counter() - began
        cpu = cpu_seconds(tree(site.processes["worker"].pid)) / N_PAIRS * 1000
        ((n, n_pairs),) = site.rows(
            "SELECT count(*), count(DISTINCT docid) FROM annotation_judgment WHERE kind = 'machine'"
        )
    if n_pairs != N_PAIRS:
        raise SystemExit(f"{n_pairs} of {N_PAIRS} pairs have a label.")
    share = N_PAIRS / seconds / (CONCURRENCY / DELAY)
    row = (
        f"| {database} | {N_PAIRS:,} | {seconds:.1f} | {N_PAIRS / seconds:.1f} | {share:.1%} "
        f"| {cpu:.1f} | {n - n_pairs} |"
    )
    return row, share


def main() -> list[str]:
    """Ask about every pair on each database; return the lines for docs/performance.md."""
    command = [sys.executable, "-m", "tests.judge_stub"]
    limits = ["--delay", str(DELAY), "--places", str(CONCURRENCY)]
    stub = subprocess.Popen(
        [*command, *limits], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert stub.stdin is not None and stub.stdout is not None
    url = stub.stdout.readline().strip()
    lines, bounds = list(HEAD), []
    print("\n".join(HEAD))
    for database in DATABASES:
        folder = Path(tempfile.mkdtemp(prefix="benchwright-asked-", dir=os.environ.get("TMPDIR")))
        try:
            row, share = campaign(database, folder, url)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(row, flush=True)
        lines.append(row)
        is_held = "holds" if share >= LEAST else "DOES NOT HOLD"
        served = f"{share:.1%} of {CONCURRENCY / DELAY:.0f} answers a second"
        bounds.append(f"- {database}: {served} (at least {LEAST:.0%}): {is_held}")
    stub.stdin.close()
    stub.wait(timeout=10)
    return [*lines, "", *bounds]


if __name__ == "__main__":
    main()
