"""How clicks become grades."""

from enum import StrEnum

from benchwright.recipes.parameters import Choice, Parameter, Whole


class Model(StrEnum):
    """What is taken for the worth of a document."""

    COEC = "coec"
    CASCADE = "cascade"
    SDBN = "sdbn"
    DBN = "dbn"


MODEL = Choice(
    name="model",
    default=Model.COEC,
    label="Click model",
    help="Clicks over expected clicks; the cascade; the dynamic Bayesian network, with everybody "
    "reading on (sdbn) or some leaving (dbn).",
    choices={
        Model.COEC: "clicks over the clicks that its places get on average",
        Model.CASCADE: "share of looks that end in the first click",
        Model.SDBN: "attraction times satisfaction, everybody unsatisfied reads on",
        Model.DBN: "the same, some leave unsatisfied",
    },
)
LEAST = Whole(
    name="least",
    default=10,
    least=1,
    most=1_000_000,
    label="Least evidence",
    help="A pair shown (expected clicks) or looked at (the others) less often gets no grade.",
)
CUTOFF = Whole(
    name="cutoff",
    short="-k",
    default=10,
    least=1,
    most=1_000,
    label="Cutoff",
    help="Clicks among so many first positions count for the online outcomes.",
)
OUTCOME = Choice(
    name="metric",
    default="success",
    label="Decided by",
    help="Whose interval says whether the candidate is better; the others are told beside it.",
    choices={
        "click-through": "click-through: pages with a click among the first k",
        "success": "success: visits with a click among the first k of a page",
        "zero results": "zero results: pages that showed nothing; fewer are better",
    },
)
CLICKS: tuple[Parameter, ...] = (MODEL, LEAST)
OUTCOMES: tuple[Parameter, ...] = (OUTCOME, CUTOFF)
