"""Why a release, or an export of one, cannot be made."""

from benchmarks_app.core.errors import BenchmarkError


class VersionError(BenchmarkError):
    code = "release-version"
    message = "'{version}' is not a version; write three whole numbers such as 1.0.0."


class VersionTakenError(BenchmarkError):
    code = "release-version-taken"
    status = 409
    message = (
        "Version {version} is published already, and a release never changes. Choose a later one."
    )


class NothingToReleaseError(BenchmarkError):
    code = "release-empty"
    message = (
        "The qrels '{name}' hold no relevant document, so no run could score above 0. "
        "Judge more first."
    )


class NoTextsError(BenchmarkError):
    code = "export-needs-texts"
    status = 409
    message = (
        "BEIR's layout needs the documents' texts, and this benchmark's corpus holds ids only. "
        "Download the TREC qrels instead."
    )


class ExposedQueriesError(BenchmarkError):
    code = "queries-exposed"
    status = 409
    message = (
        "The grades of {n} queries were public in an earlier release ({named}), so they can not be "
        "in a hidden split any more. Keep them in a public split, or hide other queries."
    )
