"""Scores of a run against qrels, without Django: `evaluate(load_qrels(…), load_run(…), […])`."""

from scoring.core.evaluation import Evaluation, evaluate, evaluate_hits
from scoring.core.reading import load_qrels, load_run

__all__ = ["Evaluation", "evaluate", "evaluate_hits", "load_qrels", "load_run"]
