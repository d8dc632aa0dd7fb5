"""What can go wrong on the way from runs to agreed grades, and be mended.

BenchmarkError
└── AnnotationError
    └── PoolError               a pool that cannot be built
        ├── PoolRunError        a run whose ranking is none
        ├── EmptyPoolError      no document in reach
        │   └── EmptyTopUpError no document of a list that is not judged
        ├── PoolRecipeError     parts that do not fit together
        └── PoolOrderError      an order that there is none of
"""

from benchwright.errors import AnnotationError


class PoolError(AnnotationError, code="pool"):
    message = "This pool cannot be built."


class PoolRunError(PoolError, code="pool-run"):
    message = "Run {run}, query {qid}, document {docid}: {reason}."


class EmptyPoolError(PoolError, code="pool-empty"):
    message = (
        "None of the {n_runs} runs has a document for any of the queries; "
        "choose runs that answer this benchmark's queries."
    )


class EmptyTopUpError(EmptyPoolError, code="pool-top-up-empty"):
    message = (
        "Of the list's {n_candidates} documents none is left to judge: each has its label, or is "
        "of a query that the benchmark does not have."
    )


class PoolRecipeError(PoolError, code="pool-recipe"):
    message = "{what}; expected {expected}."


class PoolOrderError(PoolError, code="pool-order"):
    message = "No order '{order}'; there are: {known}."
