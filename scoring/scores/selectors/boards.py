"""Boards: the means of the runs of one release, ranked."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from math import inf, isnan
from typing import Any, NamedTuple, Protocol

from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from benchmarks_app.common.selectors.naming import is_anonymous_to, owner_name
from benchmarks_app.models import Release, Run
from benchwright.comparison.comparability import COMPARABLE, ROUNDING
from benchwright.comparison.comparability import PROVISIONAL as AT_ALL
from benchwright.evaluation.uncertainty import Standing
from benchwright.runs.facts import is_trained_on, system_type
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.attempts import group_of
from scoring.scores.selectors.releases import SCORER_VERSION, relevance_threshold
from scoring.scores.selectors.score_sets import Answered
from scoring.scores.shown import FIRST_MEASURE, Shown, added, measures_on

Interval = tuple[float, float]

JUDGED = "Judged@10"
# What a run is whose judged share of the first ten is too low to compare it freely, or at all.
PROVISIONAL, NOT_COMPARABLE = gettext_noop("provisional"), gettext_noop("not comparable")


class Sees(Protocol):
    """What one person is told of the numbers of a release: `services.firewall.Sight`."""

    @property
    def is_clear(self) -> bool: ...
    def tells(self, measure: str) -> bool: ...
    def rounded(self, value: float | None) -> float | None: ...
    def source(self, score_set: int, measure: str, slice_name: str) -> int | None: ...
    def answered(self, score_set: ScoreSet) -> Answered | None: ...


class Unjudged(NamedTuple):
    """What a mean would be under other readings of the documents that nobody judged."""

    condensed: float | None
    all_relevant: float | None
    drawn: Interval | None


@dataclass(frozen=True)
class BoardRow:
    """One run on a board; `rank` is shared by runs whose shown scores are equal.

    A run without a value of the measure has no rank. Scores and intervals are by the whole names of
    measures. `standing` says which ranks the run may have and which runs it cannot be told from;
    None where that was not worked out. `by` is who the run is by, as far as the viewer may know;
    `team` what its attempts are counted by, empty where it must not be known. `source` is the key
    of the score set that its mean of the board's measure is from, None where there is none yet;
    `held` is a `services.held.Held` where others are told the mean of another submission.
    `answered` is None where it may not be told.
    """

    rank: int | None
    is_tied: bool
    run: Run
    score_set: ScoreSet
    scores: dict[str, float | None]
    intervals: dict[str, Interval]
    is_mine: bool
    answered: Answered | None
    source: int | None = None
    held: Any = None
    standing: Standing | None = None
    by: str = ""
    team: str = ""
    n_attempts: int = 1
    adjusted: float | None = None
    unjudged: Unjudged | None = None
    before: Any = None

    @property
    def judged(self) -> float | None:
        return self.scores.get(JUDGED)

    @property
    def comparability(self) -> str:
        """`provisional` or `not comparable` by the judged share of the first ten; empty if fine."""
        if self.judged is None or self.judged >= COMPARABLE - ROUNDING:
            return ""
        return PROVISIONAL if self.judged >= AT_ALL - ROUNDING else NOT_COMPARABLE

    @property
    def type(self) -> str:
        return system_type(self.run.metadata)

    @property
    def is_trained(self) -> bool:
        """Whether its training sets name the benchmark, or it says so of itself."""
        benchmark = self.run.benchmark
        return is_trained_on(self.run.metadata, (benchmark.slug, benchmark.name))

    @property
    def is_baseline(self) -> bool:
        return self.run.kind == Run.Kind.BASELINE

    @property
    def is_private(self) -> bool:
        return not self.run.is_public


@dataclass(frozen=True)
class _Entry:
    """A score set with its numbers, as they may be told."""

    score_set: ScoreSet
    answered: Answered | None
    scores: dict[str, float | None] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)
    sources: dict[str, int | None] = field(default_factory=dict)


# --- score sets ----------------------------------------------------------------------------


def whole_score_sets(release: Release) -> QuerySet[ScoreSet]:
    """The score sets of the runs of a release that were not withdrawn, with run and owner.

    A thousand runs are of few people: each of these is read once.
    """
    standing = Run.objects.filter(benchmark=release.benchmark_id).standing()
    return (
        ScoreSet.objects.filter(
            release=release, scorer_version=SCORER_VERSION, run__in=standing.values("pk")
        )
        .select_related("run")
        .prefetch_related("run__owner", "run__team", "run__benchmark")
    )


def score_sets_seen_by(user: Any, release: Release) -> QuerySet[ScoreSet]:
    """The score sets of a release whose runs this person may see."""
    visible = Run.objects.filter(benchmark=release.benchmark_id).visible_to(user)
    return whole_score_sets(release).filter(run__in=visible.values("pk"))


def judged_shares_on(release: Release) -> dict[int, float]:
    """{run: mean judged share of its first ten}, of the standing runs scored on a release."""
    scores = Score.objects.filter(
        score_set__in=whole_score_sets(release).select_related(None).values("pk"),
        measure=JUDGED,
        slice_name="",
        mean__isnull=False,
    )
    rows = scores.values_list("score_set__run", "mean")
    return {run: mean for run, mean in rows if mean is not None}


# --- rows ----------------------------------------------------------------------------------


def leaderboard(
    *,
    release: Release,
    user: Any,
    measure: Shown = FIRST_MEASURE,
    slice_name: str = "",
    sight: Sees | None = None,
    is_alone: bool = False,
) -> list[BoardRow]:
    """The runs of a release that this person may see, best first by `measure`.

    As many queries however many runs there are. Runs rank by the four decimals a board shows: what
    looks equal shares a rank, and the next rank counts all before it (1, 2, 2, 4). Equal ones stand
    by full score, then by name. With a `sight` measures that are not told are left out, every mean
    is rounded before anything else is done with it, and so are the ends of intervals, and the
    numbers of a run may be those of another, by measure. Where the measure `is_alone` rows have no
    others, which takes half as long.
    """
    name = measure.counting_from(relevance_threshold(release))
    score_sets = score_sets_seen_by(user, release)
    entries = _entries(release, score_sets, slice_name, sight, name if is_alone else "")
    return list(_ranked(entries, name, user))


def whole_leaderboard(
    *, release: Release, measure: Shown = FIRST_MEASURE, slice_name: str = ""
) -> list[BoardRow]:
    """As `leaderboard`, with every run: for who sits at the machine itself."""
    name = measure.counting_from(relevance_threshold(release))
    return list(_ranked(_entries(release, whole_score_sets(release), slice_name), name, None))


def _entries(
    release: Release,
    score_sets: QuerySet[ScoreSet],
    slice_name: str,
    sight: Sees | None = None,
    alone: str = "",
) -> list[_Entry]:
    answered = sight.answered if sight else Answered.by
    entries = {score_set.pk: _Entry(score_set, answered(score_set)) for score_set in score_sets}
    withheld = None if sight is None or sight.is_clear else sight
    stored: dict[int, dict[str, tuple[float | None, Interval | None]]] = {}
    # Plain values: a thousand runs have seven thousand scores, and models of them take long.
    scores = Score.objects.filter(
        score_set__release=release,
        score_set__scorer_version=SCORER_VERSION,
        slice_name=slice_name,
    )
    if alone:
        scores = scores.filter(measure=alone)
    rows = scores.values_list("score_set", "measure", "mean", "ci_low", "ci_high")
    for key, measure, mean, low, high in rows:
        if withheld:
            if not withheld.tells(measure):
                continue
            mean, low, high = map(withheld.rounded, (mean, low, high))
        ends = (low, high) if low is not None and high is not None else None
        stored.setdefault(key, {})[measure] = mean, ends
    for key, entry in entries.items():
        for measure in stored.get(key, ()):
            of = withheld.source(key, measure, slice_name) if withheld else key
            entry.sources[measure] = of
            mean, ends = (stored.get(of, {}) if of else {}).get(measure, (None, None))
            entry.scores[measure] = mean
            if ends:
                entry.intervals[measure] = ends
    return list(entries.values())


def _ranked(entries: list[_Entry], name: str, viewer: Any) -> Iterator[BoardRow]:
    """Rows by the measure `name`; without a viewer nobody is named in them."""
    entries.sort(key=lambda entry: (-_sortable(entry.scores.get(name)), entry.score_set.run.name))
    labels = [f"{_sortable(entry.scores.get(name)):.4f}" for entry in entries]
    n_equal, rank_of = Counter(labels), _first_places(labels)
    for label, entry in zip(labels, entries, strict=True):
        run = entry.score_set.run
        is_told = viewer is not None and not is_anonymous_to(run, viewer)
        yield BoardRow(
            rank=rank_of[label] if _has_value(entry.scores.get(name)) else None,
            is_tied=n_equal[label] > 1 and _has_value(entry.scores.get(name)),
            run=run,
            score_set=entry.score_set,
            scores=entry.scores,
            intervals=entry.intervals,
            is_mine=viewer is not None and _is_submission_of(run, viewer.pk),
            answered=entry.answered,
            source=entry.sources.get(name),
            by="" if viewer is None else owner_name(run, viewer),
            team=group_of(run) if is_told else "",
        )


# --- scores beside the plain ones ------------------------------------------------------------


def weighted_scores(
    score_sets: Iterable[ScoreSet], measures: Iterable[str]
) -> dict[int, dict[str, Score]]:
    """The weighted means of score sets, by their keys and measures; one query for all."""
    rows = Score.objects.filter(
        score_set__in=[score_set.pk for score_set in score_sets],
        slice_name=Score.WEIGHTED,
        measure__in=list(measures),
    )
    by_set: dict[int, dict[str, Score]] = {}
    for score in rows:
        by_set.setdefault(score.score_set_id, {})[score.measure] = score
    return by_set


def added_measures(rows: Iterable[BoardRow], threshold: int) -> list[Shown]:
    """Measures that somebody has added to a board, by name."""
    standard = {measure.name for measure in measures_on(threshold)}
    names = {name for row in rows for name in row.scores} - standard
    return [added(name, threshold) for name in sorted(names)]


def _is_submission_of(run: Run, user_id: int | None) -> bool:
    """Whether to point a run out to its owner: imported ones and baselines are nobody's entry."""
    return user_id is not None and run.owner_id == user_id and run.kind == Run.Kind.SUBMITTED


def _first_places(values: Iterable[str]) -> dict[str, int]:
    """Where each value stands first, from 1."""
    places: dict[str, int] = {}
    for place, value in enumerate(values, start=1):
        places.setdefault(value, place)
    return places


def _has_value(mean: float | None) -> bool:
    return _sortable(mean) > -inf


def _sortable(mean: float | None) -> float:
    return -inf if mean is None or isnan(mean) else mean


@dataclass(frozen=True)
class Record:
    """A run that was better than every run before it."""

    at: datetime
    row: BoardRow
    value: float
    interval: Interval | None
    gain: float | None


def records_of(rows: Iterable[BoardRow], name: str) -> list[Record]:
    """The runs that stood above all earlier ones by a measure, the first of all included.

    What counts is the value as it is shown, and a board that is shown: nothing else is told here.
    """
    best: float | None = None
    records = []
    for row in sorted(rows, key=lambda row: (row.run.created_at, row.run.pk)):
        mean = row.scores.get(name)
        if row.rank is None or mean is None:
            continue
        value = round(mean, 4)
        if best is not None and value <= best:
            continue
        gain = None if best is None else value - best
        interval = row.intervals.get(name)
        records.append(Record(row.run.created_at, row, value, interval, gain))
        best = value
    return records
