"""How contenders are timed: in turns, in one run, so that a busy moment hits all alike."""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

from tests.performance.toy import size

ROUNDS = size(3, 1)


def median_seconds(contenders: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """Median wall time of each, taken in turns."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, work in contenders.items():
            started = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - started)
    return {name: statistics.median(taken) for name, taken in times.items()}


def report(title: str, medians: Mapping[str, float], ours: str = "benchwright") -> None:
    print(f"\n{title}")
    for name, seconds in medians.items():
        ratio = "" if name == ours else f"   ours takes {medians[ours] / seconds:.2f}x of it"
        print(f"  {name:<24} {seconds:8.3f} s{ratio}")


def missing(peer: str) -> None:
    print(f"  {peer}: not installed; `make bench` installs it from requirements-bench.lock")
