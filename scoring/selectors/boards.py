"""Boards: the means of the runs of one release, ranked."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf, isnan
from typing import Any

from django.db.models import Prefetch, QuerySet

from benchmarks_app.models import Release, Run
from scoring.core.uncertainty import Standing
from scoring.models import Score, ScoreSet
from scoring.selectors.releases import SCORER_VERSION, relevance_threshold
from scoring.selectors.score_sets import n_answered
from scoring.shown import FIRST_MEASURE, Shown, added, measures_on

Interval = tuple[float, float]


@dataclass(frozen=True)
class BoardRow:
    """One run on a board; `rank` is shared by runs whose shown scores are equal.

    Scores and intervals are by the whole names of measures. `standing` says which ranks the run may
    have and which runs it cannot be told from; None where that was not worked out.
    """

    rank: int
    is_tied: bool
    run: Run
    score_set: ScoreSet
    scores: dict[str, float | None]
    intervals: dict[str, Interval]
    is_mine: bool
    standing: Standing | None = None

    @property
    def n_answered(self) -> int:
        return n_answered(self.score_set)

    def standing_at(self, standing: Standing | None) -> "BoardRow":
        return replace(self, standing=standing)


def whole_score_sets(release: Release, slice_name: str = "") -> QuerySet[ScoreSet]:
    """The score sets of a release, with run, owner and means, overall or over a slice."""
    overall = Score.objects.filter(slice_name=slice_name)
    return (
        ScoreSet.objects.filter(release=release, scorer_version=SCORER_VERSION)
        .select_related("run__owner", "run__team", "run__benchmark")
        .prefetch_related(Prefetch("scores", queryset=overall, to_attr="overall"))
    )


def score_sets_seen_by(user: Any, release: Release, slice_name: str = "") -> QuerySet[ScoreSet]:
    """The score sets of a release whose runs this person may see."""
    seen = Run.objects.filter(benchmark=release.benchmark_id).standing().visible_to(user)
    return whole_score_sets(release, slice_name).filter(run__in=seen.values("pk"))


def leaderboard(
    *, release: Release, user: Any, measure: Shown = FIRST_MEASURE, slice_name: str = ""
) -> list[BoardRow]:
    """The runs of a release that this person may see, best first by `measure`.

    Two queries however many runs there are. Runs rank by the four decimals a board shows: what
    looks equal shares a rank, and the next rank counts all before it (1, 2, 2, 4). Equal ones stand
    by full score, then by name.
    """
    name = measure.counting_from(relevance_threshold(release))
    return _ranked(score_sets_seen_by(user, release, slice_name), name, user.pk)


def whole_leaderboard(*, release: Release, measure: Shown = FIRST_MEASURE) -> list[BoardRow]:
    """As `leaderboard`, with every run: for who sits at the machine itself."""
    name = measure.counting_from(relevance_threshold(release))
    return _ranked(whole_score_sets(release), name, None)


def _ranked(score_sets: Iterable[ScoreSet], name: str, user_id: int | None) -> list[BoardRow]:
    entries = [(one, {score.measure: score.mean for score in one.overall}) for one in score_sets]
    entries.sort(key=lambda entry: (-_sortable(entry[1].get(name)), entry[0].run.name))
    shown = [_shown(scores.get(name)) for _, scores in entries]
    n_equal, rank_of = Counter(shown), _first_places(shown)
    return [
        BoardRow(
            rank=rank_of[shown[place]],
            is_tied=n_equal[shown[place]] > 1,
            run=score_set.run,
            score_set=score_set,
            scores=scores,
            intervals=intervals_by_name(score_set.overall),
            is_mine=_is_submission_of(score_set.run, user_id),
        )
        for place, (score_set, scores) in enumerate(entries)
    ]


def weighted_scores(
    score_sets: Iterable[ScoreSet], measures: Iterable[str]
) -> dict[int, dict[str, Score]]:
    """The weighted means of score sets, by their keys and measures; one query for all."""
    rows = Score.objects.filter(
        score_set__in=[one.pk for one in score_sets],
        slice_name=Score.WEIGHTED,
        measure__in=list(measures),
    )
    found: dict[int, dict[str, Score]] = {}
    for score in rows:
        found.setdefault(score.score_set_id, {})[score.measure] = score
    return found


def intervals_by_name(scores: Iterable[Score]) -> dict[str, Interval]:
    """The intervals of the scores that have one, by the whole names of measures."""
    return {
        score.measure: (score.ci_low, score.ci_high)
        for score in scores
        if score.ci_low is not None and score.ci_high is not None
    }


def added_measures(rows: Iterable[BoardRow], threshold: int) -> list[Shown]:
    """Measures that somebody has added to a board, by name."""
    standard = {shown.name for shown in measures_on(threshold)}
    names = {name for row in rows for name in row.scores} - standard
    return [added(name) for name in sorted(names)]


def _is_submission_of(run: Run, user_id: int | None) -> bool:
    """Whether to point a run out to its owner: imported ones and baselines are nobody's entry."""
    return user_id is not None and run.owner_id == user_id and run.kind == Run.Kind.SUBMITTED


def _first_places(values: Iterable[str]) -> dict[str, int]:
    """Where each value stands first, from 1."""
    places: dict[str, int] = {}
    for place, value in enumerate(values, start=1):
        places.setdefault(value, place)
    return places


def _sortable(mean: float | None) -> float:
    return -inf if mean is None or isnan(mean) else mean


def _shown(mean: float | None) -> str:
    return f"{_sortable(mean):.4f}"
