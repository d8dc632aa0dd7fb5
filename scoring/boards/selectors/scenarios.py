"""What means would be under other readings of unjudged documents, as they are stored.

They stand among a run's scores, in the place of a slice: no slice is called so, because a file of
slices has tabs between its columns.
"""

from collections.abc import Iterable, Mapping

from scoring.models import Score, ScoreSet
from scoring.scores.selectors.boards import Unjudged

CONDENSED, ALL_RELEVANT, DRAWN = "\tcondensed", "\tall relevant", "\tdrawn"
PLACES = (CONDENSED, ALL_RELEVANT, DRAWN)


def stored_scenarios(score_sets: Iterable[ScoreSet], name: str) -> dict[int, Unjudged]:
    """The scenarios of a measure by the keys of score sets, where all of them are there."""
    rows = Score.objects.filter(
        score_set__in=[score_set.pk for score_set in score_sets],
        measure=name,
        slice_name__in=PLACES,
    )
    by_set: dict[int, dict[str, Score]] = {}
    for score in rows:
        by_set.setdefault(score.score_set_id, {})[score.slice_name] = score
    return {key: _unjudged(of) for key, of in by_set.items() if len(of) == len(PLACES)}


def _unjudged(of: Mapping[str, Score]) -> Unjudged:
    low, high = of[DRAWN].ci_low, of[DRAWN].ci_high
    drawn = None if low is None or high is None else (low, high)
    return Unjudged(of[CONDENSED].mean, of[ALL_RELEVANT].mean, drawn)
