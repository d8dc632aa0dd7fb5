"""How far a benchmark has changed: what is kept of its boards holds for one state alone."""

from django.db import models

EVERY_BENCHMARK = 0


class Change(models.Model):
    """What the triggers of `benchmarks_app.changes` count, and nothing else writes.

    The sum of `n` over a benchmark and `EVERY_BENCHMARK` names the state of what its boards read.
    Each change adds a random number: a database that was put back and changed in another way does
    not come to the same sum. On PostgreSQL each transaction has a row of its own, so that nobody
    waits for another; the sweeper folds them into one.
    """

    # No foreign key: what is deleted with a benchmark is counted after it has gone.
    benchmark = models.BigIntegerField()
    writer = models.BigIntegerField(default=0)
    n = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "writer"], name="change_once_per_writer"),
        ]

    def __str__(self) -> str:
        return f"{self.n} of {self.benchmark or 'every benchmark'}"
