"""Versions of releases: three whole numbers, and how far one must step from the one before it.

A release says by its number whether scores on it can be set beside scores on its parent:

- patch: card and metadata; every score stays.
- minor: judgments, slices or families were added; scores on what was judged before stay.
- major: grades changed or are gone, or queries, documents, splits, weights, scale, threshold, ties,
  unit or what unlisted documents are are others; no score is comparable.

Before 1.0.0 a benchmark is still being built, and a minor step is enough for anything.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchwright.releases.errors import VersionError

if TYPE_CHECKING:
    from benchwright.releases.diffing import ReleaseDiff

Version = tuple[int, int, int]
FORM = re.compile(r"(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})")
PATCH, MINOR, MAJOR = "patch", "minor", "major"
STEPS = (PATCH, MINOR, MAJOR)


def parse_version(text: str) -> Version:
    """Return the three numbers of a version.

    >>> parse_version("1.10.0") > parse_version("1.9.3")
    True

    Raises
    ------
    VersionError
        If it is anything else, a leading zero included.
    """
    match = FORM.fullmatch(text.strip())
    if match is None:
        raise VersionError(version=text)
    return int(match[1]), int(match[2]), int(match[3])


def written_version(version: Version) -> str:
    """The three numbers as they are written.

    >>> written_version((1, 10, 0))
    '1.10.0'
    """
    return ".".join(map(str, version))


def next_version(newest: Version | None, step: str = MINOR) -> Version:
    """Return what to propose after `newest` for a change of this step; 0.1.0 at first.

    >>> next_version((1, 2, 3), MAJOR), next_version((0, 2, 3), MAJOR), next_version(None)
    ((2, 0, 0), (0, 3, 0), (0, 1, 0))
    """
    if newest is None:
        return (0, 1, 0)
    major, minor, patch = newest
    if step == MAJOR and major:
        return (major + 1, 0, 0)
    return (major, minor, patch + 1) if step == PATCH else (major, minor + 1, 0)


def step_between(parent: Version, version: Version) -> str | None:
    """The step that a version takes from an earlier one; None if it is not later.

    >>> step_between((1, 2, 3), (1, 3, 0)), step_between((1, 2, 3), (1, 2, 2))
    ('minor', None)
    """
    if version <= parent:
        return None
    places = zip(parent, version, strict=True)
    return (MAJOR, MINOR, PATCH)[next(place for place, (a, b) in enumerate(places) if a != b)]


def is_enough(parent: Version, version: Version, needed: str) -> bool:
    """Whether a version says as much as it must about what changed since its parent.

    >>> is_enough((1, 2, 0), (1, 3, 0), MAJOR), is_enough((0, 2, 0), (0, 3, 0), MAJOR)
    (False, True)
    """
    step = step_between(parent, version)
    if step is None:
        return False
    enough = MINOR if needed == MAJOR and parent[0] == 0 else needed
    return STEPS.index(step) >= STEPS.index(enough)


@dataclass(frozen=True, slots=True)
class Needed:
    """The step that a difference needs, and why."""

    step: str
    reasons: tuple[str, ...]


def needed_step(diff: "ReleaseDiff") -> Needed:
    """The least step that tells of every change in a difference."""
    for step, changes in ((MAJOR, _major(diff)), (MINOR, _minor(diff))):
        reasons = tuple(text for text, is_so in changes.items() if is_so)
        if reasons:
            return Needed(step, reasons)
    return Needed(PATCH, ("nothing but card and metadata changed",))


def _major(diff: "ReleaseDiff") -> Mapping[str, Any]:
    return {
        _counted(diff.labels.changed, "grade changed", "grades changed"): diff.labels.changed,
        _counted(diff.labels.removed, "label is gone", "labels are gone"): diff.labels.removed,
        "grades of hidden splits changed, or are gone": (
            diff.withheld.changed or diff.withheld.removed
        ),
        _changes("query", "queries", diff.queries): diff.queries,
        _changes("document", "documents", diff.documents): diff.documents,
        _counted(
            diff.moved.changed, "query is in another split", "queries are in another split"
        ): diff.moved,
        _counted(
            diff.slices.changed, "slice has other queries", "slices have other queries"
        ): diff.slices.changed,
        _counted(diff.slices.removed, "slice is gone", "slices are gone"): diff.slices.removed,
        _counted(diff.weights, "query has another weight", "queries have another weight"): (
            diff.weights
        ),
        f"hidden from now on: {', '.join(diff.hidden)}": diff.hidden,
        **{f"{name}: from {old} to {new}": True for name, (old, new) in diff.other.items()},
    }


def _minor(diff: "ReleaseDiff") -> Mapping[str, Any]:
    return {
        _counted(diff.labels.added, "label was added", "labels were added"): diff.labels.added,
        "labels of hidden splits were added": diff.withheld.added,
        _counted(diff.slices.added, "slice was added", "slices were added"): diff.slices.added,
        _counted(diff.families, "query is in another family", "queries are in another family"): (
            diff.families
        ),
        f"no longer hidden: {', '.join(diff.unhidden)}": diff.unhidden,
    }


def _counted(n: int, singular: str, plural: str) -> str:
    return f"{n:,} {singular if n == 1 else plural}"


def _changes(singular: str, plural: str, side: Any) -> str:
    counts = ((side.added, "added"), (side.changed, "changed"), (side.removed, "removed"))
    parts = [f"{n:,} {what}" for n, what in counts if n]
    total = side.added + side.changed + side.removed
    return f"{singular if total == 1 else plural}: {', '.join(parts)}"
