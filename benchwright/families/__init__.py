"""Which queries are wordings of one need: keys, similarities, links, and the families they make."""

from benchwright.families.embeddings import Embeddings, read_embeddings
from benchwright.families.grouping import (
    ALGORITHM,
    Family,
    GroupedQueries,
    GroupingOptions,
    Known,
    ReviewCost,
    grouped,
    review_costs,
)
from benchwright.families.keys import bag_keys, exact_key
from benchwright.families.linking import Link, QueryText, Reason, static_embeddings
from benchwright.families.normalising import normalised
from benchwright.families.similarity import SimilarPairs, similar_pairs
from benchwright.recipes.families import Linkage

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
    "bag_keys",
    "exact_key",
    "grouped",
    "normalised",
    "read_embeddings",
    "review_costs",
    "similar_pairs",
    "static_embeddings",
]
