"""What can go wrong with a snapshot of a corpus.

BenchmarkError
├── SnapshotKindError      a list of ids for a corpus of texts
├── SnapshotWaitingError   an earlier snapshot is not decided yet
├── SnapshotOverError      it is taken, or the corpus has moved on since
└── SnapshotDateError      no date
"""

from benchmarks_app.core.errors import BenchmarkError


class SnapshotKindError(BenchmarkError):
    code = "snapshot-kind"
    message = (
        "{file} lists ids without texts, but version {number} of the corpus has texts, which would "
        "be lost. Import the documents themselves, or make a benchmark of ids only."
    )


class SnapshotWaitingError(BenchmarkError):
    code = "snapshot-waiting"
    status = 409
    message = (
        "Version {number} of the corpus is proposed and not decided. Take or discard it on the "
        "corpus page, then import this one."
    )


class SnapshotOverError(BenchmarkError):
    code = "snapshot-over"
    status = 409
    message = "Version {number} cannot be {what}: {why}."


class SnapshotDateError(BenchmarkError):
    code = "snapshot-date"
    message = "'{given}' is not a date. Write it as in 2026-03-31, or leave it out."
