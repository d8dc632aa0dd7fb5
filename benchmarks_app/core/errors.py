"""The root of every error that a person can cause and mend.

BenchmarkError
├── FileProblemsError      one or more lines of a file are not what was expected
├── ArchiveError           a zip that is unsafe or unreadable
├── MissingFileError       a collection without one of its files
└── …                      each app draws its own branch in its core/errors.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at one place of one file; `line` counts from 1, 0 is the file as a whole."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.text}"


class BenchmarkError(Exception):
    """An error with a stable `code`, the HTTP `status` it means, and its facts as attributes.

    `heading` stands over its page; `retry_after` says in how many seconds it is over, if it ends.

    A subclass writes its `message` with the facts as named fields; raising it is
    `raise SlotOfAnotherError(actor=3)`.
    """

    code: ClassVar[str] = "benchmark-error"
    heading: ClassVar[str] = "This did not work"
    status: ClassVar[int] = 422
    retry_after: ClassVar[int | None] = None
    message: ClassVar[str] = "This cannot be done with this benchmark."

    def __init__(self, **facts: Any) -> None:
        self.facts = facts
        super().__init__(self.message.format(**facts))

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["facts"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies, also those of another process, are of the same class with the same facts."""
        return error_again, (type(self), self.facts, self.args)


def error_again(kind: type[BenchmarkError], facts: dict[str, Any], said: tuple[Any, ...]) -> Any:
    """The error that `BenchmarkError.__reduce__` took apart."""
    error = kind.__new__(kind)
    error.facts = facts
    error.args = said
    return error


class FileProblemsError(BenchmarkError):
    """Lines that cannot be read; `problems` holds them all, up to a limit."""

    code = "file-problems"
    message = "{summary}"

    def __init__(self, *, problems: Sequence[Problem], is_cut: bool = False) -> None:
        shown = "\n".join(str(problem) for problem in problems)
        cut = f"\n… stopped after {len(problems)} problems." if is_cut else ""
        super().__init__(summary=shown + cut, problems=tuple(problems), is_cut=is_cut)


class ArchiveError(BenchmarkError):
    code = "archive"
    message = "{file}: {reason}"


class Utf16Error(ArchiveError):
    code = "utf-16"
    message = (
        "{file} is text in UTF-16, as some spreadsheets and editors save it; expected UTF-8. Save "
        "it again as UTF-8 (a sheet as CSV UTF-8), or convert it: iconv -f UTF-16 -t UTF-8"
    )


class MissingFileError(BenchmarkError):
    code = "missing-file"
    message = "{place}: no {expected} found. {advice}"
