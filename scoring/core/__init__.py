"""Scores of a run against qrels, without Django: `evaluate(read_qrels(…), read_run(…), […])`.

`compare` needs numpy, which is loaded when `compare` is first asked for and not before.
"""

from typing import TYPE_CHECKING, Any

from scoring.core.evaluation import Evaluation, evaluate, evaluate_hits
from scoring.core.reading import read_qrels, read_run

if TYPE_CHECKING:
    from scoring.core.comparing import Comparison, compare

__all__ = [
    "Comparison",
    "Evaluation",
    "compare",
    "evaluate",
    "evaluate_hits",
    "read_qrels",
    "read_run",
]

LOADED_WHEN_ASKED_FOR = ("Comparison", "compare")


def __getattr__(name: str) -> Any:
    if name not in LOADED_WHEN_ASKED_FOR:
        text = f"module '{__name__}' has no attribute '{name}'"
        raise AttributeError(text)
    from scoring.core import comparing

    return getattr(comparing, name)
