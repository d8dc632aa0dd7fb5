"""What may go wrong between a pool and its qrels.

AnnotationError
├── SignedOutError           a script's request without a session
├── NoSuchPoolError          a pool that is not there for this person
├── NotAJudgeError           a member who does not judge in this benchmark
├── SlotOfAnotherError       a token that was issued to somebody else
├── SlotTokenError           a token that this site did not sign
├── StepBeforeJudgingError  the notice, the guideline or practice is still to come
├── EventError               an event of a labeling page that cannot be read
├── NotHeldError             putting off or asking about a document that is no longer one's own
├── NotSavedError            an event that the database did not take
├── ClientIdReusedError      one client id for two different judgments
├── GradeNotOnScaleError     a grade the benchmark does not have
├── ReasonMissingError       "can't judge" without saying why
├── NothingToUndoError       no judgment of one's own is left in this pool
├── PoolClosedError          a change of what was judged, after the pool closed
├── PoolStateError           a change of state that makes no sense
├── MachineShownError        a pool that showed what a machine said would open again, or hide it
├── PoolNameTakenError       a second pool of one name
├── PoolRunsError            runs that are not there, or none
├── UnknownDocumentsError    runs that name documents the corpus lacks
├── NothingUnjudgedError     a run whose first documents all have labels
├── UnknownRuleError         a rule, or a version of it, that is not registered
└── NothingJudgedError       qrels of a ledger without a single grade
"""

from benchwright.errors import AnnotationError

# --- What may go wrong between a pool and its qrels.


class SignedOutError(AnnotationError):
    code = "signed-out"
    status = 401
    message = "You are signed out. Sign in to go on; nothing is lost."


class NoSuchPoolError(AnnotationError):
    code = "not-found"
    status = 404
    message = "There is no such pool."


class NotAJudgeError(AnnotationError):
    code = "not-allowed"
    status = 403
    message = "You do not judge in this benchmark. Ask its owner for the role."


class SlotOfAnotherError(AnnotationError):
    code = "slot-of-another"
    status = 403
    message = (
        "This document was given to another annotator. Sign in as the person who opened it, "
        "or reload the page to get documents of your own."
    )


class SlotTokenError(AnnotationError):
    code = "slot-token"
    message = "This page is too old or was changed on the way. Reload it and judge again."


class StepBeforeJudgingError(AnnotationError):
    code = "step-before-judging"
    status = 409
    message = (
        "Before you judge this pool there is a step to take: {step}. Read what "
        "`pools/ID/start/` gives and say so there; practice is on the judging page."
    )


class EventError(AnnotationError):
    code = "event"
    message = "This cannot be read: {what}; expected {expected}. Reload the page and say it again."


class NotHeldError(AnnotationError):
    code = "not-held"
    status = 409
    message = "This document is no longer yours: it was given back, judged, or has gone to others."


class NotSavedError(AnnotationError):
    code = "not-saved"
    status = 503
    message = "This could not be saved just now. Your page keeps it; try again."


class ClientIdReusedError(AnnotationError):
    code = "client-id-reused"
    status = 409
    message = (
        "This page has saved another judgment already, which stays as it is. "
        "Reload it; to change a grade, undo it first."
    )


class GradeNotOnScaleError(AnnotationError):
    code = "grade-not-on-scale"
    message = "Grade {grade} is not on the benchmark's scale ({scale})."


class ReasonMissingError(AnnotationError):
    code = "reason-missing"
    message = "Say why the document cannot be judged: choose a reason or write one."


class NothingToUndoError(AnnotationError):
    code = "nothing-to-undo"
    status = 409
    message = "There is no judgment of yours in this pool that could be undone."


class PoolClosedError(AnnotationError):
    code = "pool-closed"
    status = 409
    message = "The pool '{pool}' is closed: what was judged in it stays as it is."


class PoolStateError(AnnotationError):
    code = "pool-state"
    status = 409
    message = "The pool '{pool}' is {state}; it cannot become {wanted}."


class MachineShownError(AnnotationError):
    code = "machine-shown"
    status = 409
    message = (
        "The pool '{pool}' is closed and shows its people what a machine said: it stays closed, "
        "and goes on showing it. Build another pool for further labels."
    )


class PoolNameTakenError(AnnotationError):
    code = "pool-name-taken"
    status = 409
    message = "A pool named '{name}' is in this benchmark already; choose another name."


class PoolRunsError(AnnotationError):
    code = "pool-runs"
    message = "{reason} A pool is made of runs of this benchmark."


class UnknownDocumentsError(AnnotationError):
    code = "pool-unknown-documents"
    message = (
        "{n_documents} documents that the runs rank are not in the corpus: {examples}. "
        "Were these runs made from another corpus? Import the missing documents, or leave the "
        "runs out; nothing was built."
    )


class NothingUnjudgedError(AnnotationError):
    code = "nothing-unjudged"
    message = (
        "Every document in the first {depth} of {run} has its label; there is nothing to add. "
        "Look deeper, or choose another run."
    )


class CompleteReleaseError(AnnotationError):
    code = "release-is-complete"
    message = (
        "The judgments of release {release} are complete: a document that it does not list is not "
        "relevant, and there is nothing to add. Build a pool by depth to judge it all the same."
    )


class NothingJudgedError(AnnotationError):
    code = "nothing-judged"
    message = "Nobody has graded a document yet, so there is nothing to publish."


# --- What may go wrong around the labeling page.


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


# --- What may go wrong with a person's own keys.


class KeysClashError(AnnotationError):
    code = "keys-clash"
    message = (
        "“{key}” would do two things: “{first}” and “{second}”. Choose another key for one of them."
    )
