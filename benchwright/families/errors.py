"""What can be wrong with a grouping of queries into families.

FamiliesError
├── GroupingOptionError       a threshold or limit outside its range
├── EmbeddingsError           a file of embeddings that cannot be used
├── QueryFileError            a file of queries that is none
├── NothingToGroupError       a benchmark without queries
├── GroupingChangedError      queries or verdicts changed while the job was at work
├── FamilyWithItselfError     a merge of one family
├── FamiliesOfTwoBenchmarksError
├── UnknownFamilyError        neither a family nor a query of this benchmark
├── PairOfOneError            a verdict about a query and itself
├── FamilyMemberError         a query that is not in the family it is to be taken out of
├── EmptyPartError            a split that leaves a family empty
├── SplitChoiceError          a merge of families on two splits without saying which it becomes
├── FamilyChangedError        somebody else changed the family meanwhile
└── NothingToUndoError        a change that was undone already, or that later ones built on
"""

from benchwright.errors import BenchmarkError


class FamiliesError(BenchmarkError):
    code = "families"


class GroupingOptionError(FamiliesError, code="grouping-option"):
    message = "{name} is {value}; expected {expected}."


class EmbeddingsError(FamiliesError, code="embeddings"):
    message = "{file}: {reason}"


class QueryFileError(FamiliesError, code="query-file"):
    message = "{file}: {reason}"


class NothingToGroupError(FamiliesError, code="nothing-to-group"):
    message = "{benchmark} has no queries to group. Import queries first."


class GroupingChangedError(FamiliesError, code="grouping-changed", status=409):
    message = (
        "Queries, families, verdicts or grades changed while they were grouped. "
        "Nothing was written; start the grouping again."
    )


class FamilyWithItselfError(FamiliesError, code="family-with-itself"):
    message = (
        "Family {family} cannot be merged with itself: a merge joins two families. "
        "Choose another one to merge it with."
    )


class FamiliesOfTwoBenchmarksError(FamiliesError, code="families-of-two-benchmarks"):
    message = (
        "Family {other} is not a family of {benchmark}: families are merged inside one benchmark. "
        "Choose a family of {benchmark}."
    )


class UnknownFamilyError(FamiliesError, code="unknown-family"):
    message = (
        "'{told}' is neither a family nor a query of {benchmark}. "
        "Give the number of a family of this benchmark, or the id of one of its queries."
    )


class PairOfOneError(FamiliesError, code="family-pair"):
    message = "A verdict is about two queries, and both are {query}. Choose another one beside it."


class FamilyMemberError(FamiliesError, code="family-member"):
    message = (
        "Query {query} is not in family {family}. Load the page again: "
        "the family may have been changed meanwhile."
    )


class EmptyPartError(FamiliesError, code="family-empty-part"):
    message = (
        "Splitting family {family} this way leaves one part without a query. "
        "Choose at least one of its {n} queries, and not all of them."
    )


class SplitChoiceError(FamiliesError, code="family-split-choice", status=409):
    message = (
        "The families are on different splits ({splits}), and a family is on one. "
        "Say which split the merged family takes."
    )


class FamilyChangedError(FamiliesError, code="family-changed", status=409):
    message = (
        "Family {family} was changed by somebody else meanwhile. "
        "Load the page again and look at it as it is now."
    )


class ParaphraseExtraError(FamiliesError, code="paraphrase-extra"):
    message = (
        "Paraphrases are found by static vectors, which are not installed here. Install the extra "
        "demo (pip install 'benchwright[demo]'), or group without paraphrases."
    )


class TooManyToPreviewError(FamiliesError, code="families-preview"):
    message = (
        "{n} queries are too many to compare while you wait; expected at most {most}. "
        "Run `benchwright families FILE --reviews` on a file of them, or group them: "
        "the job tells it."
    )


class NoFamiliesError(FamiliesError, code="no-families"):
    message = "No family was chosen. Tick the families whose wordings are one need each."


class NothingToUndoError(FamiliesError, code="family-undo", status=409):
    message = "{reason}"
