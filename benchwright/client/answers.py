"""What a site answers, as typed values; `facts` has everything it said, also what is new there."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self

from benchwright.client.errors import StrangeAnswerError


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer of the API; a fact that has no field of its own is in `facts`."""

    facts: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)

    @classmethod
    def of(cls, facts: Any) -> Self:
        """Return the value of an answer.

        Raises
        ------
        StrangeAnswerError
            If it lacks what every such answer has.
        """
        if not isinstance(facts, Mapping):
            raise StrangeAnswerError(url="the site", why=f"a {cls.__name__} came as {facts!r:.40}")
        own = [field for field in fields(cls) if field.name != "facts"]
        needed = {
            field.name
            for field in own
            if field.default is MISSING and field.default_factory is MISSING
        }
        if lacking := sorted(needed - set(facts)):
            why = f"a {cls.__name__} came without {', '.join(lacking)}"
            raise StrangeAnswerError(url="the site", why=why)
        values = {
            field.name: facts[field.name] for field in own if facts.get(field.name) is not None
        }
        return cls(facts=facts, **{name: values.get(name) for name in needed} | values)


@dataclass(frozen=True, kw_only=True)
class Me(Answer):
    """Who the token is of: `token` with its name and `expires_at`, roles by benchmark."""

    username: str
    name: str = ""
    token: Mapping[str, Any] | None = None
    memberships: list[Mapping[str, str]] = field(default_factory=list)
    teams: list[str] = field(default_factory=list)

    @property
    def expires_at(self) -> str:
        """When the token expires (ISO 8601), or nothing where that is not told."""
        return str((self.token or {}).get("expires_at", ""))


@dataclass(frozen=True, kw_only=True)
class Benchmark(Answer):
    slug: str
    name: str = ""
    description: str = ""
    unit: str = ""
    visibility: str = ""


@dataclass(frozen=True, kw_only=True)
class Release(Answer):
    version: str
    state: str = ""
    published_at: str | None = None
    deprecated_at: str | None = None
    deprecated_reason: str = ""
    successor: str | None = None
    content_sha256: str = ""

    @property
    def is_published(self) -> bool:
        return self.published_at is not None

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What the release holds; empty where it was taken from a list."""
        return self.facts.get("manifest") or {}

    @property
    def hidden_splits(self) -> list[str]:
        """Splits whose grades nobody is given."""
        return list(self.facts.get("hidden_splits") or ())


@dataclass(frozen=True)
class Problem:
    """What is wrong at one line of a file; 0 is the file as a whole."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        place = ":".join(part for part in (self.file, str(self.line or "")) if part)
        return f"{place}: {self.text}" if place else self.text

    @classmethod
    def of(cls, problem: Any) -> "Problem":
        """Return a problem as the site says it: an object, or a bare sentence.

        Examples
        --------
        >>> str(Problem.of({"file": "bm25.run", "line": 3, "text": "score is 'n/a'"}))
        "bm25.run:3: score is 'n/a'"
        """
        if not isinstance(problem, Mapping):
            return cls("", 0, str(problem))
        text = problem.get("text") or problem.get("message") or ""
        return cls(str(problem.get("file") or ""), int(problem.get("line") or 0), str(text))


@dataclass(frozen=True, kw_only=True)
class Phase(Answer):
    """When, on which release and split, and how often runs may be submitted."""

    id: int
    name: str
    release: str = ""
    split: str = ""
    state: str = ""
    is_hidden: bool = False
    daily_limit: int = 0
    total_limit: int | None = None
    closes_at: str | None = None

    @property
    def is_open(self) -> bool:
        return self.state == "open"


@dataclass(frozen=True, kw_only=True)
class Submission(Answer):
    """A run that was sent in, and how far it is; `scores` are means by measure, once there are any.

    `intervals` has the 95 % interval of each mean, `split_scores` the means over the split of the
    phase alone, where the release grades other queries too. `held` says in sentences which scores
    are those of an earlier submission of the team.
    """

    ENDED: ClassVar[tuple[str, ...]] = ("scored", "invalid", "failed")

    id: int
    state: str
    name: str = ""
    url: str = ""
    run: int | None = None
    phase: int | None = None
    release: str = ""
    split: str = ""
    team: str | None = None
    problems: list[Any] = field(default_factory=list)
    scores: Mapping[str, float | None] = field(default_factory=dict)
    intervals: Mapping[str, Sequence[float]] = field(default_factory=dict)
    split_scores: Mapping[str, float | None] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    job: int | None = None
    percent: int = 0
    message: str = ""
    n_left: int | None = None
    withdrawn_at: str | None = None
    # Whether these bytes were sent before: then this is what came of them.
    is_earlier: bool = False

    @property
    def is_ended(self) -> bool:
        """Whether nothing more will come of it by itself."""
        return self.state in self.ENDED

    @property
    def is_scored(self) -> bool:
        return self.state == "scored"

    @property
    def said_problems(self) -> list[Problem]:
        """Why it is invalid or failed, line by line."""
        return [Problem.of(problem) for problem in self.problems]


@dataclass(frozen=True, kw_only=True)
class Leaderboard(Answer):
    """Runs by a measure: a row has a value for each of `columns`, named as in the CSV file.

    The measure's own is `column`, followed by its interval in `{column} low` and `{column} high`.
    `n_waiting` runs lack the measure so far; `decimals` is to how many means are rounded, None
    where they are not.
    """

    release: str
    measure: str
    column: str
    columns: list[str] = field(default_factory=list)
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    n_runs: int = 0
    n_waiting: int = 0
    decimals: int | None = None
    url: str = ""

    def values(self, column: str = "") -> dict[str, Any]:
        """Return a column by the names of the runs, in their order; by default the measure's."""
        return {str(row["run"]): row[column or self.column] for row in self.rows}


@dataclass(frozen=True)
class Pulled:
    """What a pull has brought: the files below `folder`, and which splits' grades are withheld."""

    release: Release
    folder: Any
    files: tuple[str, ...]
    n_bytes: int
    withheld: tuple[str, ...]
