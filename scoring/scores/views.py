"""What an address names: a run, its scores on a release, a measure, a slice."""

from dataclasses import dataclass, field

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchmarks_app.language import told
from benchmarks_app.models import Benchmark, Release, Run
from benchmarks_app.releases.selectors import hidden_queries, release_slices
from benchwright.errors import ScoringError
from scoring.models import ScoreSet
from scoring.scores.selectors.releases import (
    measures_stored,
    newest_release,
    release_of_version,
)
from scoring.scores.selectors.runs import score_sets_of_run, score_sheets_of_run
from scoring.scores.services.firewall import MeasureWithheldError, measure_seen
from scoring.scores.services.held import ScoresSeen, scores_seen
from scoring.scores.services.slice_scores import BoardSlice, slices_on_board
from scoring.scores.shown import Shown


def release_or_404(benchmark: Benchmark, version: str) -> Release:
    release = release_of_version(benchmark, version)
    if release is None:
        raise Http404
    return release


def release_of(benchmark: Benchmark, version: str) -> Release | None:
    """The release that is asked for, the newest where none is; None where there is none yet."""
    return release_or_404(benchmark, version) if version else newest_release(benchmark)


def run_of(request: HttpRequest, benchmark: Benchmark, pk: int) -> Run:
    """The run, if this person may see it."""
    visible = Run.objects.visible_to(request.user).select_related("owner", "team", "benchmark")
    return get_object_or_404(visible, benchmark=benchmark, pk=pk)


def score_set_of(run: Run, version: str) -> ScoreSet:
    """The score set of the release that is asked for, of the newest where none is."""
    for score_set in score_sets_of_run(run):
        if not version or score_set.release.version == version:
            score_set.run = run
            return score_set
    raise Http404


def scores_as_seen(request: HttpRequest, run: Run) -> list[ScoresSeen]:
    """All scores of a run, the newest release first, each as this person may see it."""
    sheets = score_sheets_of_run(run)
    for sheet in sheets:
        sheet.score_set.run = run
    return [scores_seen(sheet, request.user) for sheet in sheets]


# Computing takes seconds, which not everybody who comes along may have as often as they like.
SIGN_IN = gettext_noop(
    "Other measures are computed for people who are signed in. Sign in, or choose a listed one."
)


@dataclass(frozen=True)
class Asked:
    """A measure; where what was typed is none, `error` says why and the first one is shown."""

    measure: Shown
    text: str = ""
    error: str = ""

    @property
    def is_added(self) -> bool:
        return not self.measure.is_standard


def asked_measure(request: HttpRequest, release: Release, *, by_query: bool = False) -> Asked:
    """The measure typed into `measure`, or else the one chosen in `m`, as far as it is told.

    A choice that is none is an old or a wrong address: it shows the first measure. Of values by
    query who is not signed in reads those that scoring stores: others are computed each time.
    """
    first = measure_seen(request.user, release)
    text, chosen = (request.GET.get(name, "").strip() for name in ("measure", "m"))
    if text and not request.user.is_authenticated:
        return Asked(first, text=text, error=_(SIGN_IN))
    try:
        measure = measure_seen(request.user, release, text or chosen)
    except MeasureWithheldError as error:
        return Asked(first, text=text or chosen, error=told(error))
    except ScoringError as error:
        return Asked(first, text=text, error=told(error)) if text else Asked(first)
    is_free = request.user.is_authenticated or measure.name in measures_stored(release)
    if by_query and not is_free:
        return Asked(first, text=chosen, error=_(SIGN_IN))
    return Asked(measure)


WITHHELD = gettext_noop(
    "The means of “{name}” are not shown: this release has a hidden split, and only registered "
    "slices of at least 30 families are shown, as far as no two numbers tell of fewer."
)
UNKNOWN = gettext_noop("This release has no slice “{name}”. Choose one that is listed.")


@dataclass(frozen=True)
class AskedSlice:
    """The slice whose means are shown (None: all queries), and what else there is to choose."""

    chosen: BoardSlice | None
    slices: list[BoardSlice] = field(default_factory=list)
    error: str = ""
    has_hidden: bool = False

    @property
    def name(self) -> str:
        return self.chosen.name if self.chosen else ""


def asked_slice(request: HttpRequest, release: Release) -> AskedSlice:
    """As `?slice=` says; one that there is not, or that may not be shown, is told."""
    offered = slices_on_board(release)
    has_hidden = bool(hidden_queries(release))
    wanted = request.GET.get("slice", "").strip()
    chosen = next((part for part in offered if part.name == wanted), None)
    if not wanted or chosen:
        return AskedSlice(chosen, offered, has_hidden=has_hidden)
    is_there = wanted in release_slices(release)
    error = _(WITHHELD if is_there else UNKNOWN).format(name=wanted)
    return AskedSlice(None, offered, error, has_hidden)
