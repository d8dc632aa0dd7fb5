"""What one person may see of the numbers on a release with a hidden split.

The grades of a hidden split are for the benchmark's keepers. To everybody else its queries exist
without values: means are rounded, so that a change of one grade does not show in them, and what is
told or counted query by query leaves those queries out. As long as the release's Ladder is in force
the means of a submission are those of the last one of its team or sender that was significantly
better.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchmarks_app.common.services.exposure import record_read
from benchmarks_app.models import Release
from benchmarks_app.permissions import Action, may
from benchmarks_app.releases.selectors import hidden_queries
from benchwright.errors import ScoringError
from benchwright.slices.telling import MeansTold
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.ladder import Ladder, Sources, ladder_on, sources_on
from scoring.scores.selectors.phases import OF_SPLIT, split_members
from scoring.scores.selectors.releases import declared_measures, relevance_threshold, weights_of
from scoring.scores.selectors.rescoring import OF_A_PART
from scoring.scores.selectors.score_sets import Answered
from scoring.scores.services.slice_scores import graded_queries, means_told, members_of
from scoring.scores.shown import Shown, any_measure

DECIMALS = 3
CLEAR_DECIMALS = 4  # what pages show where nothing is withheld
WHY = gettext_noop(
    "Queries of hidden splits are withheld here: a value of one query would tell its grades. "
    "They are in the means, which are rounded to {decimals} decimals."
)


@dataclass(frozen=True)
class Sight:
    """What is withheld from one person; empty and None where nothing is.

    `declared` are the names of the measures that are told where something is withheld. `release` is
    there where it has hidden queries.
    """

    hidden: frozenset[str] = frozenset()
    decimals: int | None = None
    declared: frozenset[str] = frozenset()
    release: Release | None = field(default=None, compare=False, repr=False)

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
        return "" if self.decimals is None else _(WHY).format(decimals=self.decimals)

    def tells(self, measure: str) -> bool:
        """Whether means of a measure, by its whole name, are for this person."""
        return self.is_clear or measure in self.declared

    @cached_property
    def ladder(self) -> Ladder | None:
        """The Ladder that is in force on the release; keepers see exact means all the same."""
        return ladder_on(self.release) if self.release else None

    @cached_property
    def _sources(self) -> Sources:
        return sources_on(self.release) if self.release and self.ladder else {}

    @cached_property
    def _expected(self) -> dict[int, Mapping[str, int] | None]:
        return {}

    def expect(self, score_sets: Iterable[int]) -> None:
        """Read whose values are told of these alone; else it is read of all on the release."""
        lacking = set(score_sets) - self._expected.keys()
        if lacking and self.release and self.ladder and "_sources" not in self.__dict__:
            sources = sources_on(self.release, lacking)
            self._expected.update({key: sources.get(key) for key in lacking})

    def _steps(self, score_set: int) -> Mapping[str, int] | None:
        if score_set in self._expected:
            return self._expected[score_set]
        return self._sources.get(score_set)

    def told_source(self, score_set: int, measure: str, slice_name: str = "") -> int | None:
        """The score set whose mean is told to who keeps no hidden grades, itself or another.

        None where it is not decided yet, and where hidden queries are told on another release. By
        the whole name of a measure; over the whole score set the slice is what it is `over`.
        """
        if self.is_public(slice_name):
            return score_set
        if self.is_told_elsewhere:
            return None
        steps = self._steps(score_set)
        return score_set if steps is None else steps.get(measure)

    def over(self, score_set: ScoreSet) -> str:
        """The slice that all queries of a score set are, where it is of one split; else ""."""
        name = OF_SPLIT.format(split=score_set.scorer_version.partition(OF_A_PART)[2])
        return name if self.release and name in split_members(self.release) else ""

    def source(self, score_set: int, measure: str, slice_name: str = "") -> int | None:
        """As `told_source`, for this person."""
        return score_set if self.is_clear else self.told_source(score_set, measure, slice_name)

    @cached_property
    def _told(self) -> MeansTold:
        return means_told(self.release) if self.release else MeansTold()

    @property
    def is_told_elsewhere(self) -> bool:
        """Whether means over hidden queries are told on another release, and not on this one."""
        return not self._told.is_told

    @cached_property
    def _public(self) -> dict[str, bool]:
        return {}

    def is_public(self, slice_name: str) -> bool:
        """Whether a slice, or a split by its slice's name, has no hidden query."""
        if not slice_name or slice_name == Score.WEIGHTED or self.release is None:
            return False
        if slice_name not in self._public:
            try:
                members = members_of(self.release, slice_name)
            except KeyError:
                return False
            self._public[slice_name] = members.isdisjoint(hidden_queries(self.release))
        return self._public[slice_name]

    def rounded(self, value: float | None) -> float | None:
        """A mean as this person sees it; a zero has no sign, which would tell of a tiny loss."""
        return (
            value if value is None or self.decimals is None else round(value, self.decimals) + 0.0
        )

    def difference(self, mean: float | None, other: float | None) -> float | None:
        """The difference of two means, of which it tells no more than the two do as shown."""
        if mean is None or other is None:
            return None
        if self.decimals is None:
            return mean - other
        return self.rounded(round(mean, self.decimals) - round(other, self.decimals))

    def seen(self, qids: Iterable[str]) -> list[str]:
        """The queries whose values and documents this person may see, in their order."""
        return [qid for qid in qids if qid not in self.hidden]

    def answered(self, score_set: ScoreSet) -> Answered | None:
        """How many graded queries a run answers, lacks and has beside them.

        None where hidden ones are among them: whoever left one query out, and another one in
        another run, would see which of them are graded.
        """
        split = score_set.scorer_version.partition(OF_A_PART)[2]
        is_public = split and self.release and split not in self.release.hidden_splits
        return Answered.by(score_set) if self.is_clear or is_public else None

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {}

    def _n_graded(self, slice_name: str) -> int:
        """The graded queries that a mean is over, also those without a value."""
        if slice_name not in self._sizes and self.release is not None:
            graded = graded_queries(self.release)
            if slice_name == Score.WEIGHTED:
                graded &= weights_of(self.release).keys()
            elif slice_name:
                graded = members_of(self.release, slice_name)
            self._sizes[slice_name] = len(graded)
        return self._sizes.get(slice_name, 0)

    def means(self, scores: Iterable[Score]) -> list[Score]:
        """Stored means of score sets of the release as this person sees them, not to be saved.

        Those of measures that are not told are left out.
        """
        if self.is_clear:
            return list(scores)
        told_scores = [
            score
            for score in scores
            if self.tells(score.measure)
            and (score.slice_name != Score.WEIGHTED or self._told.has_weighted)
        ]
        self.expect(score.score_set_id for score in told_scores)
        places = [
            (
                self.source(
                    score.score_set_id,
                    score.measure,
                    score.slice_name or self.over(score.score_set),
                ),
                score.measure,
                score.slice_name,
            )
            for score in told_scores
        ]
        stored: dict[tuple[int | None, str, str], Score] = {
            (score.score_set_id, score.measure, score.slice_name): score for score in told_scores
        }
        stored |= self._stored(place for place in places if place not in stored)
        return [
            self._seen(score, stored.get(place))
            for score, place in zip(told_scores, places, strict=True)
        ]

    def _stored(
        self, places: Iterable[tuple[int | None, str, str]]
    ) -> dict[tuple[int | None, str, str], Score]:
        wanted = set(places)
        if not wanted:
            return {}
        sets, measures, slices = (set(of) for of in zip(*wanted, strict=True))
        rows = Score.objects.filter(
            score_set__in=sets - {None}, measure__in=measures, slice_name__in=slices
        )
        return {(score.score_set_id, score.measure, score.slice_name): score for score in rows}

    def _seen(self, score: Score, source: Score | None) -> Score:
        """A copy with the numbers of another; without numbers where there is none.

        It counts all graded queries: of how many a value is undefined would tell of them.
        """
        return Score(
            score_set_id=score.score_set_id,
            measure=score.measure,
            slice_name=score.slice_name,
            mean=self.rounded(source.mean) if source else None,
            ci_low=self.rounded(source.ci_low) if source else None,
            ci_high=self.rounded(source.ci_high) if source else None,
            n=self._n_graded(score.slice_name or self.over(score.score_set)),
            judged_share=self.rounded(source.judged_share) if source else None,
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
    if not hidden:
        return Sight()
    if may(user, Action.EDIT, release.benchmark):
        return Sight(release=release)
    declared = frozenset(measure.name for measure in declared_measures(release))
    return Sight(hidden, DECIMALS, declared, release)


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
    measure = any_measure(text, relevance_threshold(release))
    if not sight_of(user, release).tells(measure.name):
        labels = ", ".join(each.label for each in declared)
        raise MeasureWithheldError(name=measure.label[:80], version=release.version, known=labels)
    return measure


def sight_written_down(user: Any, release: Release, what: str) -> Sight:
    """As `sight_of`, for what is told query by query: that a keeper saw it, is written down."""
    sight = sight_of(user, release)
    if sight.is_clear and hidden_queries(release):
        record_read(actor=user, benchmark=release.benchmark, what=what)
    return sight


def looked_at(score_set: ScoreSet, what: str) -> str:
    """What the audit trail says a keeper has seen of a run; `score_set` comes with both."""
    return f"run {score_set.run.name} on {score_set.release.version}, {what}"
