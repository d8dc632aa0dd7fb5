"""How deep a system of ours searches, and in how many parts."""

from benchwright.recipes.parameters import Parameter, Whole

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
