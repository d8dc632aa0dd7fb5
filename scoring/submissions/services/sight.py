"""The scores of submissions as one person may see them."""

from collections.abc import Iterable
from typing import Any

from scoring.models import Score, ScoreSet, Submission
from scoring.scores.selectors.releases import declared_measures, relevance_threshold
from scoring.scores.services.firewall import Sight, as_seen, sight_of
from scoring.scores.services.held import held_of
from scoring.submissions.selectors.submissions import (
    SubmissionRow,
    by_bare_name,
    submission_scores,
    with_scores,
)


def scores_as_seen(user: Any, submission: Submission) -> ScoreSet | None:
    """What `submission_scores` finds, as they may see it, with what is `held`; not to be saved."""
    score_set = submission_scores(submission)
    if score_set is None:
        return None
    release = submission.phase.release
    sight = sight_of(user, release)
    threshold = relevance_threshold(release)
    score_set.held = held_of(
        sight, user, score_set, {one.name: one.label for one in declared_measures(release)}
    )
    score_set.digits = sight.digits
    score_set.of_split = by_bare_name(sight.means(score_set.of_split), threshold)
    return as_seen(sight, score_set)


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
    seen: dict[int, list[Score]] = {}
    for key, scores in by_release.items():
        for score in sights[key].means(scores):
            seen.setdefault(score.score_set_id, []).append(score)
    return [
        with_scores(row, seen.get(row.stored[0].score_set_id, []) if row.stored else [])
        for row in listed
    ]
