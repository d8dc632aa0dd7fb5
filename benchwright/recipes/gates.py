"""What a gate's policy says in numbers, and its choices."""

from benchwright.recipes.parameters import Choice, Parameter, Real, Whole

GOAL = Choice(
    name="goal",
    default="improve",
    label="Goal",
    help="A better system is wanted, or one that is not worse.",
    choices={
        "improve": "Improve: a better system is wanted",
        "not_worse": "Not worse: a new index, a smaller model, a cleaner code",
    },
)
LABELS = Choice(
    name="labels",
    default="pooled",
    label="Labels",
    help="How documents came to be judged: in pools of several systems, or sparsely.",
    choices={
        "pooled": "Pooled: the first documents of these systems were judged",
        "sparse": "Sparse: few documents a query are judged",
    },
)
MARGIN = Real(
    name="margin",
    default=0.02,
    above=True,
    below=True,
    help="How much a slice or guard rail may lose at most.",
)
DELTA_MIN = Real(
    name="delta_min",
    default=0.01,
    above=True,
    below=True,
    label="Least improvement",
    help="What counts as better.",
)
ALPHA = Real(
    name="alpha",
    default=0.05,
    most=0.5,
    above=True,
    below=True,
    label="Alpha",
    help="How often chance may fool it.",
)
SMALLEST_SLICE = Whole(
    name="smallest_slice",
    default=30,
    least=2,
    help="Slices of fewer queries are listed and decide nothing.",
)
WORST_RULE = Choice(
    name="worst_rule",
    default="tested",
    label="More of them block",
    choices={
        "tested": "if the pair's own scatter does not explain them",
        "share": "always: a hard limit",
    },
)
WORST_LOSS = Real(
    name="worst_loss",
    default=0.3,
    above=True,
    below=True,
    label="A query has lost much beyond",
)
WORST_SHARE = Real(
    name="worst_share",
    default=0.05,
    label="Share of such queries that may",
    help="Up to this share they never block.",
)
SUBMISSIONS = Whole(
    name="submissions",
    default=20,
    help="More earlier submissions than these hold a candidate.",
)
CONTAMINATED_SHARE = Real(
    name="contaminated_share", default=0.05, help="Of the queries that are known from elsewhere."
)
STALE_SHARE = Real(
    name="stale_share", default=0.1, help="Of the labels whose document has changed since."
)
AGREEMENT = Real(
    name="agreement", default=0.67, least=-1, help="Of the annotators: below it labels are weak."
)
POLICY: tuple[Parameter, ...] = (GOAL, LABELS, MARGIN, DELTA_MIN, ALPHA, SMALLEST_SLICE)
RAILS: tuple[Parameter, ...] = (WORST_LOSS, WORST_SHARE, WORST_RULE)
LIMITS: tuple[Parameter, ...] = (SUBMISSIONS, CONTAMINATED_SHARE, STALE_SHARE, AGREEMENT)
