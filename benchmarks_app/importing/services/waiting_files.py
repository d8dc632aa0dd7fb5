"""The files that wait to be imported, each with its state and what can be done about it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks_app.collections.selectors import Refusal, refusals, waiting_uploads
from benchmarks_app.importing.services.previewing_uploads import (
    NOTHING_LACKS,
    Lacking,
    Preview,
    kept_preview,
    lacking,
    parts_said,
    unknown_ids,
)
from benchmarks_app.models import Benchmark, Upload
from benchwright.detection import (
    CONTENT_OF,
    DOCUMENT_KINDS,
    QREL_KINDS,
    QUERY_KINDS,
    RUN_KINDS,
    FileKind,
)
from benchwright.errors import DEFAULT_LIMIT, Problem
from benchwright.formats.errors import MappingError
from benchwright.formats.mapping import checked
from benchwright.formats.numbers import FileGrade, in_order
from benchwright.problem_groups import ProblemGroup, grouped
from benchwright.qrels.grade_map import parse_file_grade_map
from benchwright.qrels.scales import Relevance
from benchwright.uploads import Look

WAITING_SHOWN = 500
READY, CHECK, BAD, UNREAD = "ready", "check", "bad", "unread"
NOUNS: list[tuple[tuple[FileKind, ...], str]] = [
    (DOCUMENT_KINDS, "document"),
    (QUERY_KINDS, "quer"),
    (QREL_KINDS, "grade"),
    (RUN_KINDS, "result"),
]


@dataclass(frozen=True)
class Scale:
    """The grades of a benchmark with their names, and those that count as relevant."""

    labels: dict[int, str]
    relevant: set[int]

    @classmethod
    def of(cls, benchmark: Benchmark) -> "Scale":
        grades = list(benchmark.grades.all())
        return cls(
            {grade.value: f"{grade.value} {grade.name}" for grade in grades},
            {grade.value for grade in grades if grade.is_relevant},
        )


@dataclass(frozen=True)
class WaitingFile:
    """One row of the list; `refusal` is why the last import took nothing of it."""

    preview: Preview
    scale: Scale
    refusal: Refusal | None = None
    lacks: Lacking = NOTHING_LACKS

    @property
    def upload(self) -> Upload:
        return self.preview.upload

    @property
    def said(self) -> Mapping[str, Any]:
        """What somebody has decided about it in the list."""
        decisions: dict[str, Any] = self.upload.reading.get("said", {})
        return decisions

    @property
    def state(self) -> str:
        """Ready; to check: a question is open; bad: nothing of it can be taken as it is; unread."""
        preview = self.preview
        if preview.error or self.refusal:
            return BAD
        if not preview.taken or self.look_to_map or self.off_scale:
            return CHECK
        if self.error or (self.n_bad and not self.is_left_without):
            return BAD
        if not preview.is_read:
            return UNREAD
        return CHECK if self.is_none_relevant and not self.said.get("as_it_is") else READY

    @property
    def error(self) -> str:
        """What keeps one of its files from being read, unless it is a column to choose."""
        if self.preview.error:
            return self.preview.error
        errors = (look.error for look in self.preview.taken if look.error)
        return next(errors, "") if not self.look_to_map else ""

    # --- what it is -------------------------------------------------------------------------

    @property
    def label(self) -> str:
        """What it is, in a word."""
        if self.preview.is_collection:
            return "Collection"
        return next((look.label for look in self.preview.taken), "")

    @property
    def counts(self) -> str:
        """How many good records it has."""
        counts: Counter[str] = Counter()
        for look in self.preview.taken:
            counts[_noun(look)] += look.n_rows_read
        words = [_counted(n, noun) for noun, n in counts.items() if n]
        n_files = len(self.preview.taken)
        if self.preview.is_collection:
            words.insert(0, f"{n_files} file{'s' if n_files != 1 else ''}")
        return ", ".join(words)

    @property
    def notes(self) -> list[str]:
        """What its content leaves in doubt; of a collection, the page of the file says it."""
        if self.preview.is_collection:
            return []
        notes = [look.part.note for look in self.preview.looks if look.part.note]
        return [*notes, *unknown_ids(self.upload, self.lacks)]

    # --- bad records ------------------------------------------------------------------------

    @property
    def n_bad(self) -> int:
        n_bad = sum(look.n_bad for look in self.preview.taken)
        return n_bad or len(self.preview.bad_records)

    @property
    def groups(self) -> tuple[ProblemGroup, ...]:
        """What is wrong with how many records, at which lines: as the last import told, if any."""
        if self.refusal:
            return grouped(Problem(**problem) for problem in self.refusal.problems)
        if self.is_left_without or self.look_to_map:
            return ()
        groups = tuple(group for look in self.preview.taken for group in look.groups)
        # What keeps the whole file from being read is its error, said above them.
        return groups if self.error else groups or grouped(self.preview.bad_records)

    @property
    def is_of_runs(self) -> bool:
        """Whether there is a run in it, of which no line is ever left out."""
        return any(look.part.kind in RUN_KINDS for look in self.preview.taken)

    @property
    def n_to_leave_out(self) -> int:
        """How many records can be left out so that the others are imported; 0 where none can."""
        looks = self.preview.taken
        n_good = sum(look.n_rows_read for look in looks)
        if self.error or not n_good:
            return 0
        if self.refusal:
            problems = self.refusal.problems
            is_of_lines = all(problem["line"] for problem in problems)
            can_be = is_of_lines and not self.is_of_runs and n_good + self.n_bad > len(problems)
            return len(problems) if can_be else 0
        bad = [look for look in looks if look.n_bad]
        can_be = not self.is_left_without and all(look.can_do_without for look in bad)
        return self.n_bad if bad and can_be else 0

    @property
    def are_more_to_leave_out(self) -> bool:
        """Whether the last import stopped before it had counted all."""
        return self.refusal is not None and self.n_to_leave_out >= DEFAULT_LIMIT

    @property
    def is_left_without(self) -> bool:
        """Whether somebody has said that its bad records are left out."""
        return "without" in self.said

    # --- columns and grades -----------------------------------------------------------------

    @property
    def look_to_map(self) -> Look | None:
        """The lone file of which a column must be chosen."""
        if self.preview.is_collection:
            return None
        return next((look for look in self.preview.taken if _lacks_columns(look)), None)

    @property
    def grade_map(self) -> dict[FileGrade, int]:
        """{grade of the file: what somebody has said it is here}."""
        return parse_file_grade_map(self.said.get("grade_map", ""))

    @property
    def off_scale(self) -> list[FileGrade]:
        """The grades that the benchmark's scale lacks, words too, and that nobody has mapped."""
        known_grades = self.scale.labels.keys() | self.grade_map.keys()
        return [
            grade
            for grade in self.preview.grades
            if (isinstance(grade, str) or grade >= 0) and grade not in known_grades
        ]

    @property
    def relevance(self) -> Relevance | None:
        """How many of its grades count as relevant, mapped as was said; None without grades."""
        grades, mapping = self.preview.grades, self.grade_map
        if not grades:
            return None
        counts: Counter[int] = Counter()
        for grade, n in grades.items():
            mapped = mapping.get(grade, grade)
            if not isinstance(mapped, str):
                counts[mapped] += n
        return Relevance.of(counts, self.scale.relevant)

    @property
    def is_none_relevant(self) -> bool:
        relevance = self.relevance
        return relevance is not None and relevance.is_none and not self.off_scale

    @property
    def best_guess(self) -> tuple[FileGrade, int] | None:
        """(grade of the file, lowest relevant grade): what one press makes of a file of 1s."""
        if not self.is_none_relevant or not self.scale.relevant:
            return None
        best = in_order(self.preview.grades)[-1]
        is_positive = isinstance(best, int) and best > 0
        return (best, min(self.scale.relevant)) if is_positive else None

    # --- importing it -----------------------------------------------------------------------

    @property
    def options(self) -> dict[str, Any]:
        """What `start_import` is told of it."""
        options: dict[str, Any] = {}
        if parts := parts_said(self.upload):
            options["parts"] = parts
        if self.said.get("grade_map"):
            options["grade_map"] = self.said["grade_map"]
        if self.is_left_without:
            options |= {"leave_out": "records", "n_agreed": self.said["without"]}
        return options


def waiting_files(benchmark: Benchmark) -> list[WaitingFile]:
    """The files of the list, in the order they came."""
    uploads = list(waiting_uploads(benchmark)[:WAITING_SHOWN])
    scale = Scale.of(benchmark)
    refused, lacks = refusals(benchmark, uploads), lacking(benchmark, uploads)
    return [
        WaitingFile(kept_preview(upload), scale, _unsettled(upload, refused.get(upload.pk)), lacks)
        for upload in uploads
    ]


def _unsettled(upload: Upload, refusal: Refusal | None) -> Refusal | None:
    """The refusal, unless somebody has said what to do about it since."""
    settled = upload.reading.get("said", {}).get("settled", 0)
    return refusal if refusal and refusal.job > settled else None


def _noun(look: Look) -> str:
    return next((noun for kinds, noun in NOUNS if look.part.kind in kinds), "row")


def _counted(n: int, noun: str) -> str:
    if noun == "quer":
        return f"{n:,} quer{'ies' if n != 1 else 'y'}"
    return f"{n:,} {noun}{'s' if n != 1 else ''}"


def _lacks_columns(look: Look) -> bool:
    content = CONTENT_OF.get(look.part.kind) if look.part.kind else None
    if not content or not look.columns:
        return False
    try:
        checked(content, look.part.mapping, look.columns)
    except MappingError:
        return True
    return False
