"""The scores of submissions as one person may see them."""

from collections.abc import Iterable
from typing import Any

from scoring.models import Score, Submission
from scoring.scores.services.firewall import Sight, sight_of
from scoring.scores.services.held import ScoresSeen, scores_seen
from scoring.submissions.selectors.submissions import (
    SubmissionRow,
    submission_scores,
    with_scores,
)


def scores_as_seen(user: Any, submission: Submission) -> ScoresSeen | None:
    """The scores of a submission as somebody may see them."""
    sheet = submission_scores(submission)
    return scores_seen(sheet, user) if sheet else None


def rows_as_seen(user: Any, rows: Iterable[SubmissionRow]) -> list[SubmissionRow]:
    """Rows of a list as somebody may see them; a query for each release that hides a split."""
    listed = list(rows)
    sights: dict[int, Sight] = {}
    by_release: dict[int, list[Score]] = {}
    for row in listed:
        release = row.submission.phase.release
        if release.pk not in sights:
            sights[release.pk] = sight_of(user, release)
        by_release.setdefault(release.pk, []).extend(row.stored)
    visible: dict[int, list[Score]] = {}
    for key, scores in by_release.items():
        for score in sights[key].means(scores):
            visible.setdefault(score.score_set_id, []).append(score)
    return [
        with_scores(row, visible.get(row.stored[0].score_set_id, []) if row.stored else [])
        for row in listed
    ]
