"""How much may be submitted in a phase, and how deep submitted embeddings are searched."""

from benchwright.recipes.parameters import Parameter, Whole

MOST_SUBMISSIONS = 10_000

DAILY_LIMIT = Whole(
    name="daily_limit",
    default=20,
    most=MOST_SUBMISSIONS,
    label="Submissions in 24 hours",
    help="Of each person, and of each team; 0 switches the phase off.",
)
TOTAL_LIMIT = Whole(
    name="total_limit",
    least=1,
    most=MOST_SUBMISSIONS,
    label="Submissions in all",
    help="Of each person, and of each team; empty: no limit but the daily one.",
)
DEPTH = Whole(
    name="depth",
    default=100,
    least=1,
    most=1000,
    label="Results for each query",
    help="The best become the run; 100 unless given, 1,000 at most.",
)
PHASE: tuple[Parameter, ...] = (DAILY_LIMIT, TOTAL_LIMIT)
