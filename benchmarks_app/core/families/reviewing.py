"""What a threshold costs: how many families would wait for a person, and for how many answers."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks_app.core.families.grouping import DOUBTFUL, Family, GroupedQueries

SHOWN = (0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90)


@dataclass(frozen=True, slots=True)
class ReviewCost:
    """Reviews where links from `merge_at` on join without a question.

    `n_families` would wait, with `n_queries` in them: that many answers where each family is
    answered as a whole, and is one need. `n_pairs` are the answers of somebody who goes from pair
    to pair: links in doubt that a family needs to hang together. Copies count once, and need none.
    """

    merge_at: float
    n_families: int
    n_queries: int
    n_pairs: int

    def __str__(self) -> str:
        return (
            f"merge at {self.merge_at:.2f}: {self.n_families:,} families of {self.n_queries:,} "
            f"queries wait for review, {self.n_pairs:,} pairs in doubt"
        )


def review_costs(found: GroupedQueries, thresholds: Sequence[float]) -> tuple[ReviewCost, ...]:
    """The reviews at each `merge_at`; all else is as the queries were grouped.

    Which families there are does not depend on `merge_at`, only which of them wait: chains that
    were looked at once more do at any.
    """
    return tuple(_cost(found.families, at) for at in thresholds)


def _cost(families: Sequence[Family], merge_at: float) -> ReviewCost:
    sure_from = merge_at - 1e-6
    waiting = [
        family
        for family in families
        if family.why not in ("", DOUBTFUL) or any(need < sure_from for need in family.needs)
    ]
    # A chain may hang together by sure links alone: then its least alike two are asked for.
    pairs = [sum(need < sure_from for need in family.needs) or 1 for family in waiting]
    n_queries = sum(len(family.members) for family in waiting)
    return ReviewCost(merge_at, len(waiting), n_queries, sum(pairs))
