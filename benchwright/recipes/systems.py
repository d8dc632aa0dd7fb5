"""How deep a system of ours searches; how fast and how patiently an endpoint is asked."""

from benchwright.recipes.parameters import Parameter, Real, Whole

DEPTH = Whole(
    name="depth",
    short="-k",
    old=("--k",),
    default=100,
    least=1,
    most=1_000_000,
    label="Depth",
    help="Results of a query at most.",
)
SHARDS = Whole(
    name="shards",
    least=1,
    most=1000,
    label="Shards",
    help="Parts of the corpus: workers of a site share them, a command has one in memory at a "
    "time. The run is the same.",
)
RETRIEVAL: tuple[Parameter, ...] = (DEPTH, SHARDS)

K = Whole(
    name="k",
    option="depth",
    default=100,
    least=1,
    most=10_000,
    label="Results a query",
    help="Results of a query.",
)
REQUESTS_PER_SECOND = Real(
    name="requests_per_second",
    option="rps",
    default=10.0,
    least=0.01,
    most=1000,
    label="Requests a second",
    help="At most, repeated ones included.",
)
CONCURRENCY = Whole(
    name="concurrency", default=4, least=1, most=64, label="At a time", help="Requests at a time."
)
TIMEOUT_SECONDS = Real(
    name="timeout_seconds",
    option="timeout",
    default=10.0,
    least=0.1,
    most=600,
    label="Patience in seconds",
    help="For a whole answer.",
)
RETRIES = Whole(
    name="retries",
    default=3,
    most=10,
    label="Further tries",
    help="After 429, 5xx, timeouts and broken connections, with growing pauses.",
)
MAY_FAIL = Whole(
    name="may_fail",
    default=0,
    most=100_000,
    label="May fail",
    help="Queries that may stay unanswered; with one more no run is made.",
)
PACE: tuple[Parameter, ...] = (REQUESTS_PER_SECOND, CONCURRENCY, TIMEOUT_SECONDS, RETRIES)
