"""How a machine is asked about the documents of a pool."""

from benchwright.recipes.contextual import COST_CAP, SEED
from benchwright.recipes.parameters import Choice, Parameter, Real, Whole

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

# Sparing people what a machine gave grade 0.
AUDITED = Whole(
    name="n_audit",
    option="audit",
    default=200,
    least=200,
    most=20_000,
    label="Documents of the audit",
    help="Of grade 0, drawn at random and judged by people. Of 200 none may be relevant, of 300 "
    "one.",
)
MOST_MISSED = Real(
    name="most_missed",
    default=0.02,
    least=0.001,
    most=0.02,
    label="Relevant at most",
    help="Up to this share of what is not asked may be relevant, with 95 % confidence.",
)
CHECKED_SHARE = Real(
    name="checked_share",
    option="checked",
    default=0.05,
    least=0.05,
    most=0.5,
    label="Checked for good",
    help="This share of what is spared goes to people all the same, and decides whether it goes "
    "on.",
)
SPARING: tuple[Parameter, ...] = (AUDITED, MOST_MISSED, CHECKED_SHARE)
