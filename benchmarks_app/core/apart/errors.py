"""What becomes of a file whose reading ended badly.

BenchmarkError
├── UnreadableFileError    the reader broke on it
│   ├── FileTooCostlyError it took more than it may
│   └── ReaderEndedError   its process was ended, or never began
└── ReadersBusyError       no reader was free in time
"""

from benchmarks_app.core.errors import BenchmarkError


class UnreadableFileError(BenchmarkError):
    """`reason` says how the reading ended."""

    code = "file-unreadable"
    message = (
        "{file}: reading it {reason}; expected a file that can be read to its end. It is probably "
        "damaged: write it again and upload that, and remove this one."
    )


class FileTooCostlyError(UnreadableFileError):
    """`limit` is which one, `reason` says it in words, `advice` what on this site sets it."""

    code = "file-too-costly"
    message = (
        "{file}: reading it {reason}. Upload it in smaller pieces (shorter cells and lines, "
        "smaller row groups) and remove this one{advice}."
    )


class ReaderEndedError(UnreadableFileError):
    """What ended it need not have to do with the file."""

    code = "file-reader-ended"
    message = (
        "{file}: reading it {reason}. That need not be a fault of the file: look again in some "
        "minutes. If it ends so again, write the file again, upload that, and remove this one."
    )


class ReadersBusyError(BenchmarkError):
    """`seconds` is how long somebody waited."""

    code = "readers-busy"
    heading = "Other files are being read"
    status = 503
    message = (
        "{file}: not read yet: other files have kept every reader busy for {seconds:.0f} seconds. "
        "Try again in a minute."
    )
