"""Why a file of the storage is not read.

BenchmarkError
└── StoredFileError              its bytes are not those that were stored
    └── StoredFileMissingError   it is not there
"""

from benchwright.errors import BenchmarkError


class StoredFileError(BenchmarkError, code="stored-file-altered", status=500):
    message = (
        "The file {file} of this site is not what was stored: its SHA-256 is {found}, expected "
        "{expected}. {since} Nothing was read from it. Releases, runs and scores that depend on "
        "it: {n_dependents}. Whoever runs the site must restore it from a backup; manage.py "
        "verify_store names them, and whatever else is broken."
    )


class StoredFileMissingError(StoredFileError, FileNotFoundError, code="stored-file-missing"):
    message = (
        "The file {file} of this site is gone. {since} Releases, runs and scores that depend on "
        "it: {n_dependents}. Whoever runs the site must restore it from a backup; manage.py "
        "verify_store names them, and whatever else is broken."
    )
