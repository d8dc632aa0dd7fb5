"""What may go wrong between labels and the grades and figures made of them.

AnnotationError
├── RuleSettingsError         a setting that no rule knows
├── UnresolvedPairsError      pairs that stay open, where they may not
├── DawidSkeneRefusedError    too few labels in common
├── AsOfError                 an event or a time that the ledger has not reached
├── NotAnAnnotatorError       a view of somebody who graded nothing
├── OwnLabelError             settling a document that one has graded oneself
├── NoDisagreementError       settling what is not in the inbox
├── OverrideReasonError       another grade, without saying why
├── NoSuchPickError           picking a grade that nobody gave
└── ThirdOpinionError         no pool to ask another person in
"""

from benchwright.errors import AnnotationError

# --- What may go wrong between labels and the grades and figures made of them.


class RuleSettingsError(AnnotationError, code="rule-settings"):
    message = "{setting} is '{value}'; expected {expected}."


class UnresolvedPairsError(AnnotationError, code="unresolved-pairs", status=409):
    message = (
        "{n_pairs} documents have labels that disagree and nobody has settled ({examples}). "
        "Settle them in the inbox, or choose what becomes of open ones."
    )


class DawidSkeneRefusedError(AnnotationError, code="dawid-skene-refused"):
    message = (
        "Dawid-Skene needs {n_wanted} annotators who each graded {n_shared} documents that "
        "somebody else graded too; of {n_raters} annotators {n_enough} did. With fewer it gives "
        "numbers that mean nothing. Collect more double labels, or choose a median."
    )


class AsOfError(AnnotationError, code="as-of"):
    message = "{reason}"


class NotAnAnnotatorError(AnnotationError, code="not-an-annotator"):
    message = "'{username}' has graded nothing here, so there is no view of theirs."


class OwnLabelError(AnnotationError, code="own-label", status=403):
    message = "You have judged this document yourself: somebody else has to settle it."


class NoDisagreementError(AnnotationError, code="no-disagreement", status=409):
    message = "This document is not in the inbox any more: it was settled, or the labels changed."


class OverrideReasonError(AnnotationError, code="override-reason"):
    message = "Say why neither of the grades is right: others will read it."


class NoSuchPickError(AnnotationError, code="no-such-pick"):
    message = "Nobody gave the grade {grade}. To set another grade, override and say why."


class ThirdOpinionError(AnnotationError, code="third-opinion", status=409):
    message = "{reason}"


# --- What can go wrong with labels on their way in and out; what is wrong in a line is a
# `Problem`.


class TooManyLabelsError(AnnotationError, code="too-many-labels"):
    message = (
        "{file} holds more than {limit} labels; split it into several files. Nothing was entered."
    )


class AccountFormError(AnnotationError, code="rater-account-form"):
    message = (
        "'{pair}' does not say whose account a rater is; write RATER=USERNAME, each rater once."
    )


class UnknownRaterError(AnnotationError, code="unknown-rater"):
    message = (
        "The file names no rater '{rater}'; it names {known}. Correct the name, or leave it out."
    )


class UnknownAccountError(AnnotationError, code="unknown-account"):
    message = (
        "Rater '{rater}' cannot be '{username}': nobody of that name belongs to the benchmark. "
        "Correct the name, or make them a member first."
    )


class OneAccountTwiceError(AnnotationError, code="one-account-twice"):
    message = (
        "{raters} would all be '{username}', and a person gives one label of a document. "
        "Give each a different account, or none."
    )


class PersonAndMachineError(AnnotationError, code="person-and-machine"):
    message = "Rater '{rater}' cannot be '{username}' and a machine; leave one of the two out."


class NotMeasuredError(AnnotationError, code="not-measured", status=409):
    message = (
        "There are too many judgments to measure while you wait, and no job has measured them. "
        "Start one on the agreement page."
    )


# ---


class UnknownRuleError(AnnotationError, code="rule-unknown"):
    message = "No rule '{rule}' in version {version}; there are: {known}."
