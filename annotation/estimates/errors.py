"""Why a pool has no estimates.

EstimatesError (benchwright.errors.BenchmarkError)
├── OtherStrategyError       a pool whose documents were not drawn for it
├── UnlabelledError          drawn documents that have no grade yet
├── PopulationChangedError   queries or documents that are others than when it was drawn
└── RunOutsideError          a difference to a run that the pool is not of
"""

from benchwright.errors import BenchmarkError


class EstimatesError(BenchmarkError, code="estimates", status=409):
    message = "This pool has no estimates."


class OtherStrategyError(EstimatesError, code="estimates-strategy", status=409):
    message = (
        "The documents of {pool} were not drawn to estimate runs. Build a pool of the strategy "
        "`estimate`."
    )


class UnlabelledError(EstimatesError, code="estimates-unlabelled", status=409):
    message = (
        "{n} of {n_drawn} drawn documents have no grade yet. Those that people label first are no "
        "sample of all: an estimate needs every one."
    )


class PopulationChangedError(EstimatesError, code="estimates-population", status=409):
    message = (
        "{what} since the documents were drawn, so their probabilities are no longer those of a "
        "draw from what is there. Build the pool again: labels that it has are used again."
    )


class RunOutsideError(EstimatesError, code="estimates-run", status=422):
    message = "'{run}' is not a run of {pool}. There are: {known}."
