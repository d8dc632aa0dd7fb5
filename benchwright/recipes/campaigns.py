"""How a machine is asked about the documents of a pool."""

from benchwright.recipes.contextual import COST_CAP, SEED
from benchwright.recipes.parameters import Choice, Parameter, Whole

CHOICE = Choice(
    name="choice",
    option="documents",
    default="sample",
    choices={
        "all": "every document of the pool",
        "sample": "a random sample",
        "unjudged": "what nobody has judged of some runs",
    },
    label="Documents",
    help="A sample is drawn at random and says how far the judge can be trusted.",
)
SAMPLE = Whole(
    name="n_sample",
    option="sample",
    default=400,
    least=1,
    most=1_000_000,
    label="Documents of the sample",
    help="Shared out among the slices by their size. 200 that people judge too are the least.",
)
CONCURRENCY = Whole(
    name="concurrency",
    default=8,
    least=1,
    most=64,
    label="Documents at a time",
    help="Questions that are under way at once.",
)
MAX_CHARACTERS = Whole(
    name="max_characters",
    least=200,
    most=1_000_000,
    label="Characters of a document",
    help="Longer ones are cut there, and the judge is told. Empty: all of it.",
)
CAMPAIGN: tuple[Parameter, ...] = (*(CHOICE, SAMPLE, SEED, CONCURRENCY, MAX_CHARACTERS, COST_CAP),)
