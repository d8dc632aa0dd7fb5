"""What a case is made of, and what judging it comes to."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from benchwright.judges.errors import CaseError, CaseFormatError


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
        return _address_of(self.data, self.media_type)


@dataclass(frozen=True)
class KeptImage(Image):
    """A checked image in a file, by its digest: its bytes are read whenever it is sent."""

    path: Path = field(default=Path(), repr=False)
    digest: str = ""

    @cached_property
    def sha256(self) -> str:
        return self.digest

    def as_url(self) -> str:
        return _address_of(self.path.read_bytes(), self.media_type)


def _address_of(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


Part: TypeAlias = str | Image


Content: TypeAlias = tuple[Part, ...]


def content_of(value: Any, where: str = "content") -> Content:
    """A text, an image, or a list of both, as content.

    Raises
    ------
    CaseFormatError
        If it is anything else.
    """
    if isinstance(value, str | Image):
        return (value,)
    if isinstance(value, list | tuple) and all(isinstance(part, str | Image) for part in value):
        return tuple(value)
    raise CaseFormatError(
        where=where,
        what=f"a {type(value).__name__} that is neither a text, an image nor a list of both",
        expected="text and images (benchwright.contextual.Image)",
    )


def is_empty(content: Content) -> bool:
    """Whether there is neither an image nor a text of more than white space."""
    return not any(isinstance(part, Image) or part.strip() for part in content)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of an answer, with the log probability of what might have stood in its place."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge's `generate` may return in place of plain text, where it knows more."""

    text: str
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    attempts: int = 1
    tokens: tuple[Token, ...] = ()


class JudgeFailedError(Exception):
    """Raised by a judge: what went wrong, and the answer it has paid for all the same, if any."""

    def __init__(self, error: CaseError, reply: Reply | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.reply = reply


Message: TypeAlias = Mapping[str, Any]


Schema: TypeAlias = Mapping[str, Any]
