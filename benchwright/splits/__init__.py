"""Splitting queries into train, dev and test: by families, never by rows, the same every time.

A family is on one side, whatever the mode. What a split was made of and by is written down with
it, so that anybody can make it again: the recipe with its seed, the version of the algorithm, the
SHA-256 of what went in, and that of what came out.
"""

from benchwright.splits.assigning import split_queries
from benchwright.splits.describing import SplitDescription, described
from benchwright.splits.given import read_given
from benchwright.splits.recipe import DEFAULT_SHARES, MODES, SPLITS, SplitRecipe, parse_shares
from benchwright.splits.types import (
    Assignment,
    SplitQuery,
    assignment_sha256,
    inputs_sha256,
    strata_sha256,
)

__all__ = [
    "DEFAULT_SHARES",
    "MODES",
    "SPLITS",
    "Assignment",
    "SplitDescription",
    "SplitQuery",
    "SplitRecipe",
    "assignment_sha256",
    "described",
    "inputs_sha256",
    "parse_shares",
    "read_given",
    "split_queries",
    "strata_sha256",
]
