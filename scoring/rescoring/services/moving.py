"""The moves between two releases as one person may be told of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks_app.models import Release
from benchwright.evaluation.moves import ADDED, CHANGED, QUERIES, REMOVED, RULES
from scoring.rescoring.selectors import (
    Compared,
    Move,
    Moves,
    explained_rows,
    measure_before,
    moves_of,
    previous_release,
)
from scoring.scores.selectors.boards import score_sets_seen_by
from scoring.scores.selectors.phases import split_members
from scoring.scores.services import measuring
from scoring.scores.services.firewall import Sight, sight_of
from scoring.scores.services.slice_scores import slices_of_release, slices_on_board
from scoring.scores.shown import Shown

PARTS_SHOWN = (
    (ADDED, "Labels added"),
    (CHANGED, "Labels changed"),
    (REMOVED, "Labels removed"),
    (QUERIES, "Queries"),
    (RULES, "Rules"),
)
# The columns of a row as a table has them.
HEAD = (
    *("run", "by", "rank_before", "rank_after", "places"),
    *("mean_before", "mean_after", "difference"),
    *("labels_added", "labels_changed", "labels_removed"),
    *(f"by_{key}" for key, _ in PARTS_SHOWN),
    *("by_elsewhere", "cause"),
)
NOT_BEFORE = "Release {version} shows no means over “{name}”: there is nothing to compare with."


@dataclass(frozen=True)
class MovesAsked:
    """Moves, and what they can be explained from; `error` says why there is nothing to compare.

    `is_withheld`: one of the releases has a hidden split, so means are rounded, and neither its
    labels are counted nor the parts of a difference told.
    """

    moves: Moves
    compared: Compared
    sight: Sight = field(default_factory=Sight)
    error: str = ""

    @property
    def is_withheld(self) -> bool:
        return not self.sight.is_clear

    @property
    def n_labels(self) -> int:
        """All changed labels that may be told of."""
        return self.compared.labels.total

    def explained(self, rows: Iterable[Move], has_time: Callable[[], bool]) -> list[Move]:
        measure = self.moves.measure
        return explained_rows(rows, self.compared, measure, has_time=has_time)

    # --- as a table ------------------------------------------------------------------------

    @property
    def title(self) -> str:
        over = f" over {self.moves.slice_name}" if self.moves.slice_name else ""
        return (
            f"# {self.moves.before.version} to {self.moves.after.version}: "
            f"{self.moves.measure.label}{over}"
        )

    @property
    def said(self) -> str:
        labels = self.compared.labels
        n_moved, n = len(self.moves.moved), len(self.moves.rows)
        return (
            f"{n_moved} of {n} runs moved. {labels.total:,} labels differ: {labels.added:,} added, "
            f"{labels.changed:,} changed, {labels.removed:,} removed."
        )

    def line(self, row: Move) -> list[Any]:
        parts = row.explained.parts if row.explained else {}
        cells = [
            *(row.rank_before, row.rank_after, row.places),
            *(row.mean_before, row.mean_after, self.difference(row)),
            *(row.labels or (None, None, None)),
            *(parts.get(name) for name, _ in PARTS_SHOWN),
            row.explained.elsewhere if row.explained else None,
            row.cause or None,
        ]
        return [row.run.name, row.by, *("" if cell is None else cell for cell in cells)]

    def difference(self, row: Move) -> float | None:
        """Of what is shown: a difference with more digits than its means would tell more."""
        return self.sight.rounded(row.difference)


def moves_asked(
    *, before: Release, after: Release, user: Any, measure: Shown, sliced: str = ""
) -> MovesAsked:
    """The moves that this person may see; a measure or slice that was not stored is computed."""
    sights = sight_of(user, before), sight_of(user, after)
    error = _not_before(before, sliced)
    if not error:
        _compute(before, after, user, measure, sliced)
    moves = moves_of(
        after,
        user=user,
        measure=measure,
        before=before,
        slice_name=sliced,
        sights=sights,
    )
    compared = Compared(
        before,
        after,
        sliced,
        _members(before, sliced),
        _members(after, sliced),
        frozenset().union(*(sight.hidden for sight in sights)),
    )
    withheld = next((sight for sight in sights if not sight.is_clear), Sight())
    return MovesAsked(moves, compared, withheld, error)


def moves_for_board(
    release: Release, *, user: Any, measure: Shown, slice_name: str = ""
) -> Moves | None:
    """The moves since the release before, as a small column; None where they may not be told."""
    before = previous_release(release)
    if before is None or _not_before(before, slice_name):
        return None
    return moves_of(
        release,
        user=user,
        measure=measure,
        before=before,
        slice_name=slice_name,
        sights=(sight_of(user, before), sight_of(user, release)),
    )


def _not_before(before: Release, sliced: str) -> str:
    is_known = not sliced or sliced in split_members(before)
    is_known = is_known or any(part.name == sliced for part in slices_on_board(before))
    return "" if is_known else NOT_BEFORE.format(version=before.version, name=sliced)


def _members(release: Release, sliced: str) -> frozenset[str] | None:
    members = {**split_members(release), **slices_of_release(release)}
    return members.get(sliced, frozenset()) if sliced else None


def _compute(before: Release, after: Release, user: Any, measure: Shown, sliced: str) -> None:
    """Store what scoring has not stored, for who is signed in: seconds of work for a page."""
    if not user.is_authenticated:
        return
    for release, name in ((before, measure_before(measure, before)), (after, measure.name)):
        score_sets = score_sets_seen_by(user, release)
        if not measure.is_standard:
            measuring.add_measure(release=release, score_sets=score_sets, name=name)
        if sliced:
            measuring.add_slice_scores(
                release=release, score_sets=score_sets, slice_name=sliced, names=[name]
            )
