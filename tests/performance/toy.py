"""Sizes of `--toy`: every part in seconds, to see that it works; what it measures says nothing."""

import os
from typing import TypeVar

TOY = "BENCH_TOY"
T = TypeVar("T")


def size(full: T, toy: T) -> T:
    """How much of something: `toy` where `--toy` was asked for; children inherit it."""
    return toy if TOY in os.environ else full
