"""Queries of a benchmark against a list from outside, such as what a model was trained on."""

from benchwright.contamination.checking import (
    Degree,
    Match,
    OurQuery,
    by_slice,
    check_queries,
    check_sketch,
)
from benchwright.contamination.outside import OutsideQuery, read_outside

__all__ = [
    "Degree",
    "Match",
    "OurQuery",
    "OutsideQuery",
    "by_slice",
    "check_queries",
    "check_sketch",
    "read_outside",
]
