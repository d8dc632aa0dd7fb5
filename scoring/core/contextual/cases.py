"""Cases from JSON lines: `read_cases`, which tells everything that is wrong with its line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks_app.core.errors import Problem
from scoring.core.contextual.images import LIMITS, ImageLimits
from scoring.core.contextual.types import Case, Content, Image


@dataclass(frozen=True, slots=True)
class CaseLimits:
    """How much one file of cases may hold."""

    max_cases: int = 100_000
    max_nodes: int = 500
    max_characters: int = 1_000_000
    images: ImageLimits = LIMITS


CASE_LIMITS = CaseLimits()


@dataclass(frozen=True)
class CaseFile:
    """Cases in the order of their lines, and what is odd about the file but stops nothing."""

    cases: tuple[Case, ...]
    warnings: tuple[Problem, ...] = ()


def read_cases(
    source: Path | Iterable[bytes],
    *,
    images: Path | Mapping[str, Image] | None = None,
    limits: CaseLimits = CASE_LIMITS,
    name: str = "",
) -> CaseFile:
    """The cases of a file of JSON lines (also compressed), or of such lines.

    A line is an object with `input`, `expected_output` and `retrieval_context` (a list of nodes,
    best first), and where wanted `id`, `actual_output` and `slices` (a list of names). A part is a
    text, an image or a list of both; an image is `{"image": "file.png"}`, `{"url": "https://…"}` or
    `{"data": "<base64>"}`. A case without id is called `line-N`.

    Parameters
    ----------
    images
        Where `{"image": …}` is looked up: a folder, or images by name. Without it, no file is read.
    name
        What messages call the file.

    Raises
    ------
    FileProblemsError
        With all that is wrong, by line, up to a hundred problems.
    """
    raise NotImplementedError


def case_of(row: Mapping[str, Any], images: Mapping[str, Image]) -> Case:
    """The case that `case_as_json` has written; for cases that were checked when they came in."""
    raise NotImplementedError


def case_as_json(case: Case) -> dict[str, Any]:
    """A case as a JSON object: images of bytes by name, others by address."""
    raise NotImplementedError


def content_as_json(content: Content) -> list[Any]:
    """Parts as JSON: texts, `{"image": name}` and `{"url": address}`."""
    raise NotImplementedError
