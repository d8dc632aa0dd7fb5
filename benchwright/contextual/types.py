"""What a case is made of, how it is judged, and what that comes to."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchwright.judges.course import Answer, Answered, Failure
from benchwright.judges.errors import CaseFormatError, JudgeSettingError
from benchwright.judges.messages import Content, Image, content_of


@dataclass(frozen=True)
class Case:
    """What was asked, what should have been answered, and what was retrieved, best first.

    Each part may be given as a text, an image, or a list of both; a node of several parts stays one
    node. An image may be given as the `Path` of its file, which is read and checked at once, or as
    `{"url": address}`. Texts are texts, whatever they hold: nothing in them names an image.

    Raises
    ------
    CaseFormatError
        If a part is anything else.
    ImageError
        If a file holds no good image, or an address is none.
    """

    input: Content
    expected_output: Content
    retrieval_context: tuple[Content, ...]
    actual_output: Content | None = None
    id: str = ""
    slices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        into = object.__setattr__
        into(self, "input", _content_of(self.input, "input"))
        into(self, "expected_output", _content_of(self.expected_output, "expected_output"))
        if not isinstance(self.retrieval_context, list | tuple):
            raise CaseFormatError(
                where="retrieval_context",
                what=f"it is a {type(self.retrieval_context).__name__}",
                expected="a list of nodes, the best first",
            )
        nodes = (_content_of(node, "retrieval_context") for node in self.retrieval_context)
        into(self, "retrieval_context", tuple(nodes))
        if self.actual_output is not None:
            into(self, "actual_output", _content_of(self.actual_output, "actual_output"))
        into(self, "slices", tuple(self.slices))

    def images(self) -> list[Image]:
        """Every image that a judge is shown, in order of its first place."""
        contents = (self.input, self.expected_output, *self.retrieval_context)
        images = (part for content in contents for part in content if isinstance(part, Image))
        return list(dict.fromkeys(images))


def _content_of(value: Any, where: str) -> Content:
    if isinstance(value, list | tuple):
        return content_of([_image_of(part) for part in value], where)
    return content_of(_image_of(value), where)


def _image_of(part: Any) -> Any:
    """The image that a path or an address stands for; anything else as it is."""
    if not isinstance(part, Path | dict):
        return part
    # Where no image is named, none of what reads images is loaded.
    from benchwright.judges.images import image_at, image_file

    if isinstance(part, Path):
        path = part.resolve()
        return image_file(path.parent, path.name)
    is_address = part.keys() == {"url"} and isinstance(part["url"], str)
    return image_at(part["url"]) if is_address else part


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a node, counted from 1 in rank order, helped to reach the expected output."""

    node: int
    is_relevant: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome(Answered):
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


# --- how a case is judged and scored -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Options:
    """How a case is judged and scored.

    `threshold` None gives no verdict on success; `strict_mode` makes it 1 and every lower score 0.
    `remote_images`: images given by address are passed on to the judge, fetched by us (public
    addresses only unless `may_fetch_private`), or refused.

    Raises
    ------
    JudgeSettingError
        If the threshold is not between 0 and 1.
    """

    threshold: float | None = 0.5
    include_reason: bool = True
    strict_mode: bool = False
    remote_images: Literal["pass", "fetch", "refuse"] = "pass"
    may_fetch_private: bool = False

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise JudgeSettingError(
                name="threshold", value=self.threshold, expected="a number from 0 to 1, or None"
            )


OPTIONS = Options()
