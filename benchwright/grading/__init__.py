"""Grades that machines give: pairs of a query and a document go to a judge, grades come back.

`gradings_of(pairs, judge, prompt)` yields a `Graded` a pair, each with its reason, raw answer and
cost; what goes wrong belongs to its pair. Nothing here is a person's label: how far these grades
can be trusted is measured by `benchwright.calibration`, and docs/machine-judges.md says how.
"""

from typing import TYPE_CHECKING

from benchwright.lazily import lazily

if TYPE_CHECKING:
    from benchwright.grading.caching import GradeCache
    from benchwright.grading.estimating import Estimate, estimated
    from benchwright.grading.looping import Budget, grade_pairs, graded, gradings_of, key_of
    from benchwright.grading.pairs import read_pairs
    from benchwright.grading.prompts import GradingPrompt
    from benchwright.grading.types import Grade, Graded, Pair

__all__ = [
    "Budget",
    "Estimate",
    "Grade",
    "GradeCache",
    "Graded",
    "GradingPrompt",
    "Pair",
    "estimated",
    "grade_pairs",
    "graded",
    "gradings_of",
    "key_of",
    "read_pairs",
]

__getattr__ = lazily(
    __name__,
    {
        "Budget": "benchwright.grading.looping",
        "Estimate": "benchwright.grading.estimating",
        "Grade": "benchwright.grading.types",
        "GradeCache": "benchwright.grading.caching",
        "Graded": "benchwright.grading.types",
        "GradingPrompt": "benchwright.grading.prompts",
        "Pair": "benchwright.grading.types",
        "estimated": "benchwright.grading.estimating",
        "grade_pairs": "benchwright.grading.looping",
        "graded": "benchwright.grading.looping",
        "gradings_of": "benchwright.grading.looping",
        "key_of": "benchwright.grading.looping",
        "read_pairs": "benchwright.grading.pairs",
    },
)
