"""What is wrong with a prompt or a scale before anybody is asked.

GradingError (benchwright.errors.BenchmarkError)
├── TemplateError        a template with a slot too many, too few, or a brace that is none
└── GradingScaleError    a scale of fewer than two grades, or with a grade twice

What goes wrong with one pair is a `CaseError` of `benchwright.judges.errors`, kept in its `Graded`.
"""

from benchwright.errors import BenchmarkError


class GradingError(BenchmarkError, code="grading"):
    message = "The pairs cannot be graded so."


class TemplateError(GradingError, code="grading-template"):
    message = "The template {what}; expected {expected}."


class GradingScaleError(GradingError, code="grading-scale"):
    message = "The scale {what}; expected at least two different grades from 0 up."
