"""How a judge grades pairs, and how its grades are held against people's."""

from benchwright.recipes.contextual import COST_CAP
from benchwright.recipes.parameters import MAX_SEED, Parameter, Whole

MAX_CHARACTERS = Whole(
    name="max_characters",
    least=100,
    most=1_000_000,
    label="Characters of a document",
    help="Show the judge no more of a document; it is told where one was cut. Empty: all of it.",
)
ANSWER_SEED = Whole(
    name="answer_seed",
    least=0,
    most=MAX_SEED,
    label="Seed of answers",
    help="Sent with every question, where the endpoint takes one. Another seed asks anew.",
)
RELEVANT_FROM = Whole(
    name="relevant_from",
    option="rel",
    default=1,
    least=1,
    most=100,
    label="Relevant from grade",
    help="The lowest grade that counts as relevant.",
)
GRADING: tuple[Parameter, ...] = (MAX_CHARACTERS, ANSWER_SEED, COST_CAP)
CALIBRATION: tuple[Parameter, ...] = (RELEVANT_FROM,)
