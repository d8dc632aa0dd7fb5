"""What is known of labels beyond their grades: what was read, when, and how long it took.

Grades come from the app in which people judge; it registers what tells the rest. Where nobody does,
as for imported grades, nothing is known.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from benchmarks_app.models import Benchmark, QrelSet


class LabelRecord(NamedTuple):
    """A graded pair of a set: the hash of the text that was read last, empty where none was."""

    qid: str
    docid: str
    content_hash: str
    labelled_at: datetime


@dataclass(frozen=True)
class Labels:
    """What another app knows of a benchmark's labels: the ids that have any, and how many."""

    docids: Callable[[Benchmark], Iterable[str]]
    count: Callable[[Benchmark, Iterable[str]], int]


# Each app that keeps labels says here how they are counted.
LABELS: list[Labels] = []


Recorder = Callable[[QrelSet], Iterable[LabelRecord]]
Pacer = Callable[[Benchmark], float | None]
RECORDERS: list[Recorder] = []
PACERS: list[Pacer] = []


def records_labels(recorder: Recorder) -> Recorder:
    """Register what knows the labels that a set of grades was derived from."""
    RECORDERS.append(recorder)
    return recorder


def tells_pace(pacer: Pacer) -> Pacer:
    """Register what knows how many seconds a label takes; None where too few were timed."""
    PACERS.append(pacer)
    return pacer


def label_records(qrel_set: QrelSet) -> dict[tuple[str, str], LabelRecord]:
    """{(qid, docid): its label}, of the pairs of which something is known."""
    return {
        (record.qid, record.docid): record
        for recorder in RECORDERS
        for record in recorder(qrel_set)
    }


def seconds_per_label(benchmark: Benchmark) -> float | None:
    """The median that people take for a document, None where nobody knows."""
    paces = (pacer(benchmark) for pacer in PACERS)
    return next((seconds for seconds in paces if seconds is not None), None)
