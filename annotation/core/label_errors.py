"""What can go wrong with labels on their way in and out; what is wrong in a line is a `Problem`.

AnnotationError
├── TooManyLabelsError      more labels than one file may bring
└── NotMeasuredError        agreement of so many labels that a job has to measure it first
"""

from annotation.core.errors import AnnotationError


class TooManyLabelsError(AnnotationError):
    code = "too-many-labels"
    message = (
        "{file} holds more than {limit} labels; split it into several files. Nothing was entered."
    )


class NotMeasuredError(AnnotationError):
    code = "not-measured"
    status = 409
    message = (
        "There are too many judgments to measure while you wait, and no job has measured them. "
        "Start one on the agreement page."
    )
