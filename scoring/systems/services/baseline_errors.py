"""What can go wrong when the site retrieves itself.

RetrievalError (benchwright/retrieval/errors.py)
├── DepthError              a depth below 1, or beyond what a run may have
├── NothingChosenError      no system named
├── ShardFilesError         a worker that does not see the files of the other workers
└── RetrievalOverError      a shard whose retrieval ended without it
"""

from benchwright.retrieval.errors import RetrievalError


class DepthError(RetrievalError):
    code = "retrieval-depth"
    message = (
        "The depth is {depth}; expected a whole number from 1 to {most}, which is how many "
        "documents a query of a run may have here (RUN_MAX_DEPTH)."
    )


class NothingChosenError(RetrievalError):
    code = "no-system"
    message = "No system is named. Choose one of {known}."


class ShardFilesError(RetrievalError):
    code = "shard-files"
    message = (
        "{folder} is not there, and an earlier step of this retrieval wrote it. Workers on several "
        "hosts need one staging folder that all of them see (docs/baselines.md)."
    )


class RetrievalOverError(RetrievalError):
    code = "retrieval-over"
    status = 409
    message = (
        "Job {parent}, which this is a shard of, has ended without it; there is nothing to do."
    )
