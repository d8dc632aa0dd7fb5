"""What a site takes that nobody uses: each process that `up` starts, a minute after it was up.

Memory is the proportional share (PSS): what processes share counts once. Processor time is that of
the start, and of a minute in which nothing happens.
"""

import os
import tempfile
import time
from pathlib import Path

from tests.performance.burst import TICKS
from tests.performance.toy import size
from tests.system.site import SHORT, Site

MINUTE = size(60, 2)
LIMIT_BYTES = 200 << 20
# By the name that `up` gives its processes; the others have that of Python.
KINDS = {"bench-web": "web server", "bench-worker": "worker"}


def main() -> list[str]:
    """The lines of the table in docs/performance.md."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    with tempfile.TemporaryDirectory() as folder, Site(Path(folder) / "site") as site:
        for name in SHORT:
            site.env.pop(name)
        site.start("up")
        site.wait_for(lambda: site.rows("SELECT 1 FROM benchmarks_app_workerheartbeat"), "a worker")
        time.sleep(MINUTE / 4)
        start = seconds_of(site)
        time.sleep(MINUTE)
        spent = seconds_of(site)
        lines = [
            "| process | MB | s of processor to start | ms in a minute |",
            "|---|---:|---:|---:|",
        ]
        total = 0
        for pid in site.alive():
            total += (n_bytes := pss(pid))
            began = start.get(pid, 0.0)
            lines.append(
                f"| {command_of(pid)} | {n_bytes / 1e6:.0f} | {began:.1f} "
                f"| {1000 * (spent.get(pid, began) - began):.0f} |"
            )
        is_met = "met" if total < LIMIT_BYTES else "not met"
        lines.append(
            f"| all; wanted: under {LIMIT_BYTES / 1e6:.0f} MB: {is_met} | {total / 1e6:.0f} | | |"
        )
    print("\n".join(lines))
    return lines


def pss(pid: int) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    (line,) = (line for line in rollup.splitlines() if line.startswith("Pss:"))
    return int(line.split()[1]) << 10


def seconds_of(site: Site) -> dict[int, float]:
    """Seconds of processor by process."""
    results = {}
    for pid in site.alive():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        results[pid] = sum(map(int, fields[11:13])) / TICKS
    return results


def command_of(pid: int | str) -> str:
    parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
    kind, of = kind_of(pid), kind_of(parent)
    return f"{kind}, its child" if kind == of != "up" else kind


def kind_of(pid: int | str) -> str:
    return KINDS.get(Path(f"/proc/{pid}/comm").read_text().strip(), "up")


if __name__ == "__main__":
    main()
