"""The root of every error that a person can cause and mend.

BenchmarkError
├── FileProblemsError      one or more lines of a file are not what was expected
├── ArchiveError           a zip that is unsafe or unreadable
├── MissingFileError       a collection without one of its files
└── …                      each room draws its own branch in its errors.py
"""

from collections.abc import Sequence
from math import inf
from typing import Any, ClassVar, NamedTuple

# What a site puts at the end of a text that it could not send to its end: what came looks whole.
BROKE_OFF = b"\n*** The site could not send this to its end: it is not whole. Fetch it again. ***\n"

# --- The root of every error that a person can cause and mend.


class Problem(NamedTuple):
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

    A subclass writes its `code` and `status`, if it has others than the class above it, in its
    first line, and its `message` with the facts as named fields; raising it is
    `raise SlotOfAnotherError(actor=3)`.
    """

    code: ClassVar[str] = "benchmark-error"
    heading: ClassVar[str] = "This did not work"
    status: ClassVar[int] = 422
    retry_after: ClassVar[int | None] = None
    message: ClassVar[str] = "This cannot be done with this benchmark."

    def __init_subclass__(cls, *, code: str = "", status: int = 0) -> None:
        if code:
            cls.code = code
        if status:
            cls.status = status

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


def error_again(
    kind: type[BenchmarkError], facts: dict[str, Any], arguments: tuple[Any, ...]
) -> Any:
    """The error that `BenchmarkError.__reduce__` took apart."""
    error = kind.__new__(kind)
    error.facts = facts
    error.args = arguments
    return error


class FileProblemsError(BenchmarkError, code="file-problems"):
    """Lines that cannot be read; `problems` holds them all, up to a limit."""

    message = "{summary}"

    def __init__(self, *, problems: Sequence[Problem], is_cut: bool = False) -> None:
        lines = "\n".join(str(problem) for problem in problems)
        cut = f"\n… stopped after {len(problems)} problems." if is_cut else ""
        super().__init__(summary=lines + cut, problems=tuple(problems), is_cut=is_cut)


class ArchiveError(BenchmarkError, code="archive"):
    message = "{file}: {reason}"


class MissingPackageError(BenchmarkError, ImportError, code="missing-package"):
    """What a function needs beside the standard library is not installed."""

    message = (
        "{what} needs {package}, which is not installed; the extra '{extra}' brings it: "
        "pip install 'benchwright[{extra}]'."
    )

    @classmethod
    def of(cls, error: ModuleNotFoundError, what: str) -> Exception:
        """The error that says so; of a package that no extra brings, the one that came."""
        package = (error.name or "").partition(".")[0]
        if package not in TOOLS:
            return error
        return cls(what=what, package=TOOLS[package], extra="tools")


# Packages of the extra `tools`, by the name they are imported by.
TOOLS = {
    **{name: name for name in ("httpx", "isal", "nh3", "numpy", "phonenumbers", "polars", "rich")},
    "scipy": "scipy",
    "Stemmer": "pystemmer",
    "charset_normalizer": "charset-normalizer",
    "markdown_it": "markdown-it-py",
    "python_calamine": "python-calamine",
    "stdnum": "python-stdnum",
    "yaml": "pyyaml",
    "zstandard": "zstandard",
}
# Those that the extra `site` brings beside them.
SITE = {
    **{name: name for name in ("celery", "cryptography", "granian", "psycopg", "whitenoise")},
    "allauth": "django-allauth",
    "axes": "django-axes",
    "csp": "django-csp",
    "dj_database_url": "dj-database-url",
    "django": "django",
    "django_htmx": "django-htmx",
    "drf_spectacular": "drf-spectacular",
    "prometheus_client": "prometheus-client",
    "pythonjsonlogger": "python-json-logger",
    "rest_framework": "djangorestframework",
    "vl_convert": "vl-convert-python",
}


class MissingFileError(BenchmarkError, code="missing-file"):
    message = "{place}: no {expected} found. {advice}"


# --- Problems found in a file, collected so that a person sees them all and not only the first.

DEFAULT_LIMIT = 100


class News(NamedTuple):
    """What `Problems` of another process have collected since they were asked last."""

    problems: Sequence[Problem]
    warnings: Sequence[Problem]
    left_out: Sequence[Problem]
    n_left_out: int


NOTHING_NEW = News((), (), (), 0)


class Problems:
    """Collects problems up to a limit, and raises them together.

    With `leaves_out`, a bad record is left out of what is read instead: those up to the limit are
    named in `left_out`, and all are counted; after `most_left_out` they are raised as well. What is
    wrong with a file as a whole stays a problem. `leaves_out` may be the names of the files of
    which bad records are left out.
    """

    def __init__(
        self,
        limit: int = DEFAULT_LIMIT,
        *,
        leaves_out: bool | frozenset[str] = False,
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
        if line and not is_whole and self.does_without(file):
            self._leave_out(Problem(file, line, text))
            return
        self.found.append(Problem(file, line, text))
        if len(self.found) >= self.limit:
            self.raise_found(is_cut=True)

    def does_without(self, file: str) -> bool:
        """Whether bad records of a file are left out."""
        if isinstance(self.leaves_out, bool):
            return self.leaves_out
        return file in self.leaves_out

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
            ordered = sorted(
                self.found, key=lambda problem: (files.index(problem.file), problem.line)
            )
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
        for problem in news.problems:
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
        n_problems, n_warnings, n_kept_of_left_out, n_left_out = self._told
        self._told = self._counts()
        return News(
            tuple(self.found[n_problems:]),
            tuple(self.warnings[n_warnings:]),
            tuple(self.left_out[n_kept_of_left_out:]),
            self.n_left_out - n_left_out,
        )

    def _counts(self) -> tuple[int, int, int, int]:
        return len(self.found), len(self.warnings), len(self.left_out), self.n_left_out


# --- What a person can get wrong when scoring or retrieving, and mend.


class ScoringError(BenchmarkError, code="scoring"):
    message = "This cannot be scored."


class CutoffError(ScoringError, code="cutoff"):
    message = (
        "The cutoff is {cutoff}; expected a whole number of at least 1. Choose another cutoff."
    )


class RelevanceThresholdError(ScoringError, code="relevance-threshold"):
    message = (
        "rel is {rel}; expected a grade of at least 1, from which a document counts as relevant. "
        "Choose another grade."
    )


class GradeTooLargeError(ScoringError, code="grade-too-large"):
    message = (
        "A grade is {grade}; exponential gain takes grades up to {largest}. "
        "Use linear gain or a smaller scale."
    )


class UnknownMeasureError(ScoringError, code="unknown-measure"):
    message = "'{name}' is no measure we know; expected one of {known}. Check the spelling."


class MeasureParameterError(ScoringError, code="measure-parameter"):
    message = "'{name}': {reason}"


class UnknownTieRuleError(ScoringError, code="unknown-tie-rule"):
    message = "'{ties}' is no tie rule; expected one of {known}. Choose one of them."


class ExpectedDepthError(ScoringError, code="expected-depth"):
    message = (
        "Ties are 'expected' and results are cut at {depth}, where a tie may be cut in two; "
        "expected one of both. Use a measure's own cutoff, or another tie rule."
    )


class UnknownScannerError(ScoringError, code="unknown-scanner"):
    message = "BENCHWRIGHT_SCANNER is '{scanner}'; expected {expected}. {advice}"


class TooManyOrdersError(ScoringError, code="too-many-orders"):
    message = (
        "{measure} of query '{qid}': the documents of one score can be ordered in too many ways; "
        "expected fewer of one score. Leave the measure out, or choose another tie rule."
    )


class NoBracketError(ScoringError, code="no-bracket"):
    message = (
        "{measure} has no bracket: judging a document relevant can lower it; expected a measure "
        "that only grows, such as P@10, RR, Success@10, DCG or RBP. Ask for scenarios instead."
    )


class UnknownMissingRuleError(ScoringError, code="unknown-missing-rule"):
    message = "'{missing}' is no rule for missing queries; expected zero or skip. Choose one."


class UnknownUnlistedRuleError(ScoringError, code="unknown-unlisted-rule"):
    message = (
        "'{unlisted}' is no rule for documents that the qrels do not list; expected {known}. "
        "Choose one."
    )


class EmptyRunError(ScoringError, code="empty-run"):
    message = "The run holds no result; expected at least one row. Check that it is the right file."


class EmptyQrelsError(ScoringError, code="empty-qrels"):
    message = "The qrels hold no grade; expected at least one row. Check that it is the right file."


class NoCommonQueryError(ScoringError, code="no-common-query"):
    message = (
        "Run and qrels have no query in common: the run has {run_ids}, the qrels have {qrel_ids}. "
        "Check that both belong to the same benchmark and split."
    )


class ColumnsError(ScoringError, code="columns"):
    message = (
        "The {name} {reason}; expected {{query: {{document: value}}}}, or a table with a column of "
        "queries, one of documents and one of scores or grades. Name them qid, docid and score "
        "(grade in qrels)."
    )


class UnknownAggregationError(ScoringError, code="unknown-aggregation"):
    message = "'{how}' is no way to score documents; expected one of {known}. Choose one of them."


class ParentsNeededError(ScoringError, code="parents-needed"):
    message = (
        "'{how}' counts the first passage of a document, which ids do not tell; expected a file of "
        "parents. Name it (--parents), each document's first passage first."
    )


class ResultFormatError(ScoringError, code="result-format"):
    message = (
        "{file} {reason}; expected a result file as `benchwright score --result FILE` writes it. "
        "Check that it is the right file."
    )


class BenchmarkObjectError(BenchmarkError, code="benchmark-object"):
    message = "The benchmark's {where}: {what}."


class ModelError(ScoringError, code="model"):
    message = "Query '{qid}' ({text}): the model {reason}."


class MtebFormatError(ScoringError, code="mteb-format"):
    message = "{file}: {what}; expected {expected}."


class UnknownSystemError(ScoringError, code="unknown-system"):
    message = "'{name}' is no retrieval system; expected one of {known}. Choose one of them."


class TooFewRunsError(ScoringError, code="too-few-runs"):
    message = "{count} run to compare; expected at least two. Name another run."


class TooFewQueriesError(ScoringError, code="too-few-queries"):
    message = "The runs have {count} query in common; expected at least two. Score more queries."


class RunsDifferError(ScoringError, code="runs-differ"):
    message = (
        "Run '{run}' has no value for {count} of the queries of '{other}': {ids}; expected the "
        "same queries in every run. Score all runs on the same qrels, counting missing queries as "
        "zero."
    )


class NoCommonMeasureError(ScoringError, code="no-common-measure"):
    message = (
        "The runs share no measure: {measures}; expected at least one that all have. "
        "Score them by the same measures."
    )


class WeightError(ScoringError, code="weight"):
    message = (
        "The weight of query {query} is {weight!r}; expected a number above 0. Correct it, or "
        "leave the query out."
    )


class MissingValueError(ScoringError, code="missing-value"):
    message = (
        "Run '{run}', query {query}: no value of {measure}; expected one for every query. "
        "Score the run by {measure}, or leave the measure out."
    )


class NoWeightError(ScoringError, code="no-weight"):
    message = (
        "None of the {n_queries} scored queries has a weight, so there is no weighted mean. Check "
        "the ids of the weights."
    )


class UnknownRunError(ScoringError, code="unknown-run"):
    message = "'{name}' is none of the runs; expected one of {known}. Check the spelling."


class ReservedSliceError(ScoringError, code="reserved-slice"):
    message = "A slice is called '{name}', which means all queries here. Give it another name."


class UnknownMethodError(ScoringError, code="unknown-method"):
    message = "'{name}' is no {kind}; expected one of {known}. Choose one of them."


class MethodMisfitError(ScoringError, code="method-misfit"):
    message = "{reason} Choose another {kind}."


class MethodNumberError(ScoringError, code="method-number"):
    message = "{name} is {value}; expected {expected}. Choose another number."


class DuplicateDocumentError(ScoringError, code="duplicate-document"):
    message = (
        "Document '{docid}' is in the corpus {count} times; expected every id once. "
        "Remove the others."
    )


# ---


class AnnotationError(BenchmarkError, code="annotation"):
    message = "This cannot be done with these judgments."
