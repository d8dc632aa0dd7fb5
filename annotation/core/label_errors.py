"""What can go wrong with labels on their way in and out; what is wrong in a line is a `Problem`.

AnnotationError
├── TooManyLabelsError      more labels than one file may bring
├── AccountFormError        a rater's account in a form that cannot be read
├── UnknownRaterError       something said of a rater whom the file does not name
├── UnknownAccountError     an account that is no member's
├── OneAccountTwiceError    two raters of a file who would be one person
├── PersonAndMachineError   a rater who would be both
└── NotMeasuredError        agreement of so many labels that a job has to measure it first
"""

from annotation.core.errors import AnnotationError


class TooManyLabelsError(AnnotationError):
    code = "too-many-labels"
    message = (
        "{file} holds more than {limit} labels; split it into several files. Nothing was entered."
    )


class AccountFormError(AnnotationError):
    code = "rater-account-form"
    message = (
        "'{pair}' does not say whose account a rater is; write RATER=USERNAME, each rater once."
    )


class UnknownRaterError(AnnotationError):
    code = "unknown-rater"
    message = (
        "The file names no rater '{rater}'; it names {known}. Correct the name, or leave it out."
    )


class UnknownAccountError(AnnotationError):
    code = "unknown-account"
    message = (
        "Rater '{rater}' cannot be '{username}': nobody of that name belongs to the benchmark. "
        "Correct the name, or make them a member first."
    )


class OneAccountTwiceError(AnnotationError):
    code = "one-account-twice"
    message = (
        "{raters} would all be '{username}', and a person gives one label of a document. "
        "Give each a different account, or none."
    )


class PersonAndMachineError(AnnotationError):
    code = "person-and-machine"
    message = "Rater '{rater}' cannot be '{username}' and a machine; leave one of the two out."


class NotMeasuredError(AnnotationError):
    code = "not-measured"
    status = 409
    message = (
        "There are too many judgments to measure while you wait, and no job has measured them. "
        "Start one on the agreement page."
    )
