"""What a person can get wrong when submitting, and mend: the site's own branch of the tree.

ScoringError (benchwright/errors.py)
├── NoOpenPhaseError       nothing is open for submissions
├── PhaseChoiceError       several phases are open, or the named one is not
├── DailyLimitError        the runs of the last 24 hours are used up
├── TotalLimitError        the runs of the whole phase are used up
├── NotInTeamError         a submission for a team one is not in
├── WrongSplitError        a run of other queries than those of the phase
├── FewHiddenError         a run that answers too few queries of a hidden split
├── NothingJudgedError     a run of ids that nobody here knows
├── NotWithdrawableError   a submission that is not scored, or was withdrawn
├── NothingToLeaveOutError a refused file that single lines do not mend
├── NotSentOnError         a run that its sender cannot send to another phase
├── PhaseExistsError       a second phase of one release and split
├── PhaseDatesError        a phase that closes before it opens
├── PhaseSplitError        a split that the release does not grade
├── SubmittedBeforeError   the same bytes, by the same person, to the same phase
├── NameInUseError         another run or waiting submission has this name
├── NoTextsError           a corpus of ids only, where texts are needed
├── NothingWorthJudgingError  no unjudged document tells anything about the runs
└── NoQueriesError         a benchmark without queries, where a system needs them
"""

from benchwright.errors import ScoringError

NO_RELEASE = "scores need a published release. A maintainer publishes one on the page Releases."


class NoOpenPhaseError(ScoringError):
    code = "no-open-phase"
    status = 409
    message = "{benchmark} takes no runs at the moment: {reason}"

    def __init__(self, *, benchmark: str, reason: str = NO_RELEASE) -> None:
        super().__init__(benchmark=benchmark, reason=reason)


class PhaseChoiceError(ScoringError):
    code = "phase-choice"
    status = 409
    message = "{reason} Open phases: {phases}. Name one of them by its number."


class DailyLimitError(ScoringError):
    code = "daily-limit"
    status = 409
    message = (
        "{who} submitted {used} runs in the last 24 hours, and {limit} are scored a day. "
        "The next is possible from {next_at:%Y-%m-%d %H:%M} UTC."
    )


class TotalLimitError(ScoringError):
    code = "total-limit"
    status = 409
    message = "{who} submitted {used} runs to '{phase}', and it takes {limit} in all."


class NotInTeamError(ScoringError):
    code = "not-in-team"
    status = 403
    message = "You are not in the team '{team}'. One of its members can invite you."


class WrongSplitError(ScoringError):
    code = "run-wrong-split"
    message = (
        "{file} answers no graded query of the split '{split}' of release {release}: {others}. "
        "Send the rankings of that split, or submit to the phase of yours."
    )


class FewHiddenError(ScoringError):
    code = "few-hidden-queries"
    message = (
        "{file} answers {n:,} of the {n_all:,} queries of hidden splits; expected at least "
        "{n_needed:,} of them: a mean over fewer would tell their grades. Let your system answer "
        "the others too. This costs no submission."
    )


class NothingJudgedError(ScoringError):
    code = "run-nothing-judged"
    message = (
        "{file}: none of its documents is known here; it has {found}, and release {release} judged "
        "{known}. Write the ids of the corpus, not the numbers of an index."
    )


class NotWithdrawableError(ScoringError):
    code = "not-withdrawable"
    status = 409
    message = "'{name}' cannot be withdrawn: {reason}"


class NothingToLeaveOutError(ScoringError):
    code = "nothing-to-leave-out"
    status = 409
    message = "'{name}' cannot be scored without its bad lines: {reason} Send a corrected file."


class NotSentOnError(ScoringError):
    code = "not-sent-on"
    status = 409
    message = "'{name}' cannot be sent on: {reason}"


class PhaseExistsError(ScoringError):
    code = "phase-exists"
    status = 409
    message = "Release {release} has a phase of the split '{split}' already: '{name}'. Change that."


class PhaseDatesError(ScoringError):
    code = "phase-dates"
    message = (
        "The phase would open on {opens_at:%Y-%m-%d %H:%M} and close on {closes_at:%Y-%m-%d %H:%M} "
        "UTC; expected a later end. Correct one of the dates."
    )


class PhaseSplitError(ScoringError):
    code = "phase-split"
    message = "Release {release} grades no query of a split '{split}'; it has {splits}. Choose one."


class SubmittedBeforeError(ScoringError):
    code = "submitted-before"
    status = 409
    message = (
        "You have submitted this file before, as '{name}': same bytes (SHA-256 {digest}). {outcome}"
    )


class NameInUseError(ScoringError):
    code = "run-name-taken"
    status = 409
    message = "A run named '{name}' is in this benchmark already. Choose another name."


class NoTextsError(ScoringError):
    code = "no-texts"
    status = 409
    message = (
        "The corpus of {benchmark} holds ids only, and a retrieval system needs texts. "
        "Import runs that were made elsewhere."
    )


class NoQueriesError(ScoringError):
    code = "no-queries"
    status = 409
    message = "{benchmark} has no queries yet, so there is nothing to search for. Import queries."


class NothingWorthJudgingError(ScoringError):
    code = "nothing-worth-judging"
    status = 409
    message = (
        "Every document in the first {k} of {runs} that could tell them apart is judged on "
        "{release}; there is nothing to make a list of."
    )


class NothingStillWorthJudgingError(ScoringError):
    code = "nothing-still-worth-judging"
    status = 409
    message = (
        "None of the {n:,} unjudged documents of {runs} is expected to change what is said of them "
        "any more. Name how many of them to list all the same (`limit`)."
    )
