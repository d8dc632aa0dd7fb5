"""Scores of a run against qrels, without Django: `evaluate(read_qrels(…), read_run(…), […])`."""

from scoring.core.evaluation import Evaluation, evaluate, evaluate_hits
from scoring.core.reading import read_qrels, read_run

__all__ = ["Evaluation", "evaluate", "evaluate_hits", "read_qrels", "read_run"]
