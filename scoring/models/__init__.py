"""From submitted runs to comparable numbers; import the models from here."""

from scoring.models.comparisons import Comparison
from scoring.models.gates import GatePolicy, GateResult, OnlineResult
from scoring.models.scores import ReportedScore, Score, ScoreSet
from scoring.models.submissions import Phase, ProbingFlag, Submission

__all__ = [
    "Comparison",
    "GatePolicy",
    "GateResult",
    "OnlineResult",
    "Phase",
    "ProbingFlag",
    "ReportedScore",
    "Score",
    "ScoreSet",
    "Submission",
]
