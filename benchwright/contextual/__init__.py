"""Contextual precision: does what helps stand before what does not, in the eyes of a judge?

`ContextualPrecision(model=…).measure(Case(…))`, or `evaluate(cases, [metric])` for many. Without
Django; `openai` and Pillow are loaded with the first question and the first image.
"""

from typing import TYPE_CHECKING

from benchwright.lazily import lazily

if TYPE_CHECKING:
    from benchwright.contextual.arithmetic import contextual_precision, contextual_precisions
    from benchwright.contextual.cases import read_cases
    from benchwright.contextual.metric import ContextualPrecision, evaluate
    from benchwright.contextual.serial import FileCache
    from benchwright.contextual.types import Case, Outcome
    from benchwright.judges.client import OpenAIJudge
    from benchwright.judges.endpoint import Endpoint
    from benchwright.judges.images import checked_image
    from benchwright.judges.messages import Image, JudgeFailedError, Reply

__all__ = [
    "Case",
    "ContextualPrecision",
    "Endpoint",
    "FileCache",
    "Image",
    "JudgeFailedError",
    "OpenAIJudge",
    "Outcome",
    "Reply",
    "checked_image",
    "contextual_precision",
    "contextual_precisions",
    "evaluate",
    "read_cases",
]

__getattr__ = lazily(
    __name__,
    {
        "Case": "benchwright.contextual.types",
        "ContextualPrecision": "benchwright.contextual.metric",
        "Endpoint": "benchwright.judges.endpoint",
        "FileCache": "benchwright.contextual.serial",
        "Image": "benchwright.judges.messages",
        "JudgeFailedError": "benchwright.judges.messages",
        "OpenAIJudge": "benchwright.judges.client",
        "Outcome": "benchwright.contextual.types",
        "Reply": "benchwright.judges.messages",
        "checked_image": "benchwright.judges.images",
        "contextual_precision": "benchwright.contextual.arithmetic",
        "contextual_precisions": "benchwright.contextual.arithmetic",
        "evaluate": "benchwright.contextual.metric",
        "read_cases": "benchwright.contextual.cases",
    },
)
