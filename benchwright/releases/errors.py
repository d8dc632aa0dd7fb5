"""Why a release cannot be drafted, published or deprecated.

BenchmarkError
├── VersionError            no version
├── VersionTakenError       another release or draft has it
├── NothingToReleaseError   no relevant document
├── ReleaseRefusedError     errors among the findings
├── WarningsNotSeenError    warnings that nobody has accepted
├── DraftNotCheckedError    nobody has looked it over
├── DraftChangedError       published, changed or deleted meanwhile
├── ThresholdError          a relevance threshold that is no grade
├── DeclaredMeasureError    a measure that hidden splits cannot be told by
├── MachineLabelsError      a set beside the grades that is no machine's
├── DeprecationError        no reason, or a successor that is none
└── ExposedQueriesError     grades that were public would be hidden
"""

from benchwright.errors import BenchmarkError


class VersionError(BenchmarkError, code="release-version"):
    message = "'{version}' is not a version; write three whole numbers such as 1.0.0."


class VersionTakenError(BenchmarkError, code="release-version-taken", status=409):
    message = (
        "Version {version} is {state} already, and a release never changes. Choose a later one."
    )


class NothingToReleaseError(BenchmarkError, code="release-empty"):
    message = (
        "The qrels '{name}' hold no relevant document, so no run could score above 0. "
        "Judge more first."
    )


class ReleaseRefusedError(BenchmarkError, code="release-refused", status=409):
    message = "Not published: {n} errors.\n{said}"


class WarningsNotSeenError(BenchmarkError, code="release-warnings", status=409):
    message = "Not published: nobody has accepted these warnings ({codes}).\n{said}"


class DraftNotCheckedError(BenchmarkError, code="release-draft-not-checked", status=409):
    message = "Nobody has looked draft {version} over since it was changed. Check it first."


class DeclaredMeasureError(BenchmarkError, code="release-measure"):
    message = "'{name}' cannot be declared for hidden splits: {why}"


class MachineLabelsError(BenchmarkError, code="release-machine-labels"):
    message = (
        "'{name}' cannot lie beside the grades as a machine's labels. Sets of kind machine are: "
        "{known}."
    )


class DraftChangedError(BenchmarkError, code="release-draft-changed", status=409):
    message = (
        "The draft was published, changed or deleted meanwhile; nothing was published now. Open "
        "the list of releases and look."
    )


class HiddenMeanwhileError(BenchmarkError, code="release-hidden-meanwhile", status=409):
    message = (
        "While the release was made, {n} of its queries were hidden ({named}); nothing was "
        "published. Publish again, and their grades are left out."
    )


class ThresholdError(BenchmarkError, code="release-threshold"):
    message = "{threshold} is no grade above 0 of this benchmark; choose one of {known}."


class DeprecationError(BenchmarkError, code="release-deprecation", status=409):
    message = "{reason}"


class ExposedQueriesError(BenchmarkError, code="queries-exposed", status=409):
    message = (
        "The grades of {n} queries were public in an earlier release ({named}), so they can not be "
        "in a hidden split any more. Keep them in a public split, or hide other queries."
    )
