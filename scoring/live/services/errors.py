"""What a person can get wrong with live systems, beside what `benchwright/live/errors.py` draws.

ScoringError
├── LiveNameTakenError     another live system of the benchmark has this name
├── LiveBusyError          it is being asked: another job, a change or its removal would disturb
├── LiveQueriesError       there is no query to ask
├── LiveRunNameError       another run has the name that its run would get
├── LiveEmptyError         every query was answered with nothing
└── LiveOtherCorpusError   not one document that it gave is in the corpus
"""

from benchwright.errors import ScoringError


class LiveNameTakenError(ScoringError):
    code = "live-name-taken"
    status = 409
    message = "A live system named '{name}' is in this benchmark already. Choose another name."


class LiveBusyError(ScoringError):
    code = "live-busy"
    status = 409
    message = "'{name}' is being asked just now. Wait until that is done, or cancel the job."


class LiveQueriesError(ScoringError):
    code = "live-queries"
    status = 409
    message = "{which} holds no query to ask. {advice}"


class LiveRunNameError(ScoringError):
    code = "run-name-taken"
    status = 409
    message = "A run named '{name}' is in this benchmark already. Choose another name."


class LiveEmptyError(ScoringError):
    code = "live-empty"
    status = 409
    message = (
        "{name} answered {n:,} queries, each with an empty list of results. Is the index filled, "
        "and does the template ask for the right field? Try one query on its page."
    )


class LiveOtherCorpusError(ScoringError):
    code = "live-other-corpus"
    status = 409
    message = (
        "None of the {n:,} documents that {name} gave is in the corpus: it has {found}, the corpus "
        "{known}. Is it another index, or does the path of the id lead to another number?"
    )
