"""What a person can get wrong with the order of a queue, and mend.

QueueError (benchwright.errors.BenchmarkError)
├── QueuePoolError      a pool that is closed, or that orders itself
└── QueueSourceError    too little to order it by
"""

from benchwright.errors import BenchmarkError


class QueueError(BenchmarkError, code="queue", status=409):
    message = "The queue cannot be put in order so."


class QueuePoolError(QueueError, code="queue-pool", status=409):
    message = "The queue of {pool} cannot be put in order: {why}."


class QueueSourceError(QueueError, code="queue-source", status=422):
    message = "{what}. Choose {expected}, or another order."
