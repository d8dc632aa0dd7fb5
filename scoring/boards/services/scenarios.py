"""What documents that nobody judged could change of a board's means: computed once, and stored."""

from collections.abc import Iterable
from math import isnan
from time import monotonic

from benchmarks_app.models import Release
from benchwright.errors import ScoringError
from benchwright.evaluation.stored_hits import read_hits
from benchwright.evaluation.unjudged import Scenarios, scenarios
from scoring.boards.selectors.scenarios import ALL_RELEVANT, CONDENSED, DRAWN, stored_scenarios
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.score_sets import score_files
from scoring.scores.services.scoring import Target

# A page waits this long; the rest is computed by the next one.
SECONDS = 4.0


def add_scenarios(*, release: Release, score_sets: Iterable[ScoreSet], name: str) -> int:
    """Store the scenarios of a measure for score sets that lack them; returns how many still do.

    Stops when a page has waited long enough.
    """
    sets = [each for each in score_sets if each.hits]
    there = stored_scenarios(sets, name)
    lacking = [each for each in sets if each.pk not in there]
    if not lacking:
        return 0
    deadline, target, n_done = monotonic() + SECONDS, Target.of(release), 0
    for score_set in lacking:
        if monotonic() > deadline:
            break
        rows = _rows(score_set, name, _scenarios(score_set, name, target))
        # Another page may have added the same meanwhile: its numbers are the same.
        Score.objects.bulk_create(rows, ignore_conflicts=True)
        n_done += 1
    return len(lacking) - n_done


def _scenarios(score_set: ScoreSet, name: str, target: Target) -> Scenarios | None:
    hits = read_hits(score_files(score_set))
    try:
        return scenarios(name, target.judged, hits, top_grade=target.top_grade)
    except ScoringError:
        return None  # a run that shares no query with the release has none


def _rows(score_set: ScoreSet, name: str, values: Scenarios | None) -> list[Score]:
    def row(place: str, mean: float | None, low: float | None, high: float | None) -> Score:
        return Score(
            score_set=score_set,
            measure=name,
            slice_name=place,
            mean=_defined(mean),
            ci_low=_defined(low),
            ci_high=_defined(high),
            n=score_set.n_queries,
            judged_share=None,
        )

    if values is None:
        return [row(place, None, None, None) for place in (CONDENSED, ALL_RELEVANT, DRAWN)]
    return [
        row(CONDENSED, values.condensed, None, None),
        row(ALL_RELEVANT, values.all_relevant, None, None),
        row(DRAWN, None, values.drawn_low, values.drawn_high),
    ]


def _defined(value: float | None) -> float | None:
    return None if value is None or isnan(value) else value
