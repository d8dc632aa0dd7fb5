"""What a person can get wrong with cases and judges, and mend.

ScoringError (benchwright/errors.py)
├── JudgeExtraMissingError   the packages that speak to a judge are not installed
├── JudgeAddressError        an address that no judge may have
├── JudgeKeyVariableError    a variable that the operator has not allowed, or that is empty
├── JudgeKeySealError        a sealed key that cannot be opened any more
├── JudgeKeyMovedError       a sealed key that would go to another host than it was given for
├── JudgeNameError           a second judge of one name
├── JudgeInUseError          a judge that is being tried, or asked
├── CaseSetNameError         a second case set of one name
├── CaseImagesError          images that were sent in a way that cannot be taken
├── NoCasesChosenError       an evaluation of nothing
├── EvaluationActiveError    something that must wait until an evaluation has ended
├── NothingToRetryError      no case has failed or is left
├── JudgeGoneError           a judge that was deleted meanwhile
├── CostCapUsedError         going on with the whole limit spent
├── CostUnknownError         a cost limit where no price is known
└── CompareOtherSetError     two evaluations of different cases
"""

from benchwright.errors import ScoringError


class JudgeExtraMissingError(ScoringError):
    code = "judge-extra-missing"
    status = 409
    message = (
        "This site cannot speak to a judge: {packages} not installed. Whoever runs it installs "
        "the extra `judge` (pip install 'benchwright[judge]') and starts it again."
    )


class JudgeAddressError(ScoringError):
    code = "judge-address"
    message = "{address}: {why}. Enter the address that the endpoint's API begins with."


class JudgeKeyVariableError(ScoringError):
    code = "judge-key-variable"
    status = 409
    message = "The key in {variable} cannot be used: {why}."


class JudgeKeySealError(ScoringError):
    code = "judge-key-seal"
    status = 409
    message = (
        "The key of '{judge}' cannot be opened, for the site's SECRET_KEY has changed since it was "
        "entered. Enter the key again."
    )


class JudgeKeyMovedError(ScoringError):
    code = "judge-key-moved"
    message = (
        "The stored key was entered for {before} and is not sent elsewhere. Enter the key for "
        "{after}."
    )


class JudgeNameError(ScoringError):
    code = "judge-name"
    status = 409
    message = "A judge named '{name}' is in this benchmark already. Choose another name."


class JudgeInUseError(ScoringError):
    code = "judge-in-use"
    status = 409
    message = "'{judge}' is {doing} at the moment. Wait until that has ended, or cancel it."


class CaseSetNameError(ScoringError):
    code = "case-set-name"
    status = 409
    message = "A case set named '{name}' is in this benchmark already. Choose another name."


class CaseImagesError(ScoringError):
    code = "case-images"
    message = "{reason}"


class NoCasesChosenError(ScoringError):
    code = "no-cases-chosen"
    message = "{case_set} has no case {choice}. Choose other cases."


class EvaluationActiveError(ScoringError):
    code = "evaluation-active"
    status = 409
    message = "{what} is being judged at the moment. Wait until that has ended, or cancel it."


class NothingToRetryError(ScoringError):
    code = "nothing-to-retry"
    status = 409
    message = "Every case of this evaluation has its score; there is nothing to ask again."


class JudgeGoneError(ScoringError):
    code = "judge-gone"
    status = 409
    message = "The judge '{judge}' was deleted. Start a new evaluation with another judge."


class CostCapUsedError(ScoringError):
    code = "cost-cap-used"
    status = 409
    message = (
        "This evaluation has cost {cost:.4f} and its limit is {cap:g}. Enter a higher limit to go "
        "on."
    )


class CostUnknownError(ScoringError):
    code = "cost-unknown"
    message = (
        "'{judge}' has no prices, so a cost limit could not be kept. Enter what a million tokens "
        "cost, or leave the limit empty."
    )


class CompareOtherSetError(ScoringError):
    code = "compare-other-set"
    message = "Two evaluations are compared on the same cases; choose two of one case set."
