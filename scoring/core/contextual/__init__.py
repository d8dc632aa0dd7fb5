"""Contextual precision: does what helps stand before what does not, in the eyes of a judge?

`ContextualPrecision(model=…).measure(Case(…))`, or `evaluate(cases, [metric])` for many. Without
Django; `openai` and Pillow are loaded with the first question and the first image.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scoring.core.contextual.arithmetic import contextual_precision, contextual_precisions
    from scoring.core.contextual.caching import FileCache
    from scoring.core.contextual.cases import read_cases
    from scoring.core.contextual.client import OpenAIJudge
    from scoring.core.contextual.endpoint import Endpoint
    from scoring.core.contextual.images import checked_image
    from scoring.core.contextual.metric import ContextualPrecision, evaluate
    from scoring.core.contextual.types import Case, Image, JudgeFailedError, Outcome, Reply

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

FOUND_IN = {
    "Case": "types",
    "ContextualPrecision": "metric",
    "Endpoint": "endpoint",
    "FileCache": "caching",
    "Image": "types",
    "JudgeFailedError": "types",
    "OpenAIJudge": "client",
    "Outcome": "types",
    "Reply": "types",
    "checked_image": "images",
    "contextual_precision": "arithmetic",
    "contextual_precisions": "arithmetic",
    "evaluate": "metric",
    "read_cases": "cases",
}


def __getattr__(name: str) -> Any:
    if name not in FOUND_IN:
        text = f"module '{__name__}' has no attribute '{name}'"
        raise AttributeError(text)
    return getattr(import_module(f"{__name__}.{FOUND_IN[name]}"), name)
