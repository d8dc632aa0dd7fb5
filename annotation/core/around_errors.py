"""What may go wrong around the labeling page.

AnnotationError
├── KnownPairError           a grade cannot be known of what is not there
├── GoldShareError           hidden checks for more labels than anybody should give to them
├── PracticeDoneError        a practice document that was graded before
├── QuestionAnsweredError    a second answer to one question
└── GuidelineChangedError    a guideline that somebody else has changed meanwhile
"""

from annotation.core.errors import AnnotationError


class KnownPairError(AnnotationError):
    code = "known-pair"
    message = "Query '{qid}', document '{docid}': {reason}."


class GoldShareError(AnnotationError):
    code = "gold-share"
    message = "The share of hidden checks is {share}; expected 0 to 0.2, such as 0.05."


class PracticeDoneError(AnnotationError):
    code = "practice-done"
    status = 409
    message = "You have graded this practice document already."


class QuestionAnsweredError(AnnotationError):
    code = "question-answered"
    status = 409
    message = "This question has an answer already, given by {person}."


class GuidelineChangedError(AnnotationError):
    code = "guideline-changed"
    status = 409
    message = (
        "Version {newest} of the guideline was saved while you wrote; your text is not lost: "
        "go back, copy it, and write it into the newest version."
    )
