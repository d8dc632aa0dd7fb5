"""Statistics of the tables of scores are gathered after many runs, and not after each."""

from contextlib import nullcontext

from scoring.models import Score, ScoreSet
from scoring.rescoring.services import rescoring


def test_many_runs_that_are_scored_are_looked_at_once(release, monkeypatch):
    looked_at = []
    monkeypatch.setattr(rescoring, "analyse", lambda *tables: looked_at.append(tables))
    monkeypatch.setattr(rescoring, "_scored", lambda job, release, runs: [])
    for n, expected in ((rescoring.FEWEST, []), (rescoring.FEWEST + 1, [(ScoreSet, Score)])):
        monkeypatch.setattr(rescoring, "_runs_of", lambda job, release, n=n: [None] * n)
        rescoring.score_runs(FakeJob(release))
        assert looked_at == expected


class FakeJob:
    """As much of a job as a handler of it asks for."""

    def __init__(self, release) -> None:
        self.parameters = {"release": release.pk}

    def commit(self):
        return nullcontext({})
