"""What a case is made of, and what judging it comes to."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from scoring.core.contextual.errors import CaseError, CaseFormatError


@dataclass(frozen=True)
class Image:
    """An image as a value: bytes with their media type, or the address of one.

    Make one of bytes with `images.checked_image` (which looks inside), or of an address with
    `images.image_at`. `name` is what cases and messages call it.
    """

    data: bytes = field(default=b"", repr=False)
    media_type: str = ""
    name: str = ""
    url: str = ""
    width: int = 0
    height: int = 0

    @cached_property
    def sha256(self) -> str:
        """Hex digest of the bytes; of the address where there are none."""
        return hashlib.sha256(self.data or self.url.encode()).hexdigest()

    def as_url(self) -> str:
        """An address that holds the image itself, or the one it lies at."""
        if not self.data:
            return self.url
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"


Part: TypeAlias = str | Image
Content: TypeAlias = tuple[Part, ...]


def content_of(given: Any, where: str = "content") -> Content:
    """A text, an image, or a list of both, as content.

    Raises
    ------
    CaseFormatError
        If it is anything else.
    """
    if isinstance(given, str | Image):
        return (given,)
    if isinstance(given, list | tuple) and all(isinstance(part, str | Image) for part in given):
        return tuple(given)
    raise CaseFormatError(
        where=where,
        what=f"a {type(given).__name__} that is neither a text, an image nor a list of both",
        expected="text and images (scoring.core.contextual.Image)",
    )


def is_empty(content: Content) -> bool:
    """Whether there is neither an image nor a text of more than white space."""
    return not any(isinstance(part, Image) or part.strip() for part in content)


@dataclass(frozen=True)
class Case:
    """What was asked, what should have been answered, and what was retrieved, best first.

    Each part may be given as a text, an image, or a list of both; a node of several parts stays one
    node. Texts are texts, whatever they hold: nothing in them names an image.
    """

    input: Content
    expected_output: Content
    retrieval_context: tuple[Content, ...]
    actual_output: Content | None = None
    id: str = ""
    slices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        into = object.__setattr__
        into(self, "input", content_of(self.input, "input"))
        into(self, "expected_output", content_of(self.expected_output, "expected_output"))
        if not isinstance(self.retrieval_context, list | tuple):
            raise CaseFormatError(
                where="retrieval_context",
                what=f"it is a {type(self.retrieval_context).__name__}",
                expected="a list of nodes, the best first",
            )
        nodes = (content_of(node, "retrieval_context") for node in self.retrieval_context)
        into(self, "retrieval_context", tuple(nodes))
        if self.actual_output is not None:
            into(self, "actual_output", content_of(self.actual_output, "actual_output"))
        into(self, "slices", tuple(self.slices))

    def images(self) -> list[Image]:
        """Every image that a judge is shown, in order of its first place."""
        contents = (self.input, self.expected_output, *self.retrieval_context)
        found = (part for content in contents for part in content if isinstance(part, Image))
        return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a node, counted from 1 in rank order, helped to reach the expected output."""

    node: int
    is_relevant: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a judge as it came, and what it took.

    `kind` is "verdicts" or "reason". `attempts` counts requests, those that failed included;
    `cost` is None where prices or tokens are not known; `seconds` include waiting and trying again.
    """

    kind: str
    text: str
    prompt_hash: str
    model: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    attempts: int = 1
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a case, or its reason, could not be had: a stable code and words for a person."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What judging a case came to: a score with verdicts, or an error.

    `is_success` is None without a threshold. `reason_error` tells why there is a score but no
    reason. `answers` holds every answer that came, unusable ones included.
    """

    case_id: str
    score: float | None = None
    is_success: bool | None = None
    verdicts: tuple[Verdict, ...] = ()
    reason: str | None = None
    error: Failure | None = None
    reason_error: Failure | None = None
    answers: tuple[Answer, ...] = ()
    slices: tuple[str, ...] = ()
    is_cached: bool = False
    seconds: float = 0.0

    @property
    def cost(self) -> float | None:
        """What the answers cost together; None where none of them has a price."""
        known = [answer.cost for answer in self.answers if answer.cost is not None]
        return sum(known) if known else None

    @property
    def tokens_in(self) -> int | None:
        known = [answer.tokens_in for answer in self.answers if answer.tokens_in is not None]
        return sum(known) if known else None

    @property
    def tokens_out(self) -> int | None:
        known = [answer.tokens_out for answer in self.answers if answer.tokens_out is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge's `generate` may return in place of plain text, where it knows more."""

    text: str
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    attempts: int = 1


class JudgeFailedError(Exception):
    """Raised by a judge: what went wrong, and the answer it has paid for all the same, if any."""

    def __init__(self, error: CaseError, reply: Reply | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.reply = reply


Message: TypeAlias = Mapping[str, Any]
"""A message of the chat completions protocol: role, and content as a text or a list of parts."""

Schema: TypeAlias = Mapping[str, Any]
"""{"name": …, "schema": JSON schema}, as the protocol's `json_schema` takes it."""
