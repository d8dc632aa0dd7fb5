"""Problems found in a file, collected so that a person sees them all and not only the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from benchmarks_app.core.errors import FileProblemsError, Problem

DEFAULT_LIMIT = 100


@dataclass(frozen=True, slots=True)
class News:
    """What `Problems` of another process have collected since they were asked last."""

    found: Sequence[Problem]
    warnings: Sequence[Problem]
    left_out: Sequence[Problem]
    n_left_out: int


NOTHING_NEW = News((), (), (), 0)


class Problems:
    """Collects problems up to a limit, and raises them together.

    With `leaves_out`, a bad record is left out of what is read instead: those up to the limit are
    named in `left_out`, and all are counted; after `most_left_out` they are raised as well. What is
    wrong with a file as a whole stays a problem.
    """

    def __init__(
        self,
        limit: int = DEFAULT_LIMIT,
        *,
        leaves_out: bool = False,
        most_left_out: float = inf,
    ) -> None:
        self.limit = limit
        self.leaves_out = leaves_out
        self.most_left_out = most_left_out
        self.found: list[Problem] = []
        self.warnings: list[Problem] = []
        self.left_out: list[Problem] = []
        self.n_left_out = 0
        self._last_left_out = ("", 0)

    def add(self, file: str, line: int, text: str, *, is_whole: bool = False) -> None:
        """Keep one problem; at the limit everything found so far is raised.

        `is_whole` tells what cannot be mended by leaving the record out: the rest of the file is
        not read, or what the record says is good and the answer to it is another one.

        Raises
        ------
        FileProblemsError
            When the limit is reached.
        """
        if self.leaves_out and line and not is_whole:
            self._leave_out(Problem(file, line, text))
            return
        self.found.append(Problem(file, line, text))
        if len(self.found) >= self.limit:
            self.raise_found(is_cut=True)

    def _leave_out(self, problem: Problem) -> None:
        # One record may have several problems.
        self.n_left_out += (problem.file, problem.line) != self._last_left_out
        self._last_left_out = (problem.file, problem.line)
        if len(self.left_out) < self.limit:
            self.left_out.append(problem)
        if self.n_left_out >= self.most_left_out:
            raise FileProblemsError(problems=self.left_out, is_cut=True)

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

    def take(self, news: News) -> None:
        """Keep what was found elsewhere.

        Raises
        ------
        FileProblemsError
            When the limit is reached.
        """
        self.n_left_out += news.n_left_out
        self.left_out.extend(news.left_out[: max(0, self.limit - len(self.left_out))])
        for warning in news.warnings:
            self.warn(warning.file, warning.line, warning.text)
        for problem in news.found:
            self.add(problem.file, problem.line, problem.text, is_whole=True)


class PassedOver(Problems):
    """Problems that somebody else tells, or nobody: none is kept, however many there are."""

    def add(self, file: str, line: int, text: str, *, is_whole: bool = False) -> None:
        """Keep nothing."""

    def warn(self, file: str, line: int, text: str) -> None:
        """Keep nothing."""


class ToldProblems(Problems):
    """Problems that are told to another process piece by piece."""

    def __init__(self, limit: int = DEFAULT_LIMIT, *, leaves_out: bool = False) -> None:
        super().__init__(limit, leaves_out=leaves_out)
        self._told = (0, 0, 0, 0)

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached."""
        return len(self.found) >= self.limit

    @property
    def has_news(self) -> bool:
        return self._told != self._counts()

    def news(self) -> News:
        """What came in since this was asked last."""
        found, warnings, left_out, n_left_out = self._told
        self._told = self._counts()
        return News(
            tuple(self.found[found:]),
            tuple(self.warnings[warnings:]),
            tuple(self.left_out[left_out:]),
            self.n_left_out - n_left_out,
        )

    def _counts(self) -> tuple[int, int, int, int]:
        return len(self.found), len(self.warnings), len(self.left_out), self.n_left_out
