"""What can go wrong with the unit that is measured.

BenchmarkError
├── UnknownUnitError         no unit of this name
├── UnitTakenError           what is there already is of the other unit
├── ParentsMissingError      documents are asked for, and passages do not say theirs
├── MixedUnitsError          passages and documents in one file
├── OtherUnitError           all of the other unit
├── UnknownAggregationError  no such way from passages to documents
└── NotDerivableError        a set of qrels that no document grades follow from
"""

from benchwright.errors import BenchmarkError

# --- What can go wrong with the unit that is measured.


class UnknownUnitError(BenchmarkError, code="unknown-unit"):
    message = "'{given}' is not a unit. Choose one of: {known}."


class UnitTakenError(BenchmarkError, code="unit-taken", status=409):
    message = "{what} cannot change its unit to {unit}: {why}. {advice}"


class ParentsMissingError(BenchmarkError, code="parents-missing"):
    message = (
        "{what} is of documents, but the passages of the corpus do not name theirs. Import the "
        "corpus with a column for the parent, with parent_id in its metadata, or let parents be "
        "read from ids such as X#Y."
    )


class MixedUnitsError(BenchmarkError, code="mixed-units"):
    message = (
        "{file} mixes units: '{passage}' is a passage (of document '{parent}'), '{document}' is a "
        "document. Keep one of them: passages are summed up into documents here, documents are not "
        "taken apart."
    )


class OtherUnitError(BenchmarkError, code="other-unit"):
    message = (
        "{file} is of documents, such as '{document}', but the benchmark measures passages, such "
        "as '{passage}'. Use a benchmark of documents on the same corpus, or rank passages."
    )


class UnknownAggregationError(BenchmarkError, code="unknown-aggregation"):
    message = "'{how}' is no way from passages to documents. Known: {known}."


class NotDerivableError(BenchmarkError, code="qrels-not-derivable"):
    message = "Qrels '{name}': {why}"


# --- What can go wrong with a snapshot of a corpus.


class SnapshotKindError(BenchmarkError, code="snapshot-kind"):
    message = (
        "{file} lists ids without texts, but version {number} of the corpus has texts, which would "
        "be lost. Import the documents themselves, or make a benchmark of ids only."
    )


class SnapshotWaitingError(BenchmarkError, code="snapshot-waiting", status=409):
    message = (
        "Version {number} of the corpus is proposed and not decided. Take or discard it on the "
        "corpus page, then import this one."
    )


class SnapshotOverError(BenchmarkError, code="snapshot-over", status=409):
    message = "Version {number} cannot be {what}: {why}."


class SnapshotDateError(BenchmarkError, code="snapshot-date"):
    message = "'{given}' is not a date. Write it as in 2026-03-31, or leave it out."
