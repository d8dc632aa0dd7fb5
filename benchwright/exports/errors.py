"""Why a release or a run cannot be written in a format.

BenchmarkError
├── UnknownExportError      no such format
├── ExportNeedsTextsError   the format is made of texts, and the corpus has none
├── ExportLeftOutError      the release is not given in it
├── ExportFolderError       the folder to write into is not empty
├── ExportNotReadyError     too large to be made while somebody waits
└── NothingToExportError    the flavour would be empty
"""

from benchwright.errors import BenchmarkError


class UnknownExportError(BenchmarkError, code="export-format", status=404):
    message = "There is no format '{format}'. Choose one of {known}."


class ExportNeedsTextsError(BenchmarkError, code="export-needs-texts", status=409):
    message = (
        "{format} needs the documents' texts, and this benchmark's corpus holds ids only. "
        "Download the TREC qrels instead, or the flavour with qrels and ids."
    )


class ExportLeftOutError(BenchmarkError, code="export-left-out", status=404):
    message = "This release is not given as {format}: its owner has left the format out."


class ExportFolderError(BenchmarkError, code="export-folder", status=409):
    message = (
        "{folder} is not an empty folder; files of an earlier export would stay beside the new "
        "ones. Choose another folder, or empty it."
    )


class ExportNotReadyError(BenchmarkError, code="export-not-ready", status=409):
    message = (
        "This release has {n_documents:,} documents, so its {format} is made in the background. "
        "Ask for it first (Prepare, or POST to this address), and download it when it is done."
    )


class NothingToExportError(BenchmarkError, code="export-empty", status=409):
    message = (
        "{format} keeps grades from {threshold} on, with texts that are not empty, and no public "
        "split has one. Choose another format, or judge more first."
    )
