"""From submitted runs to comparable numbers; import the models from here."""

from scoring.models.contextual import (
    CaseImage,
    CaseOutcome,
    CaseSet,
    CaseSource,
    ContextualCase,
    ContextualEvaluation,
    PersonVerdict,
)
from scoring.models.contrastive import EmbeddingPair
from scoring.models.gates import GatePolicy, GateRehearsal, GateResult, OnlineResult
from scoring.models.live import LiveRun, LiveSystem
from scoring.models.reported import ReportedScore
from scoring.models.retrieval import Retrieval, ShardJob
from scoring.models.scores import Comparison, LadderStep, RunLatencies, Score, ScoreSet
from scoring.models.submissions import Phase, ProbingFlag, Submission

__all__ = [
    "CaseImage",
    "CaseOutcome",
    "CaseSet",
    "CaseSource",
    "Comparison",
    "ContextualCase",
    "ContextualEvaluation",
    "EmbeddingPair",
    "GatePolicy",
    "GateRehearsal",
    "GateResult",
    "LadderStep",
    "LiveRun",
    "LiveSystem",
    "OnlineResult",
    "PersonVerdict",
    "Phase",
    "ProbingFlag",
    "ReportedScore",
    "Retrieval",
    "RunLatencies",
    "Score",
    "ScoreSet",
    "ShardJob",
    "Submission",
]
