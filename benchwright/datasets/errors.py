"""What can go wrong with loading a collection; what is wrong in a line is a `Problem`.

BenchmarkError
└── LoadingError
    ├── SplitMissingError       no such split; there are others
    ├── HiddenQrelsError        queries whose grades nobody may have
    ├── LanguageMissingError    no such language, or several and none was named
    ├── NothingMatchesError     no query of the qrels is among the queries
    ├── PointerError            what Git keeps in place of a large file
    └── LibraryMissingError     what reads it is not installed
"""

from benchwright.errors import BenchmarkError


class LoadingError(BenchmarkError, code="loading"):
    message = "This collection cannot be loaded."


class SplitMissingError(LoadingError, code="split-missing"):
    message = "{place} has no {what} of the split '{split}'; there are {there}. {advice}"


class HiddenQrelsError(LoadingError, code="qrels-hidden"):
    message = (
        "{place} has queries of the split '{split}' and no grades: {whose} keeps those of its test "
        "splits to itself. Take another split ({there}), or say graded=False for the queries alone."
    )


class LanguageMissingError(LoadingError, code="language-missing"):
    message = "{place}: {reason}; there are {there}. Say {argument}='{example}'."


class NothingMatchesError(LoadingError, code="nothing-matches"):
    message = "{place}: {said}"


class PointerError(LoadingError, code="file-is-pointer"):
    message = (
        "{place}: {file} is what Git keeps in place of a large file, not the file. Fetch it with "
        "git lfs pull, or download it by its address."
    )


class LibraryMissingError(LoadingError, code="library-missing"):
    message = (
        "{name} is read with {library}, which is not installed: pip install 'benchwright[{extra}]'."
    )
