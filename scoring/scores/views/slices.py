"""The slice that an address asks for."""

from dataclasses import dataclass, field

from django.http import HttpRequest

from benchmarks_app.models import Release
from benchmarks_app.releases.selectors import hidden_queries
from scoring.scores.services.slice_scores import BoardSlice, slices_of_release, slices_on_board

WITHHELD = (
    "The means of “{name}” are not shown: this release has a hidden split, and only registered "
    "slices of at least 30 families are shown, as far as no two numbers tell of fewer."
)
UNKNOWN = "This release has no slice “{name}”. Choose one that is listed."


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
    is_there = wanted in slices_of_release(release)
    error = (WITHHELD if is_there else UNKNOWN).format(name=wanted)
    return AskedSlice(None, offered, error, has_hidden)
