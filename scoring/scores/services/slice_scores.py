"""Means over parts of a release's queries: which there are, which may be shown, what they are."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from benchmarks_app.common.selectors.reading import release_file_path, release_qrels
from benchmarks_app.models import Release, Slice
from benchmarks_app.releases.selectors import hidden_parts, hidden_queries, release_slices
from benchmarks_app.slices.services.records import members_digest
from benchwright import Evaluation, evaluate_hits
from benchwright.comparison.patterns import slice_role
from benchwright.evaluation.uncertainty import Families, MeanInterval, mean_intervals, recipe
from benchwright.reading.hits import Judged, QueryHits
from benchwright.slices.showing import SMALLEST_SHOWN
from benchwright.slices.telling import HiddenMeans, MeansTold, Telling
from scoring.models import ScoreSet
from scoring.scores.selectors.phases import OF_SPLIT, open_split, split_members, splits_of
from scoring.scores.selectors.releases import release_families, weights_of

SLICES = "slices.tsv"
RELEASE, SLICE = "release", "slice"


@dataclass(frozen=True)
class BoardSlice:
    """A slice of a release as a board offers it; `n` counts its graded queries.

    Over few families (or queries) an interval is too short.
    """

    name: str
    n: int
    n_families: int
    is_registered: bool

    @property
    def is_small(self) -> bool:
        return bool(self.warnings)

    @property
    def warnings(self) -> list[str]:
        """What is to be said of intervals over it."""
        from benchwright.statistics.intervals import warnings

        return list(warnings(self.n_families))


def graded_queries(release: Release) -> frozenset[str]:
    """The queries that a release grades; its files never change, so they are read once."""
    return _graded(str(release_file_path(release, "qrels.trec")), release.pk)


def slices_of_release(release: Release) -> Mapping[str, frozenset[str]]:
    """{slice: its graded queries}, of the slices that have one; read once."""
    if SLICES not in release.manifest.get("files", ()):
        return {}
    return _sliced(str(release_file_path(release, SLICES)), release.pk)


def slice_parts(release: Release, *, hidden: Collection[str] = frozenset()) -> dict[str, str]:
    """Which slice plays which part in patterns, by the rule it was made by, not by its name.

    Of several of one part the first that was made; of those that have graded queries beside the
    `hidden` ones.
    """
    names = [name for name, qids in slices_of_release(release).items() if not qids <= set(hidden)]
    slices = Slice.objects.filter(benchmark=release.benchmark_id, name__in=names)
    parts: dict[str, str] = {}
    for row in slices.order_by("pk"):
        role = slice_role(row.kind, str(row.rule.get("band", "")))
        if role:
            parts.setdefault(role, row.name)
    return parts


def members_of(release: Release, name: str) -> frozenset[str]:
    """The graded queries of a slice, or of a split by the name of its slice.

    Raises
    ------
    KeyError
        If there is neither.
    """
    return {**split_members(release), **slices_of_release(release)}[name]


# The paths are there for the caches' sake: they tell sites apart, and what was made anew.
@lru_cache(maxsize=16)
def _graded(path: str, release_id: int) -> frozenset[str]:
    return frozenset(release_qrels(Release.objects.get(pk=release_id)))


@lru_cache(maxsize=16)
def _sliced(path: str, release_id: int) -> dict[str, frozenset[str]]:
    release = Release.objects.get(pk=release_id)
    graded = graded_queries(release)
    members = {name: graded.intersection(qids) for name, qids in release_slices(release).items()}
    return {name: qids for name, qids in members.items() if qids}


def whole_slice(release: Release) -> BoardSlice:
    """All queries of a release, in the place of a slice."""
    if not release.folder:
        return BoardSlice("", 0, 0, is_registered=False)
    qids = graded_queries(release)
    return BoardSlice("", len(qids), n_families_of(release, qids), is_registered=False)


def n_families_of(release: Release, qids: Iterable[str]) -> int:
    return recipe(qids, release_families(release)).n_families


def slices_on_board(release: Release) -> list[BoardSlice]:
    """The slices whose means may be shown, by name.

    Of a release with a hidden split these are registered ones of at least 30 families, and no
    numbers that are told tell of fewer together: means over slices, splits and all queries, plain
    and weighted, and those of other releases.
    """
    members = slices_of_release(release)
    if not members:
        return []
    registered = _registered(release)
    hides = not hidden_queries(release).isdisjoint(graded_queries(release))
    return [
        BoardSlice(
            name, len(members[name]), n_families_of(release, members[name]), name in registered
        )
        for name in sorted(means_told(release).slices if hides else members)
    ]


def means_told(release: Release) -> MeansTold:
    """What is told of the hidden queries of a release, beside what was told before on any other.

    A release comes in the order in which it had its first scores: what was told stays.
    """
    path = str(release_file_path(release, "qrels.trec"))
    return _told(path, release.pk, _events(release))


Event = tuple[str, int | str, str]
# One time for all releases without scores: the order of rows in a table, or of clocks, is none.
NOT_YET = datetime.max.replace(tzinfo=UTC)


def _events(release: Release) -> tuple[Event, ...]:
    """What came to be told of the benchmark, in its order: releases, and slices registered.

    Releases without scores are last; nothing is told of them yet.
    """
    first = ScoreSet.objects.filter(release=OuterRef("pk")).order_by("pk").values("created_at")
    rows = Release.objects.published().filter(benchmark=release.benchmark_id)
    told_at = dict(
        rows.exclude(hidden_splits=[]).annotate(at=Subquery(first[:1])).values_list("pk", "at")
    )
    told_at.setdefault(release.pk, None)
    slices = Slice.objects.filter(benchmark=release.benchmark_id, is_registered=True)
    dated: list[tuple[Any, Event]] = [
        ((False, at, False, key), (SLICE, name, digest))
        for key, name, digest, at in slices.values_list(
            "pk", "name", "members_sha256", "registered_at"
        )
    ]
    dated += [
        ((at is None, at or NOT_YET, True, key), (RELEASE, key, "")) for key, at in told_at.items()
    ]
    return tuple(event for _, event in sorted(dated))


@lru_cache(maxsize=64)
def _told(path: str, release_id: int, events: tuple[Event, ...]) -> MeansTold:
    """What is told follows from these slices and releases; it takes long to work out."""
    telling = Telling()
    for kind, key, _at in events:
        if kind == SLICE:
            telling.add_slice(str(key))
        else:
            telling.add_release(int(key), _hidden_means(Release.objects.get(pk=key)))
    return telling.of(release_id)


def _hidden_means(release: Release) -> HiddenMeans:
    hidden, parts = hidden_queries(release), hidden_parts(release)
    qrels = release_qrels(release)
    registered, members = _registered(release), slices_of_release(release)
    whole = hidden.intersection(qrels)
    return HiddenMeans(
        parts=list(dict.fromkeys([whole, *parts])),
        grades={qid: qrels[qid] for qid in whole},
        public=frozenset(qrels.keys() - hidden),
        families=release_families(release),
        weights=weights_of(release),
        slices={
            name: qids
            for name, qids in members.items()
            if name in registered and n_families_of(release, qids) >= SMALLEST_SHOWN
        },
    )


def slices_compared(release: Release, *, is_public: bool) -> list[BoardSlice]:
    """The slices over which runs are compared, by name; of `is_public` ones the public queries.

    Values of public queries are told one by one, so no slice of them tells too much.
    """
    if not is_public:
        return slices_on_board(release)
    hidden, registered = hidden_queries(release), _registered(release)
    public = {name: qids - hidden for name, qids in slices_of_release(release).items()}
    return [
        BoardSlice(name, len(qids), n_families_of(release, qids), name in registered)
        for name, qids in sorted(public.items())
        if qids
    ]


def _registered(release: Release) -> set[str]:
    """Slices that are registered with the very members that the release has of them."""
    registrations = _registrations(release)
    if SLICES not in release.manifest.get("files", ()) or not registrations:
        return set()
    frozen = _digests(str(release_file_path(release, SLICES)), release.pk)
    return {name for name, digest in registrations if frozen.get(name) == digest}


def _registrations(release: Release) -> frozenset[tuple[str, str]]:
    """Name and digest of the members of each registered slice; neither changes any more."""
    rows = Slice.objects.filter(benchmark=release.benchmark_id, is_registered=True)
    return frozenset(rows.values_list("name", "members_sha256"))


@lru_cache(maxsize=16)
def _digests(path: str, release_id: int) -> dict[str, str]:
    frozen = release_slices(Release.objects.get(pk=release_id))
    return {name: members_digest(qids) for name, qids in frozen.items()}


# --- splits --------------------------------------------------------------------------------


ALL_SPLITS = "all"
# Where no phase is open: what a benchmark is for, then what systems are tuned on.
USUAL_SPLITS = ("test", "dev")
UNKNOWN_SPLIT = gettext_noop(
    "Release {version} has no split “{name}” that is a part of it. There are: {known}."
)


@dataclass(frozen=True)
class BoardSplit:
    """The split that a board ranks on; `name` is empty where all splits are taken together.

    `splits` has the number of graded queries of each that can be chosen.
    """

    name: str
    n: int
    splits: Mapping[str, int]
    error: str = ""

    @property
    def slice_name(self) -> str:
        return OF_SPLIT.format(split=self.name) if self.name else ""

    @property
    def asked(self) -> str:
        """What asks for it by name; "" where there is nothing to choose from."""
        return (self.name or ALL_SPLITS) if self.splits else ""

    @property
    def said(self) -> str:
        """Which queries are taken: "75 queries of the split test"."""
        queries = ngettext("{n} query", "{n} queries", self.n).format(n=f"{self.n:,}")
        if self.name:
            return _("{queries} of the split {split}").format(queries=queries, split=self.name)
        if not self.splits:
            return _("all {queries}").format(queries=queries)
        part = _("{n} of {split}")
        each = ", ".join(part.format(n=f"{n:,}", split=name) for name, n in self.splits.items())
        return _("all {queries} together: {each}").format(queries=queries, each=each)


def board_split(release: Release, wanted: str = "") -> BoardSplit:
    """The split a board ranks on: that of the open phase, unless another or "all" is wanted.

    Where none is open it is test, or else dev: splits are taken together only where that is wanted,
    or where there is neither.
    """
    if not release.folder:
        return BoardSplit("", 0, {})
    members = split_members(release)
    names = [name for name in splits_of(release) if OF_SPLIT.format(split=name) in members]
    splits = {name: len(members[OF_SPLIT.format(split=name)]) for name in names}
    n_all = len(graded_queries(release))
    error = ""
    if wanted and wanted not in (*splits, ALL_SPLITS):
        listed = ", ".join([*splits, ALL_SPLITS])
        error = _(UNKNOWN_SPLIT).format(version=release.version, name=wanted[:40], known=listed)
    chosen = wanted if wanted and not error else _usual_split(release, splits)
    name = chosen if chosen in splits else ""
    return BoardSplit(name, splits.get(name, n_all), splits, error)


def _usual_split(release: Release, splits: Mapping[str, int]) -> str:
    of_phase = open_split(release)
    if of_phase:
        return of_phase
    return next((split for split in USUAL_SPLITS if split in splits), "")


# --- computing -----------------------------------------------------------------------------


@dataclass(frozen=True)
class SliceEvaluation:
    """The measures of a run over one slice, with the intervals of their means."""

    name: str
    evaluation: Evaluation[str]
    intervals: Mapping[str, MeanInterval]


def slice_evaluations(
    members: Mapping[str, Collection[str]],
    *,
    judged: Mapping[str, Judged],
    found: Mapping[str, QueryHits[str]],
    names: Iterable[str],
    top_grade: int | None,
    families: Families,
) -> Iterator[SliceEvaluation]:
    """The measures over each slice; `members` are graded queries."""
    measures = list(names)
    for name, inside in members.items():
        evaluation = evaluate_hits(
            {qid: judged[qid] for qid in inside},
            {qid: found[qid] for qid in inside if qid in found},
            measures,
            allow_empty=True,
            top_grade=top_grade,
        )
        yield SliceEvaluation(name, evaluation, mean_intervals(evaluation, families))
