"""What a system takes: seconds to index, milliseconds a query, memory; and on which hardware."""

import os
import platform
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Self

from benchwright.retrieval.searching import Progress, Result, Searcher

STATUS = Path("/proc/self/status")
# Writing 5 there sets the peak of this process back to what it holds now.
CLEAR = Path("/proc/self/clear_refs")
CPUS = Path("/proc/cpuinfo")


@dataclass
class Taken:
    """What making a run took; `milliseconds` of each query by its id."""

    indexing_seconds: float = 0.0
    memory_bytes: int | None = None
    milliseconds: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "indexing_seconds": self.indexing_seconds,
            "memory_bytes": self.memory_bytes,
            "milliseconds": self.milliseconds,
        }

    @classmethod
    def side_by_side(cls, parts: Sequence[Self]) -> Self:
        """Of parts that were at work at once: what the slowest, or the largest, took."""
        qids = parts[0].milliseconds if parts else {}
        memory = [part.memory_bytes for part in parts if part.memory_bytes is not None]
        return cls(
            indexing_seconds=max((part.indexing_seconds for part in parts), default=0.0),
            memory_bytes=max(memory, default=None),
            milliseconds={qid: max(part.milliseconds[qid] for part in parts) for qid in qids},
        )


@contextmanager
def indexing(times: Taken) -> Iterator[None]:
    """Add the time of what is done inside to the indexing seconds."""
    started = perf_counter()
    yield
    times.indexing_seconds += perf_counter() - started


@contextmanager
def memory_watched(times: Taken) -> Iterator[None]:
    """Keep the most that this process held meanwhile beyond what it held before.

    Where the system does not tell, or does not let the peak be set back, it stays unknown.
    """
    before = _held("VmRSS") if _set_back() else None
    yield
    peak = _held("VmHWM")
    if before is not None and peak is not None:
        times.memory_bytes = max(times.memory_bytes or 0, peak - before, 0)


def _set_back() -> bool:
    try:
        CLEAR.write_text("5")
    except OSError:
        return False
    return True


def _held(name: str) -> int | None:
    try:
        match = re.search(rf"^{name}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(match[1]) * 1024 if match else None


def timed_results(
    searcher: Searcher,
    queries: Sequence[tuple[str, str]],
    *,
    k: int,
    taken: Taken,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """The results of `searcher`, asked one query after the other, and how long each took.

    The first query is asked once before anything is timed: what a system loads or compiles at its
    first question is not part of its answer.
    """
    for _ in searcher.search(queries[:1], k=k):
        pass
    for place, query in enumerate(queries, start=1):
        started = perf_counter()
        (result,) = searcher.search([query], k=k)
        taken.milliseconds[query[0]] = (perf_counter() - started) * 1000
        yield result
        if progress:
            progress(place, len(queries))


def hardware() -> str:
    """Processor, cores and memory of this machine; never its name."""
    parts = [_processor(), f"{os.cpu_count()} cores", _memory()]
    return ", ".join(filter(None, parts))


def _processor() -> str:
    try:
        match = re.search(r"^model name\s*:\s*(.+)$", CPUS.read_text(), re.MULTILINE)
    except OSError:
        match = None
    return " ".join(match[1].split()) if match else platform.machine()


def _memory() -> str:
    try:
        n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return ""
    return f"{n_bytes / 2**30:.0f} GB"
