"""From where on wordings are one family, and when a family is taken apart."""

from enum import StrEnum

from benchwright.recipes.parameters import Choice, Parameter, Real, Whole


class Linkage(StrEnum):
    """How alike two clusters are: as their members on average, or as the two least alike."""

    AVERAGE = "average"
    COMPLETE = "complete"


MERGE_AT = Real(
    name="merge_at",
    default=0.80,
    above=True,
    label="Alike without a question",
    help="Wordings alike from here on are one family without a question.",
)
REVIEW_AT = Real(
    name="review_at",
    default=0.60,
    above=True,
    label="Alike, to be reviewed",
    help="From here on they are one family for splitting, and wait for a person.",
)
EMBEDDING_AT = Real(
    name="embedding_at",
    default=0.90,
    above=True,
    label="Alike by embedding",
    help="Cosine of embeddings from which on queries are one family.",
)
PARAPHRASE_AT = Real(
    name="paraphrase_at",
    default=0.75,
    above=True,
    label="Alike in meaning",
    help="Cosine of static vectors from which on queries are one family.",
)
RELEVANT_AT = Real(
    name="relevant_at",
    default=0.50,
    above=True,
    label="Share of common documents",
    help="Documents relevant to both, of those relevant to either, that make one family.",
)
LARGEST = Whole(
    name="largest",
    default=20,
    least=2,
    most=1_000_000,
    label="Largest family",
    help="One of more wordings may be a chain of likenesses: it is looked at once more.",
)
LEAST_SIMILARITY = Real(
    name="least_similarity",
    option="least",
    default=0.45,
    above=True,
    label="Least alike in a family",
    help="So is one with two wordings that are less alike than this.",
)
RECUT_AT = Real(
    name="recut_at",
    default=0.40,
    above=True,
    label="By at least",
    help="How alike the parts of a chain must be.",
)
RECUT_BY = Choice(
    name="recut_by",
    default=Linkage.AVERAGE,
    label="Cut a chain so that its parts are alike",
    help="On average, or each with each: this makes smaller families, and leaves more near copies "
    "apart.",
    choices={Linkage.AVERAGE: "on average", Linkage.COMPLETE: "each with each"},
)
THRESHOLDS = (MERGE_AT, REVIEW_AT, EMBEDDING_AT, PARAPHRASE_AT, RELEVANT_AT)
CHAINS = (LARGEST, LEAST_SIMILARITY, RECUT_AT, RECUT_BY)
GROUPING: tuple[Parameter, ...] = (*THRESHOLDS, *CHAINS)
