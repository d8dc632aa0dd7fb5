"""Why a list of queries from outside cannot be compared."""

from benchmarks_app.core.errors import BenchmarkError


class OutsideColumnError(BenchmarkError):
    code = "contamination-columns"
    message = (
        "{file}: no column holds the queries; the columns are {columns}. Name one text, query or "
        "question."
    )


class NoOutsideQueriesError(BenchmarkError):
    code = "contamination-empty"
    message = "{file} holds no query, so there is nothing to compare with."


class NothingToCheckError(BenchmarkError):
    code = "contamination-no-queries"
    message = "This benchmark has no queries yet. Import them first."


class CheckNameTakenError(BenchmarkError):
    code = "contamination-name-taken"
    status = 409
    message = "A check named '{name}' is in this benchmark already; choose another name."
