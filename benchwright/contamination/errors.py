"""Why a list of queries from outside cannot be compared."""

from benchwright.errors import BenchmarkError

# --- Why a list of queries from outside cannot be compared.


class OutsideColumnError(BenchmarkError, code="contamination-columns"):
    message = (
        "{file}: no column holds the queries; the columns are {columns}. Name one text, query or "
        "question."
    )


class NoOutsideQueriesError(BenchmarkError, code="contamination-empty"):
    message = "{file} holds no query, so there is nothing to compare with."


class NothingToCheckError(BenchmarkError, code="contamination-no-queries"):
    message = "This benchmark has no queries yet. Import them first."


class CheckNameTakenError(BenchmarkError, code="contamination-name-taken", status=409):
    message = "A check named '{name}' is in this benchmark already; choose another name."


# --- What can be wrong with a sketch.


class SketchFormatError(BenchmarkError, code="sketch-format"):
    message = "{file}: {reason}. Make it again with `benchwright sketch`."


class SaltError(BenchmarkError, code="sketch-salt"):
    message = "{reason}"


class OtherSaltError(BenchmarkError, code="sketch-other-salt"):
    message = (
        "{file} was made with another salt than this check's, so nothing in it could match. Ask "
        "its owner to run `benchwright sketch` with the salt that the page shows."
    )
