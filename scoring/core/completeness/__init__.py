"""Which unjudged documents are worth judging, and whether any of them still matters.

Carterette, Allan and Sitaraman (Minimal test collections for retrieval evaluation, SIGIR 2006) ask
for the document that says most about the difference of two runs. Here its influence is how much a
relevant document at its ranks would move that difference, times how probable it is that it is.
"""

from scoring.core.completeness.influence import (
    Candidate,
    Worth,
    discount,
    ideal_gain,
    unjudged_documents,
    worth_in_order,
)
from scoring.core.completeness.relevance import (
    FEWEST_LABELS,
    RelevanceModel,
    feature_row,
    fit_relevance,
)
from scoring.core.completeness.verdicts import (
    BETTER,
    NO_DIFFERENCE,
    WORSE,
    PairVerdicts,
    Question,
    n_still_worth,
    pair_verdicts,
)

__all__ = [
    "BETTER",
    "FEWEST_LABELS",
    "NO_DIFFERENCE",
    "WORSE",
    "Candidate",
    "PairVerdicts",
    "Question",
    "RelevanceModel",
    "Worth",
    "discount",
    "feature_row",
    "fit_relevance",
    "ideal_gain",
    "n_still_worth",
    "pair_verdicts",
    "unjudged_documents",
    "worth_in_order",
]
