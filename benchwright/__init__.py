"""Scores of a run against qrels, without Django: `evaluate(read_qrels(…), read_run(…), […])`.

Nothing is imported before it is asked for. To read and to score takes the standard library alone;
what else a name needs is in the extra `tools`, `judge`, `catalog` or `hub`, and its error says so.
"""

from typing import TYPE_CHECKING

from benchwright.lazily import lazily

if TYPE_CHECKING:
    from benchwright.calibration.from_files import calibrate
    from benchwright.client import Client
    from benchwright.comparison.comparing import compare
    from benchwright.comparison.from_runs import compare_runs
    from benchwright.comparison.outcome import Comparison
    from benchwright.contextual.metric import ContextualPrecision
    from benchwright.contrastive.accuracy import contrastive_accuracy_score
    from benchwright.datasets import load_beir, load_miracl, load_mmarco
    from benchwright.estimation.corrected import corrected_mean
    from benchwright.evaluation.evaluating import Evaluation, evaluate, evaluate_hits
    from benchwright.evaluation.models import ModelEvaluation, evaluate_model
    from benchwright.evaluation.weighting import WeightedMeans, weighted_means
    from benchwright.reading import read_qrels, read_run

__all__ = [
    "Client",
    "Comparison",
    "ContextualPrecision",
    "Evaluation",
    "ModelEvaluation",
    "WeightedMeans",
    "calibrate",
    "compare",
    "compare_runs",
    "contrastive_accuracy_score",
    "corrected_mean",
    "evaluate",
    "evaluate_hits",
    "evaluate_model",
    "load_beir",
    "load_miracl",
    "load_mmarco",
    "read_qrels",
    "read_run",
    "weighted_means",
]

__getattr__ = lazily(
    __name__,
    {
        "Client": "benchwright.client",
        "Comparison": "benchwright.comparison.outcome",
        "ContextualPrecision": "benchwright.contextual.metric",
        "Evaluation": "benchwright.evaluation.evaluating",
        "ModelEvaluation": "benchwright.evaluation.models",
        "WeightedMeans": "benchwright.evaluation.weighting",
        "calibrate": "benchwright.calibration.from_files",
        "compare": "benchwright.comparison.comparing",
        "compare_runs": "benchwright.comparison.from_runs",
        "contrastive_accuracy_score": "benchwright.contrastive.accuracy",
        "corrected_mean": "benchwright.estimation.corrected",
        "evaluate": "benchwright.evaluation.evaluating",
        "evaluate_hits": "benchwright.evaluation.evaluating",
        "evaluate_model": "benchwright.evaluation.models",
        "load_beir": "benchwright.datasets",
        "load_miracl": "benchwright.datasets",
        "load_mmarco": "benchwright.datasets",
        "read_qrels": "benchwright.reading",
        "read_run": "benchwright.reading",
        "weighted_means": "benchwright.evaluation.weighting",
    },
)
