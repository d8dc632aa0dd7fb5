"""Phases: which there are, and over which queries each is scored."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from benchmarks_app.common.selectors.reading import release_qrels
from benchmarks_app.models import Benchmark, Release
from benchmarks_app.releases.selectors import release_splits
from benchmarks_app.store import file_store
from scoring.models import Phase, Submission
from scoring.scores.selectors.releases import SCORER_VERSION, open_phases, scorer_version_of

# In the place of a slice's name: the mean over the queries of one split. No slice is called so,
# because a file of slices has tabs between its columns.
OF_SPLIT = "\tsplit {split}"
UNCOUNTED = (Submission.State.INVALID, Submission.State.FAILED)


@dataclass(frozen=True)
class Scope:
    """The queries that a phase is about: the graded ones of its split.

    A phase `is_apart` where the release hides another split: its submissions are scored on their
    own queries alone, and stand on no board, so that nobody learns of the hidden split from a phase
    with a generous limit. A run is asked for its `members`: of a hidden split also those without a
    grade, as what is said of a run must not tell which these are.
    """

    split: str
    qids: frozenset[str]
    members: frozenset[str]
    n_graded: int
    is_hidden: bool
    is_apart: bool

    @property
    def is_whole(self) -> bool:
        """Whether the release grades no other query."""
        return len(self.qids) == self.n_graded

    @property
    def slice_name(self) -> str:
        """Under which name the means of this split are kept beside those of all queries."""
        return "" if self.is_whole or self.is_apart else OF_SPLIT.format(split=self.split)


def is_apart(phase: Phase) -> bool:
    """Whether the release hides another split than the phase's; see `Scope`."""
    return bool(set(phase.release.hidden_splits) - {phase.split})


def version_of(phase: Phase) -> str:
    """Under which name the scores of the phase's submissions are kept."""
    return scorer_version_of(phase.split) if is_apart(phase) else SCORER_VERSION


def scope_of(phase: Phase) -> Scope:
    """The queries of a phase; the files of a release never change, so they are read once."""
    release = phase.release
    graded, by_split = _graded_by_split(_place(release), release.pk)
    qids = by_split.get(phase.split, frozenset())
    is_hidden = phase.split in release.hidden_splits
    return Scope(
        split=phase.split,
        qids=qids,
        members=_members(_place(release), release.pk, phase.split) if is_hidden else qids,
        n_graded=len(graded),
        is_hidden=is_hidden,
        is_apart=is_apart(phase),
    )


# The path is there for the cache's sake: it tells sites apart, and what was made anew.
@lru_cache(maxsize=16)
def _graded_by_split(
    path: str, release_id: int
) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    release = Release.objects.get(pk=release_id)
    graded = frozenset(release_qrels(release))
    splits = release_splits(release)
    return graded, {split: graded.intersection(qids) for split, qids in splits.items()}


@lru_cache(maxsize=16)
def _members(path: str, release_id: int, split: str) -> frozenset[str]:
    return frozenset(release_splits(Release.objects.get(pk=release_id)).get(split, ()))


def _place(release: Release) -> str:
    return f"{file_store().place}/{release.folder}"


def splits_of(release: Release) -> list[str]:
    """The splits of a release that have graded queries, those that are hidden last."""
    _, by_split = _graded_by_split(_place(release), release.pk)
    there = [split for split, qids in by_split.items() if qids]
    return sorted(there, key=lambda split: (split in release.hidden_splits, split))


def split_members(release: Release) -> dict[str, frozenset[str]]:
    """{name of its slice: graded queries} of each split that is but a part of what is graded."""
    if not release.folder:  # not published: it has no files yet
        return {}
    graded, by_split = _graded_by_split(_place(release), release.pk)
    return {
        OF_SPLIT.format(split=split): qids
        for split, qids in by_split.items()
        if qids and len(qids) < len(graded)
    }


def split_queries(release: Release, split: str) -> frozenset[str]:
    """The graded queries of a split."""
    _, by_split = _graded_by_split(_place(release), release.pk)
    return by_split.get(split, frozenset())


def open_split(release: Release) -> str:
    """The split of the phase of a release that takes runs now, the newest; "" where none does."""
    phase = open_phases(release.benchmark).filter(release=release).first()
    return phase.split if phase else ""


def split_counts(release: Release, qids: Iterable[str]) -> dict[str, int]:
    """{split: how many of these queries it has}, of the splits that have one."""
    wanted = set(qids)
    counts = {split: len(wanted.intersection(of)) for split, of in release_splits(release).items()}
    return {split: n for split, n in counts.items() if n}


def phases_of(benchmark: Benchmark) -> QuerySet[Phase]:
    """All phases of a benchmark, the newest release first, each with how many counted."""
    counted = Count("submissions", filter=~Q(submissions__state__in=UNCOUNTED))
    return (
        Phase.objects.filter(benchmark=benchmark)
        .select_related("release", "benchmark")
        .annotate(n_submissions=counted)
        .order_by("-release__major", "-release__minor", "-release__patch", "-pk")
    )


def state_of_phase(phase: Phase) -> str:
    """ "open", "coming", "over", or "off" where its limit is 0."""
    now = timezone.now()
    if phase.closes_at is not None and phase.closes_at <= now:
        return "over"
    if not phase.daily_limit:
        return "off"
    return "coming" if phase.opens_at > now else "open"
