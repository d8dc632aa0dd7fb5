"""Problems found in a file, collected so that a person sees them all and not only the first."""

from dataclasses import dataclass

DEFAULT_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at one place of one file; `line` counts from 1, 0 is the file as a whole."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.text}"


class Problems:
    """Collects problems up to a limit, and raises them together."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self.found: list[Problem] = []
        self.warnings: list[Problem] = []

    def add(self, file: str, line: int, text: str) -> None:
        """Keep one problem; at the limit everything found so far is raised.

        Raises
        ------
        FileProblemsError
            When the limit is reached.
        """
        self.found.append(Problem(file, line, text))
        if len(self.found) >= self.limit:
            self.raise_found(is_cut=True)

    def warn(self, file: str, line: int, text: str) -> None:
        """Keep something worth saying that stops nothing; beyond the limit it is dropped."""
        if len(self.warnings) < self.limit:
            self.warnings.append(Problem(file, line, text))

    def raise_found(self, *, is_cut: bool = False) -> None:
        """Raise `FileProblemsError` with everything found; return where nothing was."""
        from benchmarks_app.core.errors import FileProblemsError

        if self.found:
            raise FileProblemsError(problems=self.found, is_cut=is_cut)
