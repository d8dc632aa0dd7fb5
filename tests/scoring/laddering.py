"""A site with a hidden split, and submissions to it whose values are known."""

from pathlib import Path
from typing import Any

from django.test import Client

from benchmarks_app.models import Run
from scoring.models import Phase, ScoreSet, Submission
from scoring.scores.services.scoring import Target, score_run
from tests import factories
from tests.scoring.hiding import HIDDEN, PUBLIC, hiding_benchmark, hiding_release, lines

BOARDS = "/api/v1/benchmarks/hiding/releases/{version}/leaderboard/"
BOARD = BOARDS.format(version="1.0.0")
# nDCG@10 of a query whose good document is at rank 2 and at rank 1.
SECOND, FIRST = 0.631, 1.0


def ranking(n_first: int) -> str:
    """The good document of the first `n_first` hidden queries is at rank 1, of others at rank 2."""
    first = set(HIDDEN[:n_first])
    return lines(
        {
            qid: [f"{qid}-good", f"{qid}-x"] if qid in first else [f"{qid}-x", f"{qid}-good"]
            for qid in PUBLIC + HIDDEN
        }
    )


class Site:
    """A public benchmark with a hidden split, and submissions to it in the order of sending."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.benchmark = hiding_benchmark()
        self.release = hiding_release(self.benchmark)
        self.phase = Phase.objects.get(release=self.release, split="test")
        self.people = {
            "olga": factories.member(self.benchmark, "olga", "owner"),
            "sam": factories.member(self.benchmark, "sam", "submitter"),
            "tim": factories.member(self.benchmark, "tim", "submitter"),
        }

    def sent(self, n_first: int, by: str = "sam", **values: Any) -> Run:
        """A run that was sent, and is not scored yet."""
        return self.sent_lines(ranking(n_first), by, **values)

    def sent_lines(self, content: str, by: str = "sam", **values: Any) -> Run:
        name = values.pop("name", f"run{Run.objects.count()}")
        run = factories.run(
            self.benchmark,
            content,
            name=name,
            owner=self.people[by],
            kind=Run.Kind.SUBMITTED,
            **values,
        )
        Submission.objects.create(
            phase=self.phase,
            run=run,
            name=name,
            submitter=run.owner,
            team=run.team,
            state=Submission.State.SCORED,
        )
        return run

    def submit_lines(self, content: str, by: str = "sam", **values: Any) -> ScoreSet:
        return self.score(self.sent_lines(content, by, **values))

    def score(self, run: Run) -> ScoreSet:
        return score_run(run=run, target=Target.of(self.release), folder=self.folder / str(run.pk))

    def submit(self, n_first: int, by: str = "sam", **values: Any) -> ScoreSet:
        return self.score(self.sent(n_first, by, **values))

    def client(self, name: str) -> Client:
        client = Client()
        if name:
            client.force_login(self.people[name])
        return client

    def board(
        self, name: str = "sam", version: str = "1.0.0", **asked: Any
    ) -> dict[str, float | None]:
        """{run: nDCG@10} on the board over the hidden split."""
        address = BOARDS.format(version=version)
        answer = self.client(name).get(address, {"split": "test", **asked}).json()
        return {row["run"]: row["nDCG@10"] for row in answer["rows"]}


def mean(n_first: int) -> float:
    return round((SECOND * (30 - n_first) + n_first) / 30, 3)
