"""What a person can get wrong when submitting, and mend: the site's own branch of the tree.

ScoringError (core/errors.py)
├── NoOpenPhaseError       nothing is open for submissions
├── DailyLimitError        the runs of the last 24 hours are used up
├── SubmittedBeforeError   the same bytes, by the same person, to the same phase
├── NameInUseError         another run or waiting submission has this name
├── NoTextsError           a corpus of ids only, where texts are needed
└── NoQueriesError         a benchmark without queries, where a system needs them
"""

from scoring.core.errors import ScoringError


class NoOpenPhaseError(ScoringError):
    code = "no-open-phase"
    status = 409
    message = (
        "{benchmark} takes no runs at the moment: scores need a published release. "
        "A maintainer publishes one on the page Releases."
    )


class DailyLimitError(ScoringError):
    code = "daily-limit"
    status = 409
    message = (
        "You have submitted {used} runs in the last 24 hours, and {limit} are scored a day. "
        "The next is possible from {next_at:%Y-%m-%d %H:%M} UTC."
    )


class SubmittedBeforeError(ScoringError):
    code = "submitted-before"
    status = 409
    message = (
        "You have submitted this file before, as '{name}': same bytes (SHA-256 {digest}). "
        "It was not scored again."
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
