"""A run's means over slices beside those of a baseline, with the intervals of the differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import isnan
from typing import Any

from django.core.cache import cache

from benchmarks_app.models import Release, Run
from benchwright.evaluation.uncertainty import interval_of, span_of
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.boards import score_sets_seen_by
from scoring.scores.selectors.releases import measures_stored, release_families
from scoring.scores.services import measuring
from scoring.scores.services.firewall import Sight
from scoring.scores.services.slice_scores import (
    BoardSlice,
    members_of,
    slices_of_release,
    slices_on_board,
    whole_slice,
)

Ends = tuple[float | None, float | None]
ALL = "All queries"


@dataclass(frozen=True)
class SliceAgainst:
    """Means of a run and a baseline over a slice, or over all queries, as somebody sees them."""

    name: str
    is_all: bool
    is_registered: bool
    is_small: bool
    n: int
    mean: float | None
    low: float | None
    high: float | None
    judged_share: float | None
    base_mean: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None

    @property
    def is_told_apart(self) -> bool:
        """Whether the interval of the difference leaves 0 out."""
        low, high = self.difference_low, self.difference_high
        return low is not None and high is not None and (low > 0 or high < 0)


def baselines_for(user: Any, score_set: ScoreSet) -> list[ScoreSet]:
    """What a run can be held against: the other scored runs one may see, baselines first."""
    others = score_sets_seen_by(user, score_set.release).exclude(run=score_set.run_id)
    # Of a thousand runs not people, but names are chosen from.
    others = others.prefetch_related(None)
    return sorted(others, key=lambda other: (other.run.kind != Run.Kind.BASELINE, other.run.name))


def slices_against(
    score_set: ScoreSet, baseline: ScoreSet | None, measure: str, sight: Sight, user: Any
) -> list[SliceAgainst]:
    """All queries, then the slices that may be shown, by one measure.

    A difference of rounded means is told, where means are: it says nothing that they do not. Its
    interval would, so it is for who sees every grade. What is told of a submission is told of its
    source here too. What scoring does not store is computed for who is signed in.
    """
    release = score_set.release
    slices = slices_on_board(release)
    may_add = user.is_authenticated or measure in measures_stored(release)
    mine = _means(score_set, slices, measure, sight, may_add=may_add)
    theirs = _means(baseline, slices, measure, sight, may_add=may_add) if baseline else {}
    ends = {}
    if baseline and sight.is_clear:
        ends = _difference_ends(score_set, baseline, slices, measure)
    rows = [whole_slice(release), *slices]
    return [
        _row(part, mine[part.name], theirs.get(part.name), ends.get(part.name), sight)
        for part in rows
        if part.name in mine
    ]


def _row(
    of: BoardSlice, score: Score, base: Score | None, ends: Ends | None, sight: Sight
) -> SliceAgainst:
    low, high = ends or (None, None)
    return SliceAgainst(
        name=of.name or ALL,
        is_all=not of.name,
        is_registered=of.is_registered,
        is_small=of.is_small,
        n=score.n,
        mean=sight.rounded(score.mean),
        low=sight.rounded(score.ci_low),
        high=sight.rounded(score.ci_high),
        judged_share=sight.rounded(score.judged_share),
        base_mean=sight.rounded(base.mean) if base else None,
        difference=sight.difference(score.mean, base.mean) if base else None,
        difference_low=low,
        difference_high=high,
    )


def _means(
    score_set: ScoreSet, slices: Sequence[BoardSlice], measure: str, sight: Sight, *, may_add: bool
) -> dict[str, Score]:
    """The stored means by slice, "" for all queries; what lacks is computed where it `may_add`."""
    names = ["", *(part.name for part in slices)]
    rows = score_set.scores.filter(measure=measure, slice_name__in=names)
    scores = {score.slice_name: score for score in rows}
    lacking = [name for name in names if name not in scores] if may_add else []
    of: dict[str, Any] = {"release": score_set.release, "score_sets": [score_set]}
    for name in lacking:
        if name:
            measuring.add_slice_scores(**of, slice_name=name, names=[measure])
        else:
            measuring.add_measure(**of, name=measure)
    stored = rows.all() if lacking else scores.values()
    return {score.slice_name: score for score in sight.means(stored)}


def _difference_ends(
    score_set: ScoreSet, baseline: ScoreSet, slices: Sequence[BoardSlice], measure: str
) -> dict[str, Ends]:
    """The interval of each mean difference; score sets never change, so it is worked out once."""
    names = ["", *(part.name for part in slices)]
    facts = repr((score_set.pk, baseline.pk, measure, names))
    key = f"against-{sha256(facts.encode()).hexdigest()}"
    ends = cache.get(key)
    if ends is None:
        release = score_set.release
        differences = _differences(score_set, baseline, measure)
        families = release_families(release)
        least, most = span_of(measure)
        span = (least - most, most - least)
        ends = {name: _ends(differences, families, _inside(release, name), span) for name in names}
        cache.set(key, ends, timeout=None)
    return ends


def difference_interval(score_set: ScoreSet, other: ScoreSet, measure: str, part: str = "") -> Ends:
    """The interval of the mean difference of two runs, over all queries or a slice or split.

    For who sees every grade of these queries; worked out once, as score sets never change.
    """
    key = f"against-{sha256(repr((score_set.pk, other.pk, measure, [part])).encode()).hexdigest()}"
    ends: dict[str, Ends] | None = cache.get(key)
    if ends is None:
        release = score_set.release
        least, most = span_of(measure)
        inside = members_of(release, part) if part else None
        differences = _differences(score_set, other, measure)
        span = (least - most, most - least)
        ends = {part: _ends(differences, release_families(release), inside, span)}
        cache.set(key, ends, timeout=None)
    return ends[part]


def _inside(release: Release, name: str) -> frozenset[str] | None:
    return slices_of_release(release)[name] if name else None


def _ends(
    differences: Mapping[str, float],
    families: Mapping[str, str],
    inside: frozenset[str] | None,
    span: tuple[float, float],
) -> Ends:
    chosen = {qid: of for qid, of in differences.items() if inside is None or qid in inside}
    return interval_of(chosen, families, span=span) or (None, None)


def _differences(score_set: ScoreSet, baseline: ScoreSet, measure: str) -> dict[str, float]:
    """Value of the run less that of the baseline, of the queries where both are defined."""
    mine, theirs = (
        {row["qid"]: row[measure] for row in measuring.per_query_values(run_scores, measure)}
        for run_scores in (score_set, baseline)
    )
    both = {qid: value - theirs[qid] for qid, value in mine.items() if qid in theirs}
    return {qid: value for qid, value in both.items() if not isnan(value)}
