"""How runs moved from one release to a later one, and what moved them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from django.core.cache import cache
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from benchmarks_app.common.selectors.naming import owner_name
from benchmarks_app.common.selectors.reading import release_qrels
from benchmarks_app.models import Release, Run
from benchwright import evaluate_hits
from benchwright.datasets import released
from benchwright.evaluation.moves import (
    ADDED,
    CHANGED,
    ELSEWHERE,
    QUERIES,
    REMOVED,
    RULES,
    Explained,
    LabelCounts,
    Side,
    counts_retrieved,
    explained,
    label_counts,
    ranks,
)
from benchwright.evaluation.stored_hits import read_hits
from benchwright.reading.hits import Judged
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.boards import Sees
from scoring.scores.selectors.releases import (
    SCORER_VERSION,
    published_releases,
    relevance_threshold,
)
from scoring.scores.selectors.score_sets import score_files
from scoring.scores.shown import MEASURES, Shown

DECIMALS = 4
# Part of the keys under which explanations are kept.
EXPLAINED = "moves-3"


# A part that no board would show.
SMALLEST_CAUSE = 0.00005
CAUSES = {
    ADDED: gettext_noop("labels were added to what it retrieved"),
    ELSEWHERE: gettext_noop("labels were added to what it did not retrieve"),
    CHANGED: gettext_noop("labels changed"),
    REMOVED: gettext_noop("labels were taken away"),
    QUERIES: gettext_noop("the queries are others"),
    RULES: gettext_noop("the rules are others"),
}


@dataclass(frozen=True)
class Move:
    """A run on both releases; ranks are among the runs that both have scored.

    `labels` counts changed labels of documents that it retrieved, down to the measure's cutoff.
    """

    run: Run
    by: str
    before: ScoreSet | None
    after: ScoreSet
    mean_before: float | None
    mean_after: float | None
    rank_before: int | None = None
    rank_after: int | None = None
    labels: LabelCounts | None = None
    explained: Explained | None = None

    @property
    def places(self) -> int | None:
        """How many places it went up; below 0 it went down. None where it was not on both."""
        if self.rank_before is None or self.rank_after is None:
            return None
        return self.rank_before - self.rank_after

    @property
    def difference(self) -> float | None:
        if self.mean_before is None or self.mean_after is None:
            return None
        return self.mean_after - self.mean_before

    @property
    def said(self) -> str:
        """The move in a sentence: "up 3 places: 41 labels of what it retrieved changed"."""
        if self.places is None:
            return _("scored on this release alone")
        n = abs(self.places)
        if self.places > 0:
            moved = ngettext("up {n} place", "up {n} places", n).format(n=n)
        elif self.places < 0:
            moved = ngettext("down {n} place", "down {n} places", n).format(n=n)
        else:
            moved = _("same rank")
        if self.labels is None:
            return moved
        cause = f"; {self.cause}" if self.cause else ""
        return f"{moved}: {_labels_said(self.labels)}{cause}"

    @property
    def cause(self) -> str:
        """What accounts for most of the difference, in words; "" where that is not known.

        Where the other parts take half of it away, or more, they are named as well.
        """
        if self.explained is None:
            return ""
        parts = dict(self.explained.parts)
        parts[ADDED] -= self.explained.elsewhere
        parts[ELSEWHERE] = self.explained.elsewhere
        main = max(parts, key=lambda part: abs(parts[part]))
        if abs(parts[main]) < SMALLEST_CAUSE:
            return ""
        sign = 1 if parts[main] > 0 else -1
        against = [part for part in parts if parts[part] * sign <= -SMALLEST_CAUSE]
        if -2 * sign * sum(parts[part] for part in against) < abs(parts[main]):
            return _("mainly {cause}").format(cause=self._as(main, parts[main]))
        others = _(" and ").join(self._as(part, parts[part]) for part in against)
        return _("{cause}, against {others}").format(
            cause=self._as(main, parts[main]), others=others
        )

    def _as(self, part: str, size: float) -> str:
        n = self.explained.n_elsewhere if self.explained else 0
        documents = ngettext(
            "{n} new relevant document was found elsewhere",
            "{n} new relevant documents were found elsewhere",
            n,
        ).format(n=f"{n:,}")
        named = documents if part == ELSEWHERE and n else _(CAUSES[part])
        return _("{difference} as {cause}").format(difference=f"{size:+.4f}", cause=named)


def _labels_said(labels: LabelCounts) -> str:
    if not labels.total:
        return _("no label of what it retrieved changed")
    kinds = [
        (labels.added, _("{n} added")),
        (labels.changed, _("{n} changed")),
        (labels.removed, _("{n} removed")),
    ]
    each = ", ".join(kind.format(n=f"{n:,}") for n, kind in kinds if n)
    return ngettext(
        "{n} label of what it retrieved changed ({each})",
        "{n} labels of what it retrieved changed ({each})",
        labels.total,
    ).format(n=f"{labels.total:,}", each=each)


@dataclass(frozen=True)
class Moves:
    """Every run of a later release beside an earlier one, the greatest move first.

    `n_labels` is how many labels of the two releases differ, as the later one says; None where it
    does not.
    """

    before: Release
    after: Release
    measure: Shown
    slice_name: str
    rows: list[Move]
    n_labels: int | None

    @property
    def moved(self) -> list[Move]:
        return [row for row in self.rows if row.places]

    @cached_property
    def by_run(self) -> dict[int, Move]:
        """For boards: the move of each run by its key."""
        return {row.run.pk: row for row in self.rows}


def previous_release(release: Release) -> Release | None:
    """What a release is compared with where nothing is said: its parent, or the one before it."""
    earlier = earlier_releases(release)
    parent = (
        earlier_release for earlier_release in earlier if earlier_release.pk == release.parent_id
    )
    return next(parent, earlier[0] if earlier else None)


def earlier_releases(release: Release) -> list[Release]:
    """The published releases that a release can be compared with, the newest first."""
    return [
        published
        for published in published_releases(release.benchmark)
        if _is_before(published, release)
    ]


def release_before(release: Release, version: str = "") -> Release | None:
    """The earlier release of a version; what it is compared with by default where none is named."""
    if not version:
        return previous_release(release)
    return next(
        (earlier for earlier in earlier_releases(release) if earlier.version == version), None
    )


def _is_before(release: Release, other: Release) -> bool:
    return (release.major, release.minor, release.patch) < (other.major, other.minor, other.patch)


def measure_before(measure: Shown, before: Release) -> str:
    """The name of a measure on another release, whose scale may begin to be relevant elsewhere."""
    standard = next(
        (
            standard_measure
            for standard_measure in MEASURES
            if standard_measure.label == measure.label
        ),
        None,
    )
    return standard.counting_from(relevance_threshold(before)) if standard else measure.name


# --- ranks and means -----------------------------------------------------------------------


def moves_of(
    release: Release,
    *,
    user: Any,
    measure: Shown,
    before: Release,
    slice_name: str = "",
    sights: tuple[Sees | None, Sees | None] = (None, None),
) -> Moves:
    """The moves of the runs that this person may see, since an earlier release.

    `measure` is as this release stores it, `sights` are of both, the earlier first. Three queries.
    """
    visible = Run.objects.filter(benchmark=release.benchmark_id).standing().visible_to(user)
    runs = {run.pk: run for run in visible.select_related("owner", "team", "benchmark")}
    name_before = measure_before(measure, before)
    old = _means(before, name_before, slice_name, runs, sights[0])
    new = _means(release, measure.name, slice_name, runs, sights[1])
    shared = old.keys() & new.keys()
    places = [ranks({pk: of[pk][1] for pk in shared}, decimals=DECIMALS) for of in (old, new)]
    rows = [
        Move(
            run=runs[pk],
            by=owner_name(runs[pk], user),
            before=old[pk][0] if pk in old else None,
            after=score_set,
            mean_before=old[pk][1] if pk in old else None,
            mean_after=mean,
            rank_before=places[0].get(pk),
            rank_after=places[1].get(pk),
        )
        for pk, (score_set, mean) in new.items()
    ]
    return Moves(
        before, release, measure, slice_name, sorted(rows, key=_order), _n_labels(release, before)
    )


def _order(row: Move) -> tuple[Any, ...]:
    """The greatest move first, up before down; what has no rank before goes last."""
    places = row.places
    return (places is None, -abs(places or 0), -(places or 0), row.rank_after or 0, row.run.name)


def _means(
    release: Release,
    name: str,
    slice_name: str,
    runs: Collection[int],
    sight: Sees | None,
) -> dict[int, tuple[ScoreSet, float | None]]:
    """{run: its score set and mean as it is told}, of those that have a value of the measure."""
    if sight and not sight.tells(name):
        return {}
    scores = Score.objects.filter(
        score_set__release=release,
        score_set__scorer_version=SCORER_VERSION,
        measure=name,
        slice_name=slice_name,
    ).select_related("score_set")
    valued = {score.score_set_id: score for score in scores if score.mean is not None}
    means = {}
    for key, score in valued.items():
        source = sight.source(key, name, slice_name) if sight else key
        of = None if source is None else valued.get(source)
        if score.score_set.run_id in runs and of:
            mean = sight.rounded(of.mean) if sight else of.mean
            means[score.score_set.run_id] = score.score_set, mean
    return means


def _n_labels(release: Release, before: Release) -> int | None:
    """How many labels are not as they were; a release tells it of its parent."""
    if release.parent_id != before.pk or not release.label_diff:
        return None
    labels = release.label_diff["labels"]
    return int(labels["added"] + labels["changed"] + labels["removed"])


# --- why -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """Two releases, over all queries or those of a slice; their grades are read when needed.

    `hidden` queries are left out of what is counted.
    """

    before: Release
    after: Release
    slice_name: str = ""
    members_before: Collection[str] | None = None
    members_after: Collection[str] | None = None
    hidden: frozenset[str] = frozenset()

    @cached_property
    def qrels_before(self) -> Mapping[str, Mapping[str, int]]:
        return _part(release_qrels(self.before), self.members_before)

    @cached_property
    def qrels_after(self) -> Mapping[str, Mapping[str, int]]:
        return _part(release_qrels(self.after), self.members_after)

    @cached_property
    def labels(self) -> LabelCounts:
        """The changed labels of all queries that may be told of."""
        old, new = (_without(of, self.hidden) for of in (self.qrels_before, self.qrels_after))
        return label_counts(old, new)


def _part(qrels: Mapping[str, Any], members: Collection[str] | None) -> dict[str, Any]:
    return {qid: of for qid, of in qrels.items() if members is None or qid in members}


def _without(of: Mapping[str, Any], hidden: frozenset[str]) -> Mapping[str, Any]:
    return {qid: grades for qid, grades in of.items() if qid not in hidden} if hidden else of


def with_causes(row: Move, compared: Compared, measure: Shown) -> Move:
    """The row with what moved it; what was worked out once is kept.

    Of a comparison with hidden queries the parts of the difference are not told: they would tell
    of single grades.
    """
    if row.before is None:
        return row
    facts = (row.before.pk, row.after.pk, measure.name, compared.slice_name, bool(compared.hidden))
    key = f"{EXPLAINED}-{sha256(repr(facts).encode()).hexdigest()}"
    causes = cache.get(key)
    if causes is None:
        causes = _causes(row.before, row.after, compared, measure)
        cache.set(key, causes, timeout=None)
    labels, parts = causes
    return replace(row, labels=labels, explained=parts)


def is_explained(row: Move) -> bool:
    return row.before is None or row.labels is not None


def _causes(
    before: ScoreSet, after: ScoreSet, compared: Compared, measure: Shown
) -> tuple[LabelCounts, Explained | None]:
    old = _side(before, compared.qrels_before, measure_before(measure, compared.before))
    new = _side(after, compared.qrels_after, measure.name)
    cutoff = _cutoff(measure.name)
    labels = counts_retrieved(
        _without(_graded(old), compared.hidden),
        _without(_graded(new), compared.hidden),
        cutoff=cutoff,
    )
    return labels, None if compared.hidden else explained(old, new)


def _graded(side: Side) -> Mapping[str, Any]:
    return {qid: hits for qid, hits in side.hits.items() if qid in side.qrels}


def _cutoff(name: str) -> int | None:
    from benchwright.measures import parse_measure

    cutoff = parse_measure(name).cutoff
    return cutoff if isinstance(cutoff, int) else None


def _side(score_set: ScoreSet, qrels: Mapping[str, Mapping[str, int]], name: str) -> Side:
    import polars as pl

    files = score_files(score_set)
    hits = read_hits(files)
    top_grade = released.top_grade(score_set.release.manifest)
    if name in pl.read_parquet_schema(files.per_query):
        stored = pl.read_parquet(files.per_query, columns=["qid", name])
        values = {qid: value for qid, value in stored.iter_rows() if qid in qrels}
    else:
        judged = {
            qid: Judged(tuple(of.values()), score_set.release.is_complete)
            for qid, of in qrels.items()
        }
        whole = evaluate_hits(judged, hits, [name], allow_empty=True, top_grade=top_grade)
        values = {qid: of[name] for qid, of in whole.per_query.items()}
    return Side(name, values, hits, qrels, top_grade, score_set.release.is_complete)


def explained_rows(
    rows: Iterable[Move], compared: Compared, measure: Shown, *, has_time: Any
) -> list[Move]:
    """The rows with their causes, as long as `has_time()`: the others stay as they are."""
    return [with_causes(row, compared, measure) if has_time() else row for row in rows]
