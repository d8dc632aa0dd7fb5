"""How a judge of contextual precision is asked, about which cases, and when one succeeds."""

from benchwright.recipes.parameters import Parameter, Real, Whole

MOST_COST = 1e9

CONCURRENCY = Whole(
    name="concurrency",
    default=8,
    least=1,
    most=64,
    label="Cases at a time",
    help="Cases that are under way at once.",
)
REQUESTS_PER_MINUTE = Whole(
    name="requests_per_minute",
    least=1,
    most=1_000_000,
    label="Requests a minute",
    help="Begin no more of them in a minute. Empty: as many as it takes.",
)
TIMEOUT_SECONDS = Whole(
    name="timeout_seconds",
    option="timeout",
    default=60,
    least=1,
    most=3600,
    label="Seconds to wait for an answer",
    help="For one whole answer; then it is asked again.",
)
MAX_ATTEMPTS = Whole(
    name="max_attempts",
    option="attempts",
    default=4,
    least=1,
    most=10,
    label="Attempts",
    help="Of one question, where the endpoint fails or is busy.",
)
PRICE_IN = Real(
    name="price_in",
    most=MOST_COST,
    label="Price of a million input tokens",
    help="In any one currency. With both prices, costs are shown.",
)
PRICE_OUT = Real(
    name="price_out",
    most=MOST_COST,
    label="Price of a million output tokens",
    help="In the same currency.",
)
THRESHOLD = Real(
    name="threshold",
    default=0.5,
    label="A case succeeds from",
    help="From 0 to 1; empty: no case succeeds or fails.",
)
FIRST = Whole(
    name="first",
    least=1,
    label="How many",
    help="Where only the first are judged.",
)
COST_CAP = Real(
    name="cost_cap",
    most=MOST_COST,
    above=True,
    label="Stop at a cost of",
    help="In the currency of the judge's prices; what is under way then is still paid.",
)
DEPTH = Whole(
    name="depth",
    default=10,
    least=1,
    most=100,
    label="Documents of a query",
    help="The first that the run has for it, as the nodes of its case.",
)
N_SAMPLE = Whole(
    name="n_sample",
    option="sample",
    least=1,
    most=1_000_000,
    label="Queries of the sample",
    help="Drawn at random. Empty: every query.",
)
SEED = Whole(
    name="seed",
    label="Seed",
    help="Draws the same sample again. Empty: a new one.",
)
JUDGE: tuple[Parameter, ...] = (
    *(PRICE_IN, PRICE_OUT, CONCURRENCY, REQUESTS_PER_MINUTE, TIMEOUT_SECONDS, MAX_ATTEMPTS),
)
EVALUATION: tuple[Parameter, ...] = (THRESHOLD, FIRST, COST_CAP)
CASES_OF_RUN: tuple[Parameter, ...] = (DEPTH, N_SAMPLE, SEED)
