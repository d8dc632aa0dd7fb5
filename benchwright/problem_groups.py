"""Problems that say the same but for their values, counted: 100 equal lines are one line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

from benchwright.errors import DEFAULT_LIMIT, Problem, Problems

LINES_NAMED = 5
MOST_GROUPS = 20
VALUE = re.compile(r"'[^']*'|\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """`n` problems of a file that differ in values alone: the first's words and the first lines."""

    file: str
    text: str
    n: int
    lines: tuple[int, ...]
    has_other_values: bool = False

    @property
    def n_more(self) -> int:
        """How many lines are not named."""
        return self.n - len(self.lines) if self.lines else 0


class _Shape(NamedTuple):
    file: str
    is_at_line: bool
    words: str


class Groups:
    """Groups of the problems that were added, the first first; after 20 the others are one more."""

    def __init__(self) -> None:
        self._groups: dict[_Shape, ProblemGroup] = {}

    def add(self, problem: Problem) -> None:
        """Count a problem."""
        shape = _Shape(problem.file, bool(problem.line), VALUE.sub("…", problem.text))
        text = problem.text
        if shape not in self._groups and len(self._groups) >= MOST_GROUPS:
            shape, text = _Shape("", True, ""), "and what is wrong in other ways"
        group = self._groups.get(shape) or ProblemGroup(shape.file, text, 0, ())
        lines = group.lines
        if problem.line and len(lines) < LINES_NAMED:
            lines = (*lines, problem.line)
        has_other_values = group.has_other_values or group.text != text
        self._groups[shape] = replace(
            group, n=group.n + 1, lines=lines, has_other_values=has_other_values
        )

    @property
    def listed(self) -> tuple[ProblemGroup, ...]:
        return tuple(self._groups.values())


def grouped(problems: Iterable[Problem]) -> tuple[ProblemGroup, ...]:
    """The groups of problems.

    >>> bad = [Problem("a.run", line, f"score is '{line}x'; expected a number") for line in (2, 9)]
    >>> [(group.n, group.lines, group.text) for group in grouped(bad)]
    [(2, (2, 9), "score is '2x'; expected a number")]
    """
    groups = Groups()
    for problem in problems:
        groups.add(problem)
    return groups.listed


class GroupedProblems(Problems):
    """Problems of which all are counted by what they say, also those beyond the limit."""

    def __init__(
        self,
        limit: int = DEFAULT_LIMIT,
        *,
        leaves_out: bool | frozenset[str] = False,
        most_left_out: float = inf,
    ) -> None:
        super().__init__(limit, leaves_out=leaves_out, most_left_out=most_left_out)
        self.groups = Groups()

    def add(self, file: str, line: int, text: str, *, is_whole: bool = False) -> None:
        """Count one problem, and keep it as `Problems` does."""
        self.groups.add(Problem(file, line, text))
        super().add(file, line, text, is_whole=is_whole)
