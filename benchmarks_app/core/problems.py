"""Problems found in a file, collected so that a person sees them all and not only the first."""

from benchmarks_app.core.errors import FileProblemsError, Problem

DEFAULT_LIMIT = 100


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
        if self.found:
            # Readers in a row see a line at different times: people read a file from the top.
            files = list(dict.fromkeys(problem.file for problem in self.found))
            ordered = sorted(self.found, key=lambda one: (files.index(one.file), one.line))
            raise FileProblemsError(problems=ordered, is_cut=is_cut)
