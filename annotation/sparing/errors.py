"""What a person can get wrong with sparing, and mend.

SparingError (benchwright.errors.BenchmarkError)
├── SparingActiveError       a second rule beside one that lives
├── SparingIdleError         stopping where nothing is spared
├── SparingPoolError         a pool that is closed, or drawn for estimates
├── SparingCampaignError     a campaign that has not ended, or of several models
└── TooFewZerosError         an audit that would leave nothing to spare
"""

from benchwright.errors import BenchmarkError


class SparingError(BenchmarkError, code="sparing", status=409):
    message = "People cannot be spared work so."


class SparingActiveError(SparingError, code="sparing-active", status=409):
    message = (
        "A rule for {pool} goes by the zeros of '{campaign}' already. Stop it before you ask anew."
    )


class SparingIdleError(SparingError, code="sparing-idle", status=409):
    message = "Nobody is spared anything in {pool}, so there is nothing to stop."


class SparingPoolError(SparingError, code="sparing-pool", status=409):
    message = "{pool} {why}. Choose a pool whose labels are still being given, for qrels."


class SparingCampaignError(SparingError, code="sparing-campaign", status=409):
    message = "'{campaign}' {why}. Choose a campaign of this pool that is done, of one model."


class TooFewZerosError(SparingError, code="sparing-few-zeros", status=409):
    message = (
        "'{campaign}' gave 0 to {n_zeros} documents of {pool} that nobody has judged; an audit of "
        "{n_audit} would leave nothing to spare. Let people judge them."
    )
