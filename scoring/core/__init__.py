"""Scores of a run against qrels, without Django: `evaluate(read_qrels(…), read_run(…), […])`.

`compare` needs numpy, which is loaded when `compare` is first asked for and not before; what
`evaluate_model` needs is loaded with it, too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scoring.core.evaluation import Evaluation, evaluate, evaluate_hits
from scoring.core.reading import read_qrels, read_run

if TYPE_CHECKING:
    from scoring.core.comparing import Comparison, compare
    from scoring.core.modelling.evaluating import ModelEvaluation, evaluate_model
    from scoring.core.weighting import WeightedMeans, weighted_means

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
    "Comparison": "comparing",
    "ModelEvaluation": "modelling.evaluating",
    "WeightedMeans": "weighting",
    "compare": "comparing",
    "evaluate_model": "modelling.evaluating",
    "weighted_means": "weighting",
}


def __getattr__(name: str) -> Any:
    if name not in LOADED_WHEN_ASKED_FOR:
        text = f"module '{__name__}' has no attribute '{name}'"
        raise AttributeError(text)
    return getattr(import_module(f"{__name__}.{LOADED_WHEN_ASKED_FOR[name]}"), name)
