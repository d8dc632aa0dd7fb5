"""What a person can get wrong with examples of grades.

ExampleError (benchwright.errors.BenchmarkError)
├── NoWordError         an example of what nobody graded
├── ExampleTextError    an example that says nothing, or too much
├── ExampleKnownError   a second example of one judgment
└── ExamplesFullError   more examples of a grade than a prompt holds
"""

from benchwright.errors import BenchmarkError


class ExampleError(BenchmarkError, code="example"):
    message = "The example cannot be kept so."


class NoWordError(ExampleError, code="example-no-grade", status=409):
    message = (
        "No person has graded {document} for {query}, and an example shows what people say. "
        "Have it judged first."
    )


class ExampleTextError(ExampleError, code="example-text"):
    message = (
        "The example has {n:,} characters; expected 1 to {most:,}. Keep to what decides the grade."
    )


class ExampleKnownError(ExampleError, code="example-known", status=409):
    message = "This judgment is an example already. Withdraw that one first to word it anew."


class ExamplesFullError(ExampleError, code="example-full", status=409):
    message = (
        "Grade {grade} has {most} examples already, as many as a prompt holds. Withdraw one first."
    )
