"""What changed between two texts, line by line."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum


class Change(StrEnum):
    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the old text, the new one or both."""

    change: Change
    text: str


def line_changes(old: str, new: str) -> list[Line]:
    """Every line of both texts in order; where lines were replaced, the old ones stand first.

    >>> [(line.change.value, line.text) for line in line_changes("a\\nb", "a\\nc")]
    [('same', 'a'), ('removed', 'b'), ('added', 'c')]
    """
    return list(_changes(old.splitlines(), new.splitlines()))


def _changes(old: list[str], new: list[str]) -> Iterator[Line]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            yield from (Line(Change.SAME, line) for line in old[old_start:old_end])
            continue
        yield from (Line(Change.REMOVED, line) for line in old[old_start:old_end])
        yield from (Line(Change.ADDED, line) for line in new[new_start:new_end])
