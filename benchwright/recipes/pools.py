"""Which documents a pool has, in which order they are judged, and by how many people."""

from benchwright.recipes.parameters import Choice, Day, Parameter, Real, Whole

STRATEGY = Choice(
    name="strategy",
    default="depth-k",
    label="Which documents",
    help="The first of every run (depth-k), rank by rank up to a budget a query (layered), all of "
    "the first ranks and samples of deeper ones (stratified), the unjudged of a list (top-up), "
    "named documents (manual), or a draw that runs are estimated from (estimate).",
    choices={
        "depth-k": "depth k: the union of the runs' first k",
        "layered": "layered: rank by rank until the budget of each query",
        "stratified": "stratified: deeper ranks are sampled",
        "top-up": "top-up: a list of candidates, without what is judged",
        "manual": "manual: chosen documents only",
        "estimate": "estimate: documents of all queries are drawn; no release",
    },
)
ORDER = Choice(
    name="order",
    label="In which order",
    help="The order in which a query's documents are judged.",
    choices={
        "layered": "rank by rank",
        "rrf": "reciprocal rank fusion",
        "rbp": "rank-biased weights",
        "mtf": "move to front",
        "maxmean": "bandit (MaxMean)",
        "doubt": "most doubtful first",
        "listed": "as the list has it",
    },
)
DEPTH = Whole(
    name="depth",
    default=10,
    least=1,
    most=1000,
    help="Of each run and query. At least the cutoff of your measure: 10 for nDCG@10. Of an "
    "estimate it is the cutoff.",
)
BUDGET = Whole(
    name="budget",
    least=1,
    label="Documents a query",
    help="For the layered strategy: rank by rank, until a query has so many.",
)
MEASURE = Choice(
    name="measure",
    default="p",
    label="Measure",
    help="What an estimate is of. Others do not add up over documents.",
    choices={"p": "P@k: the share that is relevant", "dcg": "DCG@k: grades, discounted by rank"},
)
LABELS = Whole(
    name="labels",
    least=1,
    label="Labels in all",
    help="For an estimate: about so many documents are drawn, over all queries. At least one in "
    "fifty of what the runs have.",
)
CONTROL_SHARE = Real(
    name="control_share",
    option="control",
    default=0.0,
    label="Random documents",
    help="From deeper ranks, beside each query's documents: what they miss.",
)
CONTROL_DEPTH = Whole(
    name="control_depth",
    default=200,
    least=1,
    most=100_000,
    help="Ranks down to which random documents are drawn.",
)
SEED = Whole(
    name="seed",
    most=2**63 - 1,
    help="Orders the queue; the same seed gives the same pool. A site draws one where none is "
    "given.",
)
OVERLAP = Whole(
    name="overlap",
    default=1,
    least=1,
    most=5,
    label="People per document",
    help="How many people grade each document.",
)
DOUBLE_SHARE = Real(
    name="double_share",
    default=0.0,
    label="Graded by one more",
    help="Of the documents, drawn at random.",
)
REPEAT_SHARE = Real(
    name="repeat_share",
    default=0.0,
    label="Shown again",
    help="Of a person's documents, to see how steady they are.",
)
GOLD_SHARE = Real(
    name="gold_share",
    default=0.0,
    label="Hidden checks",
    help="Documents whose grade is known, where there are any.",
)
SECONDS = Real(
    name="seconds",
    default=20,
    least=1,
    most=3600,
    label="Seconds per label",
    help="The median you expect; the hours follow from it.",
)
DUE = Day(
    name="due_on",
    option="due",
    label="Due",
    help="The day by which the labels are wanted. Annotators see it; nothing closes on that day.",
)
POOLING: tuple[Parameter, ...] = (
    *(STRATEGY, ORDER, DEPTH, BUDGET, MEASURE, LABELS, CONTROL_SHARE, CONTROL_DEPTH),
)
SHARING: tuple[Parameter, ...] = (OVERLAP, DOUBLE_SHARE, REPEAT_SHARE, GOLD_SHARE)


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
