"""Why there is no corrected estimate.

EstimationError (benchwright.errors.BenchmarkError)
├── TooFewFamiliesError     fewer drawn families than an interval is right with
├── NotDrawnError           labels of queries that chance did not choose
├── DrawSizeError           a draw of fewer than were drawn, or of more than there are
├── StratumError            a stratum that would have too few families
├── BudgetError             too few labels for so many documents
├── LearningError           too few labels, or all alike
└── ArraysError             arrays that do not belong together
"""

from benchwright.errors import BenchmarkError


class EstimationError(BenchmarkError, code="estimation"):
    message = "This cannot be estimated."


class TooFewFamiliesError(EstimationError, code="too-few-families"):
    message = (
        "People labelled {n} drawn families of queries; a corrected interval is right from {least} "
        "on. Label {missing} more, in the order in which they were drawn."
    )


class NotDrawnError(EstimationError, code="not-drawn"):
    message = (
        "The queries with people's labels were not drawn at random from these: {why}. A corrected "
        "mean of them would be wrong, however narrow. Draw queries and label those."
    )


class DrawSizeError(EstimationError, code="draw-size"):
    message = (
        "{n} families cannot be drawn: expected {least} to {most}. A draw of the same families "
        "only grows, and goes on in its order."
    )


class StratumError(EstimationError, code="stratum"):
    message = (
        "Stratum {stratum} would have {n} of {total} drawn families; expected at least {least}. "
        "Draw {needed} families or more, or join strata."
    )


class BudgetError(EstimationError, code="budget"):
    message = "The budget is {budget:g} labels for {n} documents; expected {expected}."


class LearningError(EstimationError, code="learning"):
    message = "Nothing can be learned: {why}. {advice}"


class ArraysError(EstimationError, code="arrays"):
    message = "{what}; expected {expected}."
