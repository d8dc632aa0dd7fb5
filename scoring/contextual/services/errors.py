"""What a person can get wrong with cases and evaluations, and mend.

ScoringError (benchwright/errors.py)
├── CaseSetNameError         a second case set of one name
├── CaseImagesError          images that were sent in a way that cannot be taken
├── CasesOfRunError          a run of which no such case set can be made
├── VerdictsError            verdicts that are not those of the case one was asked about
├── NoCasesChosenError       an evaluation of nothing
├── CasesChosenTwiceError    the first cases and a slice at once
├── EvaluationActiveError    something that must wait until an evaluation has ended
├── NothingToRetryError      no case has failed or is left
├── JudgeGoneError           a judge that was deleted meanwhile
├── CostCapUsedError         going on with the whole limit spent
├── CostUnknownError         a cost limit where no price is known
└── CompareOtherSetError     two evaluations of different cases
"""

from benchwright.errors import ScoringError


class CaseSetNameError(ScoringError):
    code = "case-set-name"
    status = 409
    message = "A case set named '{name}' is in this benchmark already. Choose another name."


class CaseImagesError(ScoringError):
    code = "case-images"
    message = "{reason}"


class CasesOfRunError(ScoringError):
    code = "cases-of-run"
    message = "{reason}"


class VerdictsError(ScoringError):
    code = "case-verdicts"
    status = 409
    message = "{reason}"


class NoCasesChosenError(ScoringError):
    code = "no-cases-chosen"
    message = "{case_set} has no case {choice}. Choose other cases."


class CasesChosenTwiceError(ScoringError):
    code = "cases-chosen-twice"
    message = "The first {first} cases or the slice '{slice}': choose one of the two."

    @classmethod
    def refuse(cls, only_slice: str, only_first: int | None) -> None:
        """Raise it where both are chosen; a slice is judged whole."""
        if only_slice and only_first is not None:
            raise cls(first=only_first, slice=only_slice)


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
