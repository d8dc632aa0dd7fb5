"""Which queries are wordings of one need: keys, similarities, links, and the families they make."""

from benchmarks_app.core.families.clustering import Linkage
from benchmarks_app.core.families.embeddings import Embeddings, read_embeddings
from benchmarks_app.core.families.grouping import (
    ALGORITHM,
    Family,
    GroupedQueries,
    GroupingOptions,
    Known,
    grouped,
)
from benchmarks_app.core.families.keys import bag_key, bag_keys, exact_key
from benchmarks_app.core.families.linking import Link, QueryText, Reason
from benchmarks_app.core.families.normalising import normalised
from benchmarks_app.core.families.paraphrases import static_embeddings
from benchmarks_app.core.families.reviewing import ReviewCost, review_costs
from benchmarks_app.core.families.similarity import SimilarPairs, similar_pairs

__all__ = [
    "ALGORITHM",
    "Embeddings",
    "Family",
    "GroupedQueries",
    "GroupingOptions",
    "Known",
    "Link",
    "Linkage",
    "QueryText",
    "Reason",
    "ReviewCost",
    "SimilarPairs",
    "bag_key",
    "bag_keys",
    "exact_key",
    "grouped",
    "normalised",
    "read_embeddings",
    "review_costs",
    "similar_pairs",
    "static_embeddings",
]
