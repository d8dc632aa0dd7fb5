"""What can go wrong with a query log and with samples of it.

BenchmarkError
├── LogColumnsError          columns that say nothing of queries, or of people
├── LogEmptyError            nothing is left of the log
├── LogNameTakenError        another log of the benchmark is called so
├── LogGoneError             its file was deleted meanwhile
├── MaskKindError            a kind of personal data that is not known
└── SamplingError            a sample that cannot be drawn
    └── SampleTooLargeError  more is asked for than there is
"""

from benchwright.errors import BenchmarkError


class LogColumnsError(BenchmarkError, code="log-columns"):
    message = "{file}: {why}"


class LogEmptyError(BenchmarkError, code="log-empty"):
    message = "{file}: no query is left: {why}. {advice}"


class LogNameTakenError(BenchmarkError, code="log-name-taken", status=409):
    message = "A log named '{name}' is in this benchmark already; choose another name."


class LogGoneError(BenchmarkError, code="log-gone", status=409):
    message = "The log's file has been read or deleted meanwhile; upload it again."


class MaskKindError(BenchmarkError, code="mask-kind"):
    message = "'{kind}' is no kind of personal data that can be masked. There are: {known}."


class MaskRegionError(BenchmarkError, code="mask-region"):
    message = (
        "'{region}' is no country whose numbers are known. Write two letters of ISO 3166-1, "
        "such as US, GB or CH; several with commas between."
    )


class SamplingError(BenchmarkError, code="sampling"):
    message = "{why}"


class SampleTooLargeError(SamplingError, code="sample-too-large"):
    message = (
        "{wanted:,} families are asked for, and stratum '{stratum}' has {there:,}. "
        "Ask for no more than there are."
    )
