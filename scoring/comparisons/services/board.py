"""Means of compared runs over hidden queries, too: those that the leaderboard shows."""

from dataclasses import dataclass
from typing import Any

from benchmarks_app.models import Run
from scoring.boards.services.boards import board_of
from scoring.comparisons.services.questions import Question
from scoring.scores.selectors.releases import relevance_threshold
from scoring.scores.services.firewall import sight_of
from scoring.scores.services.slice_scores import board_split
from scoring.scores.shown import any_measure


@dataclass(frozen=True)
class BoardMean:
    """A run's mean as its board shows it, and what it differs by from that of the reference.

    `over` says over which queries. The difference is one of means as shown.
    """

    run: Run
    over: str
    mean: float | None
    difference: float | None

    def as_dict(self) -> dict[str, Any]:
        """For a program; the run by its number as text, as everywhere in a comparison."""
        return {
            "run": str(self.run.pk),
            "over": self.over,
            "mean": self.mean,
            "difference": self.difference,
        }


def board_means(question: Question, user: Any) -> list[BoardMean]:
    """The runs in the order they were named; the reference is the baseline, or the first one."""
    release = question.release
    measure = any_measure(question.measure, relevance_threshold(release))
    board = board_of(release=release, user=user, measure=measure, split=board_split(release))
    means = {row.run.pk: row.scores.get(measure.name) for row in board.whole}
    reference = question.baseline or question.runs[0]
    sight = sight_of(user, release)
    return [
        BoardMean(
            run=run,
            over=board.over,
            mean=means.get(run.pk),
            difference=sight.difference(means.get(run.pk), means.get(reference.pk)),
        )
        for run in question.runs
    ]
