"""The scores of submissions as one person may see them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from scoring.models import Score, ScoreSet, Submission
from scoring.selectors.submissions import SubmissionRow, submission_scores
from scoring.services.firewall import Sight, sight_of


def scores_as_seen(user: Any, submission: Submission) -> ScoreSet | None:
    """What `submission_scores` finds, rounded where its release hides a split; not to be saved."""
    score_set = submission_scores(submission)
    if score_set is None:
        return None
    sight = sight_of(user, submission.phase.release)
    score_set.means = {name: sight.rounded(mean) for name, mean in score_set.means.items()}
    score_set.ranges = {
        name: tuple(sight.rounded(end) for end in ends) for name, ends in score_set.ranges.items()
    }
    score_set.of_split = {
        name: _rounded(sight, score) for name, score in score_set.of_split.items()
    }
    return score_set


def _rounded(sight: Sight, score: Score) -> Score:
    score.mean = sight.rounded(score.mean)
    score.ci_low, score.ci_high = sight.rounded(score.ci_low), sight.rounded(score.ci_high)
    return score


def rows_as_seen(user: Any, rows: Iterable[SubmissionRow]) -> list[SubmissionRow]:
    """Rows of a list, rounded where their releases hide a split."""
    sights: dict[int, Sight] = {}
    seen = []
    for row in rows:
        release = row.submission.phase.release
        if release.pk not in sights:
            sights[release.pk] = sight_of(user, release)
        sight = sights[release.pk]
        scores = {name: sight.rounded(mean) for name, mean in row.scores.items()}
        seen.append(replace(row, scores=scores))
    return seen
