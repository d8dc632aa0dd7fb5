"""Scores of a run against qrels, without Django: `evaluate(read_qrels(…), read_run(…), […])`.

`compare` needs numpy, which is loaded when `compare` is first asked for and not before; what
`evaluate_model` needs is loaded with it, too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchwright.comparison.comparing import compare
    from benchwright.comparison.outcome import Comparison
    from benchwright.evaluation.evaluating import Evaluation, evaluate, evaluate_hits
    from benchwright.evaluation.models import ModelEvaluation, evaluate_model
    from benchwright.evaluation.weighting import WeightedMeans, weighted_means
    from benchwright.reading import read_qrels, read_run

__all__ = [
    "Comparison",
    "Evaluation",
    "ModelEvaluation",
    "WeightedMeans",
    "compare",
    "evaluate",
    "evaluate_hits",
    "evaluate_model",
    "read_qrels",
    "read_run",
    "weighted_means",
]

LOADED_WHEN_ASKED_FOR = {
    "evaluate": "benchwright.evaluation.evaluating",
    "Evaluation": "benchwright.evaluation.evaluating",
    "evaluate_hits": "benchwright.evaluation.evaluating",
    "read_qrels": "benchwright.reading",
    "read_run": "benchwright.reading",
    "Comparison": "benchwright.comparison.comparing",
    "ModelEvaluation": "benchwright.evaluation.models",
    "WeightedMeans": "benchwright.evaluation.weighting",
    "compare": "benchwright.comparison.comparing",
    "evaluate_model": "benchwright.evaluation.models",
    "weighted_means": "benchwright.evaluation.weighting",
}


def __getattr__(name: str) -> Any:
    if name not in LOADED_WHEN_ASKED_FOR:
        text = f"module '{__name__}' has no attribute '{name}'"
        raise AttributeError(text)
    return getattr(import_module(LOADED_WHEN_ASKED_FOR[name]), name)
