"""From runs to grades; import the models from here."""

from annotation.models.judgments import AggregationPolicy, Judgment
from annotation.models.machines import (
    Campaign,
    CampaignPair,
    GradeExample,
    JudgePrompt,
    MachineLabel,
)
from annotation.models.people import KeyMap, PoolStart, Question
from annotation.models.pools import KnownGrade, Pool, PoolAnnotator, PoolEntry, PoolRun
from annotation.models.slots import Slot
from annotation.models.sparing import SparingRule, ZeroEntry

__all__ = [
    "AggregationPolicy",
    "Campaign",
    "CampaignPair",
    "GradeExample",
    "JudgePrompt",
    "Judgment",
    "KeyMap",
    "KnownGrade",
    "MachineLabel",
    "Pool",
    "PoolAnnotator",
    "PoolEntry",
    "PoolRun",
    "PoolStart",
    "Question",
    "Slot",
    "SparingRule",
    "ZeroEntry",
]
