"""Where files lie, and what is told of those that were looked at: plain data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchwright.detection import KIND_LABELS, Part
from benchwright.errors import Problem, Problems
from benchwright.files.archives import is_tar, is_workbook, is_zip, open_source
from benchwright.files.inputs import FileInput, Input, MemberInput
from benchwright.files.sources import Source
from benchwright.formats.numbers import FileGrade, grade_of_file, in_order
from benchwright.formats.unlisted import UNKNOWN
from benchwright.problem_groups import ProblemGroup


@dataclass(frozen=True, slots=True)
class Place:
    """A file called `name`; `member` is what is meant of a file that holds several."""

    path: Path
    name: str
    member: str = ""

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.member or self.name


def input_at(place: Place) -> Input:
    """The file at a place, to be read."""
    if not place.member:
        return FileInput(place.path, place.name)
    return MemberInput(_source(place.path), place.member)


def warn_of_open_end(file: Input, problems: Problems) -> None:
    """Say where a text ends within a line: what was cut short there has lost what followed."""
    if line := file.line_left_open:
        text = "is the last line, and no line break ends it. If the file was cut short there, "
        problems.warn(file.shown, line, text + "write it again and take it whole")


# The archive that was read last. Its members come one after the other, and what they all inflate to
# is bounded together.
_last: dict[tuple[Path, int, int], Source] = {}


def _source(path: Path) -> Source:
    status = path.stat()
    key = path, status.st_mtime_ns, status.st_size
    if key not in _last:
        while _last:
            _last.popitem()[1].close()
        _last[key] = open_source(path)
    return _last[key]


def is_collection(path: Path) -> bool:
    """Whether a file holds several."""
    return (is_zip(path) and not is_workbook(path)) or is_tar(path)


@dataclass(frozen=True)
class Look:
    """One file of an upload as it would be read: its first rows, and what is wrong with them.

    `columns` are those of the file where they may be mapped; `headings` are those of `rows`.
    `grades` counts the grades of qrels, words among them, of the first rows where `is_cut`.
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
    grades: dict[FileGrade, int] = field(default_factory=dict)
    is_cut: bool = False
    n_rows_read: int = 0
    # How many records are bad, and whether the others can be read without them.
    n_bad: int = 0
    can_do_without: bool = True
    # All that is wrong with them, by what it is.
    groups: tuple[ProblemGroup, ...] = ()
    # Queries and documents that grades or runs name, the first of them; not kept.
    qids: tuple[str, ...] = ()
    docids: tuple[str, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether it can be imported as it is."""
        return self.part.kind is not None and not self.error and not self.problems

    @property
    def may_be_chosen(self) -> bool:
        """Whether a person may want it in, though it is left out now."""
        return self.part.kind is not None or bool(self.columns)

    @property
    def grades_in_order(self) -> list[tuple[FileGrade, int]]:
        return [(grade, self.grades[grade]) for grade in in_order(self.grades)]

    @property
    def label(self) -> str:
        """What it is, in words."""
        return KIND_LABELS[self.part.kind].split(":")[0] if self.part.kind else ""

    @property
    def may_have_header(self) -> bool:
        return self.part.has_header is not None

    def as_json(self) -> dict[str, Any]:
        """What is kept of it, so that a list need not read the file again: all but its rows."""
        return {
            "part": {**self.part.as_json(), "note": self.part.note},
            "name": self.name,
            "columns": self.columns,
            "form": self.form,
            "others": self.others,
            "error": self.error,
            "grades": {str(grade): n for grade, n in self.grades_in_order},
            "rows": self.n_rows_read,
            "bad": self.n_bad,
            "without": self.can_do_without,
            "problems": [[problem.file, problem.line, problem.text] for problem in self.problems],
            "groups": [asdict(group) for group in self.groups],
        }

    @classmethod
    def of_json(cls, facts: Mapping[str, Any]) -> "Look":
        """The look that `as_json` wrote, without rows."""
        part = replace(Part.of_json(facts["part"]), note=facts["part"]["note"])
        return cls(
            part=part,
            name=facts["name"],
            columns=tuple(facts["columns"]),
            form=facts["form"],
            others=tuple(facts["others"]),
            error=facts["error"],
            grades={grade_of_file(grade): n for grade, n in facts["grades"].items()},
            n_rows_read=facts["rows"],
            n_bad=facts["bad"],
            can_do_without=facts["without"],
            problems=tuple(Problem(*problem) for problem in facts["problems"]),
            groups=tuple(
                ProblemGroup(**{**group, "lines": tuple(group["lines"])})
                for group in facts["groups"]
            ),
        )


def printable(look: Look) -> Look:
    """The look with "?" for lone surrogates, of which no page can be made."""
    return replace(
        look,
        name=_whole(look.name),
        headings=tuple(map(_whole, look.headings)),
        rows=tuple(tuple(map(_whole, row)) for row in look.rows),
        columns=tuple(map(_whole, look.columns)),
        others=tuple(map(_whole, look.others)),
        problems=tuple(
            problem._replace(file=_whole(problem.file), text=_whole(problem.text))
            for problem in look.problems
        ),
        error=_whole(look.error),
        groups=tuple(
            replace(group, file=_whole(group.file), text=_whole(group.text))
            for group in look.groups
        ),
    )


def _whole(text: str) -> str:
    return text.encode(errors="replace").decode()


@dataclass(frozen=True)
class Looks:
    """The files of an upload; `unlisted` is what the manifest of an export of ours says."""

    looks: tuple[Look, ...] = ()
    is_collection: bool = False
    unlisted: str = UNKNOWN
