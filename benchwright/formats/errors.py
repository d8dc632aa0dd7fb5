"""What can go wrong with an import as a whole; what is wrong in a line is a `Problem`."""

from benchwright.errors import BenchmarkError


class IdsOnlyCorpusError(BenchmarkError, code="ids-only-corpus"):
    message = (
        "This benchmark's corpus holds ids only, so texts cannot be imported into it. "
        "Make a benchmark with a corpus of texts."
    )


class ImageArchiveError(BenchmarkError, code="image-archive"):
    message = (
        "{file} came without its images; expected one zip of the table and the images that it "
        "names, or a Parquet table that holds them. Pack them together and import the zip."
    )


class ImageUnitError(BenchmarkError, code="image-unit"):
    message = (
        "{file} names images and no texts, but this benchmark's corpus is one of texts. "
        "Make a benchmark whose unit is image, or choose the column of the text."
    )


class NothingImportedError(BenchmarkError, code="nothing-to-import"):
    message = "{file} holds no {what}; nothing was imported."


class QrelSetNameTakenError(BenchmarkError, code="qrel-set-name-taken", status=409):
    message = "A set of qrels named '{name}' is in this benchmark already; choose another name."


class GradeMapError(BenchmarkError, code="grade-map"):
    message = (
        "'{text}' is not a grade mapping. Write pairs, each grade once: '1=4, 2=3, -1=0'. Grades "
        "that are words in a file are mapped when it is imported, such as 'E=3, I=0'."
    )


class GradeNotOnScaleError(BenchmarkError, code="grade-not-on-scale"):
    message = (
        "Grade {grade} is not on the benchmark's scale ({scale}). Map it to one of them, or add it "
        "in the settings."
    )


class NothingMappedError(BenchmarkError, code="nothing-mapped"):
    message = (
        "The new set would be '{name}' again. Map a grade that it has to another one, or say "
        "otherwise what documents are that it does not list."
    )


class QrelSetNotImportedError(BenchmarkError, code="qrel-set-not-imported"):
    message = (
        "The set '{name}' was derived from judgments; only imported ones are mapped. Derive it "
        "again, by another rule."
    )


class QrelSetInUseError(BenchmarkError, code="qrel-set-in-use", status=409):
    message = (
        "The set '{name}' is used by {users}, and stays as long as it is. Delete drafts first; "
        "what a published release uses is kept for good."
    )


class UnlistedError(BenchmarkError, code="unlisted"):
    message = (
        "'{unlisted}' does not say what documents are that qrels do not list; expected {known}. "
        "Choose one of them."
    )


class ConcurrentImportError(BenchmarkError, code="concurrent-import", status=409):
    message = (
        "Another import was writing the same query ids at the same time. Wait until it has "
        "finished, then start this one again."
    )


class UnknownKindError(BenchmarkError, code="unknown-file-kind"):
    message = (
        "{file}: what kind of file this is cannot be told from its first lines. "
        "Choose the kind in the form, or name it (`--kind`; in the API `kind`)."
    )


class UnreadableKindError(BenchmarkError, code="unreadable-file-kind"):
    message = "{file} is {what}. {advice}"


class NoRecordError(BenchmarkError, code="no-record"):
    message = (
        "{file} ends before its first record; expected at least one, after the header where there "
        "is one. Write it again, or leave it out."
    )


class LoneFileError(BenchmarkError, code="lone-file"):
    message = (
        "{file} is one file. A collection in BEIR's layout is several, in a zip or tar: leave the "
        "kind out, or say which of its tables this is."
    )


class MixedCorpusError(BenchmarkError, code="mixed-corpus"):
    message = (
        "{file} holds documents with texts and a list of ids without. Leave one of them out: a "
        "corpus has texts, or it has none."
    )


class MappingError(BenchmarkError, code="column-mapping"):
    message = "The columns cannot be taken: {reason}."


class LeaveOutError(BenchmarkError, code="leave-out"):
    message = "'{leave_out}' cannot be left out; expected one of {known}, or nothing."


class FamilyOnTwoSidesError(BenchmarkError, code="family-on-two-sides"):
    message = (
        "Wordings of one need would be on two sides: {examples}. Put both queries into one split "
        "(one qrels file), or take them apart on the families page or in families.tsv first."
    )


class UnwritableRowError(BenchmarkError, code="unwritable-row"):
    """A row that a reader of this format would lose or misread."""

    message = "{file}: {row}: {reason}"
