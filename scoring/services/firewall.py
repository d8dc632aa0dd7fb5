"""What one person may see of the numbers on a release with a hidden split.

The grades of a hidden split are for the benchmark's keepers. To everybody else its queries exist
without values: means are rounded, so that a change of one grade does not show in them, and what is
told or counted query by query leaves those queries out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks_app.models import Release
from benchmarks_app.permissions import Action, may
from benchmarks_app.selectors import hidden_queries
from benchmarks_app.services.exposure import record_read
from scoring.core.errors import ScoringError
from scoring.models import Score, ScoreSet
from scoring.selectors import declared_measures, relevance_threshold
from scoring.shown import MEASURES, Shown, any_measure

DECIMALS = 3
CLEAR_DECIMALS = 4  # what pages show where nothing is withheld
WHY = (
    "Queries of hidden splits are withheld here: a value of one query would tell its grades. "
    "They are in the means, which are rounded to {decimals} decimals."
)


@dataclass(frozen=True)
class Sight:
    """What is withheld from one person; empty and None where nothing is.

    `declared` are the names of the measures that are told where something is withheld.
    """

    hidden: frozenset[str] = frozenset()
    decimals: int | None = None
    declared: frozenset[str] = frozenset()

    @property
    def is_clear(self) -> bool:
        return self.decimals is None

    @property
    def digits(self) -> int:
        """How many decimals a page shows of a mean."""
        return CLEAR_DECIMALS if self.decimals is None else self.decimals

    @property
    def why(self) -> str:
        """A sentence for where queries are withheld; empty where none are."""
        return "" if self.decimals is None else WHY.format(decimals=self.decimals)

    def tells(self, measure: str) -> bool:
        """Whether means of a measure, by its whole name, are for this person."""
        return self.is_clear or measure in self.declared

    def rounded(self, value: float | None) -> float | None:
        """A mean as this person sees it; a zero has no sign, which would tell of a tiny loss."""
        return (
            value if value is None or self.decimals is None else round(value, self.decimals) + 0.0
        )

    def difference(self, one: float | None, other: float | None) -> float | None:
        """The difference of two means, of which it tells no more than the two do as shown."""
        if one is None or other is None:
            return None
        if self.decimals is None:
            return one - other
        return self.rounded(round(one, self.decimals) - round(other, self.decimals))

    def seen(self, qids: Iterable[str]) -> list[str]:
        """The queries whose values and documents this person may see, in their order."""
        return [qid for qid in qids if qid not in self.hidden]

    def mean(self, score: Score) -> Score:
        """A copy of a stored mean as this person sees it; it is not to be saved."""
        if self.decimals is None:
            return score
        return Score(
            score_set_id=score.score_set_id,
            measure=score.measure,
            slice_name=score.slice_name,
            mean=self.rounded(score.mean),
            ci_low=self.rounded(score.ci_low),
            ci_high=self.rounded(score.ci_high),
            n=score.n,
            judged_share=self.rounded(score.judged_share),
        )


class MeasureWithheldError(ScoringError):
    code = "measure-withheld"
    status = 403
    message = (
        "{name} is not told of release {version}, which has a hidden split: other measures could "
        "tell its grades. There are: {known}."
    )


def sight_of(user: Any, release: Release) -> Sight:
    """What this person sees of a release; nothing is written down."""
    hidden = hidden_queries(release)
    if not hidden or may(user, Action.EDIT, release.benchmark):
        return Sight()
    return Sight(hidden, DECIMALS, frozenset(one.name for one in declared_measures(release)))


def measure_seen(user: Any, release: Release, text: str = "") -> Shown:
    """The measure of a name, if its means are for this person; the first one without a name.

    Raises
    ------
    MeasureWithheldError
        If it was not declared, and the release has a split that is hidden from this person.
    UnknownMeasureError, MeasureParameterError, CutoffError, RelevanceThresholdError
        If there is no such measure.
    """
    declared = declared_measures(release)
    if not text:
        return declared[0]
    found = any_measure(text, relevance_threshold(release))
    if not sight_of(user, release).tells(found.name):
        known = ", ".join(one.label for one in declared)
        raise MeasureWithheldError(name=found.label[:80], version=release.version, known=known)
    return found


def sight_written_down(user: Any, release: Release, what: str) -> Sight:
    """As `sight_of`, for what is told query by query: that a keeper saw it, is written down."""
    sight = sight_of(user, release)
    if sight.is_clear and hidden_queries(release):
        record_read(actor=user, benchmark=release.benchmark, what=what)
    return sight


def looked_at(score_set: ScoreSet, what: str) -> str:
    """What the audit trail says a keeper has seen of a run; `score_set` comes with both."""
    return f"run {score_set.run.name} on {score_set.release.version}, {what}"


# --- what selectors found, as somebody sees it ---------------------------------------------------


def as_seen(sight: Sight, score_set: ScoreSet) -> ScoreSet:
    """A score set with what pages show of it, rounded in place; see `selectors.score_sets_of_run`.

    Each of its lists and mappings of means and intervals is replaced; nothing of it is saved.
    """
    if sight.is_clear:
        return score_set
    threshold = relevance_threshold(score_set.release)
    told = {one.name for one in MEASURES if sight.tells(one.counting_from(threshold))}
    score_set.means = {
        name: sight.rounded(mean) for name, mean in score_set.means.items() if name in told
    }
    score_set.ranges = {
        name: _ends(sight, ends) for name, ends in score_set.ranges.items() if name in told
    }
    score_set.added = _seen(sight, score_set.added)
    score_set.weighted = [
        (name, sight.mean(score))
        for name, score in score_set.weighted
        if sight.tells(score.measure)
    ]
    score_set.overall = _seen(sight, score_set.overall)
    return score_set


def _seen(sight: Sight, scores: Iterable[Score]) -> list[Score]:
    return [sight.mean(score) for score in scores if sight.tells(score.measure)]


def _ends(sight: Sight, ends: tuple[float, float]) -> tuple[float, float]:
    return round(ends[0], sight.digits) + 0.0, round(ends[1], sight.digits) + 0.0
