"""By what the queue of a pool is put in order while people judge it."""

from benchwright.recipes.parameters import Choice, Parameter, Whole

BY = Choice(
    name="by",
    default="doubt",
    label="What comes first in each query",
    help="Queries stay in the order they have.",
    choices={
        "doubt": "what the estimate from the judged documents doubts most",
        "disagreement": "what two machines grade most differently",
        "verdict": "what can move the difference of two runs most",
    },
)
CUTOFF = Whole(
    name="cutoff",
    default=10,
    least=1,
    most=1000,
    label="Cutoff",
    help="Ranks below it move nothing.",
)
QUEUE: tuple[Parameter, ...] = (BY, CUTOFF)
