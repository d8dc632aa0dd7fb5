"""What is told of files that were looked at: plain data."""

from dataclasses import dataclass, field

from benchmarks_app.core.detection import KIND_LABELS, Part
from benchmarks_app.core.errors import Problem
from benchmarks_app.core.unlisted import UNKNOWN


@dataclass(frozen=True)
class Look:
    """One file of an upload as it would be read: its first rows, and what is wrong with them.

    `columns` are those of the file where they may be mapped; `headings` are those of `rows`.
    `grades` counts the grades of qrels, of the first rows where `is_cut`.
    """

    part: Part
    name: str
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    columns: tuple[str, ...] = ()
    form: str = ""
    others: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    error: str = ""
    grades: dict[int, int] = field(default_factory=dict)
    is_cut: bool = False
    n_rows_read: int = 0
    # How many records are bad, and whether the others can be read without them.
    n_bad: int = 0
    can_do_without: bool = True

    @property
    def is_ready(self) -> bool:
        """Whether it can be imported as it is."""
        return self.part.kind is not None and not self.error and not self.problems

    @property
    def may_be_chosen(self) -> bool:
        """Whether a person may want it in, though it is left out now."""
        return self.part.kind is not None or bool(self.columns)

    @property
    def grades_in_order(self) -> list[tuple[int, int]]:
        return sorted(self.grades.items())

    @property
    def label(self) -> str:
        """What it is, in words."""
        return KIND_LABELS[self.part.kind].split(":")[0] if self.part.kind else ""

    @property
    def may_have_header(self) -> bool:
        return self.part.has_header is not None


@dataclass(frozen=True)
class Looks:
    """The files of an upload; `unlisted` is what the manifest of an export of ours says."""

    looks: tuple[Look, ...] = ()
    is_collection: bool = False
    unlisted: str = UNKNOWN
