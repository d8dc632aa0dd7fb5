"""What is graded, on which scale, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchwright.judges.course import Answer, Answered, Failure
from benchwright.judges.messages import Content, content_of


@dataclass(frozen=True, slots=True)
class Grade:
    """One grade of a scale: what it is called, what it means, and examples of it."""

    value: int
    name: str
    meaning: str = ""
    examples: tuple[str, ...] = ()


UMBRELA_SCALE = (
    Grade(0, "Unrelated", "the document has nothing to do with the query"),
    Grade(1, "Related", "it is about the subject of the query, but does not answer it"),
    Grade(2, "Partial", "it answers the query in part, or unclearly, or among much else"),
    Grade(3, "Exact", "it is about the query and holds the answer in so many words"),
)
"""The four grades of UMBRELA (arXiv 2406.06519), in our words."""


@dataclass(frozen=True)
class Pair:
    """A query and a document, each a text, an image or a list of both.

    `description` says more of what the query wants; the judge is shown it where it is not empty.
    Ids are not shown.
    """

    query_id: str
    document_id: str
    query: Content
    document: Content
    description: str = ""

    def __post_init__(self) -> None:
        into = object.__setattr__
        into(self, "query", content_of(self.query, "query"))
        into(self, "document", content_of(self.document, "document"))


@dataclass(frozen=True, slots=True)
class Graded(Answered):
    """What a judge said of a pair: a grade with its reason, or an error.

    `probabilities` are those of the grades, where the endpoint gives them. `answers` holds every
    answer as it came, one of no use included. `key` names the question (content, prompt, model and
    parameters), `prompt_hash` the version of the prompt. `at` is when it was answered (UTC, ISO
    8601): of an answer out of a cache, when it was paid for.
    """

    query_id: str
    document_id: str
    grade: int | None = None
    reason: str = ""
    probabilities: Mapping[int, float] = field(default_factory=dict)
    error: Failure | None = None
    answers: tuple[Answer, ...] = ()
    key: str = ""
    prompt_hash: str = ""
    at: str = ""
    seconds: float = 0.0
    is_cached: bool = False

    @property
    def model(self) -> str:
        """The model that answered, as the endpoint names it; "" where nothing came."""
        return self.answers[-1].model if self.answers else ""

    @property
    def raw(self) -> str:
        """The last answer, word for word."""
        return self.answers[-1].text if self.answers else ""

    @property
    def paid(self) -> float:
        """What it cost now: nothing where it came out of a cache."""
        return 0.0 if self.is_cached else self.cost or 0.0

    @property
    def n_requests(self) -> int:
        """Requests that were sent for it, those that failed included."""
        return sum(answer.attempts for answer in self.answers)
