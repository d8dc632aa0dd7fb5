"""What a person can get wrong with campaigns, and mend.

CampaignError (benchwright.errors.BenchmarkError)
├── CampaignNameError        a second campaign of one name
├── NoPairsError             a choice that leaves no document
├── ConflictError            a judge of the family of a run in the pool
├── CampaignActiveError      something that must wait until the campaign has ended
├── CampaignIdleError        a pause of what does not run
├── CampaignDoneError        nothing is left to be asked
├── CampaignBegunError       deleting what has labels in the ledger
├── CampaignJudgeError       a judge that was deleted or changed meanwhile
├── CampaignCapUsedError     going on with the whole limit spent
├── CampaignPricesError      a money limit where no price is known
├── TrialPairsError          a trial where people have judged nothing
├── CalibrationChoiceError   a measure of documents that were not drawn
├── NothingGradedError       qrels of a campaign without labels
└── RunsNeededError          unjudged documents of no run
"""

from benchwright.errors import BenchmarkError


class CampaignError(BenchmarkError, code="campaign"):
    message = "The campaign cannot be run so."


class CampaignNameError(CampaignError, code="campaign-name", status=409):
    message = "A campaign named '{name}' is in this benchmark already. Choose another name."


class NoPairsError(CampaignError, code="campaign-no-pairs"):
    message = "{pool} has no document {choice}. Choose other documents."


class ConflictError(CampaignError, code="campaign-conflict", status=409):
    message = (
        "{judge} is of the family of a model that {runs} used, and would judge its own work. "
        "Choose another judge{otherwise}."
    )


class CampaignActiveError(CampaignError, code="campaign-active", status=409):
    message = "'{campaign}' is under way. Pause or cancel it first."


class CampaignIdleError(CampaignError, code="campaign-idle", status=409):
    message = "'{campaign}' does not run, so there is nothing to pause."


class CampaignDoneError(CampaignError, code="campaign-done", status=409):
    message = "Every document of '{campaign}' has its grade; there is nothing left to ask."


class CampaignBegunError(CampaignError, code="campaign-begun", status=409):
    message = "'{campaign}' has labels in the ledger, which stays as it is, so it stays as well."


class CampaignJudgeError(CampaignError, code="campaign-judge", status=409):
    message = (
        "The judge '{judge}' was deleted, or is another model by now: its labels are never mixed. "
        "Start a new campaign."
    )


class CampaignCapUsedError(CampaignError, code="campaign-cap-used", status=409):
    message = (
        "This campaign has cost {cost:.4f} and its limit is {cap:g}. Enter a higher limit to go on."
    )


class CampaignPricesError(CampaignError, code="campaign-prices"):
    message = (
        "'{judge}' has no prices, so a money limit could not be kept. Enter what a million tokens "
        "cost, or leave the limit empty."
    )


class TrialPairsError(CampaignError, code="campaign-trial", status=409):
    message = (
        "Nobody has judged a document of {pool} yet, so there is nothing to compare a trial with. "
        "Have people judge a few first, or start without a trial."
    )


class CalibrationChoiceError(CampaignError, code="campaign-not-drawn", status=409):
    message = (
        "The documents of '{campaign}' are those that nobody had judged: they were not drawn at "
        "random, and say nothing of the judge. Draft a campaign of a random sample."
    )


class NothingGradedError(CampaignError, code="campaign-nothing-graded", status=409):
    message = "'{campaign}' has graded nothing yet, so there is nothing to publish."


class MixedModelsError(CampaignError, code="campaign-models", status=409):
    message = (
        "'{campaign}' was answered as {models}: another model is another judge, and their labels "
        "are never mixed. Choose one of them."
    )


class RunsNeededError(CampaignError, code="campaign-runs"):
    message = (
        "Choose the runs whose unjudged documents are asked about, and with that choice alone; "
        "{unknown}."
    )
