"""What can be wrong with a sketch."""

from benchmarks_app.core.errors import BenchmarkError


class SketchFormatError(BenchmarkError):
    code = "sketch-format"
    message = "{file}: {reason}. Make it again with `benchwright sketch`."


class SaltError(BenchmarkError):
    code = "sketch-salt"
    message = "{reason}"


class OtherSaltError(BenchmarkError):
    code = "sketch-other-salt"
    message = (
        "{file} was made with another salt than this check's, so nothing in it could match. Ask "
        "its owner to run `benchwright sketch` with the salt that the page shows."
    )
