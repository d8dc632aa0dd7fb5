"""How far a mean difference may be from what was seen: one-sided bounds, method, families kept.

Bounds are Student's t over families, as everywhere. p-values come from sign flips, or from t where
`Method.test` says so.
"""

from dataclasses import dataclass
from math import isfinite, isnan

import numpy as np

from benchwright.statistics import paired, power, signflip
from benchwright.statistics.effects import spreads
from benchwright.statistics.families import FamilyOf, Floats, family_totals, ratio_means
from benchwright.statistics.intervals import ANY, Span, mean_bounds


@dataclass(frozen=True, slots=True)
class Method:
    """How it is tested: "signflip" or "t", how many draws, and where they start."""

    test: str = "signflip"
    n_draws: int = 10_000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference with its one-sided bounds at 1 - alpha, and the p-value of "it fell".

    `error` is its standard error with families kept together; NaN where one query is too few.
    """

    n: int
    n_families: int
    mean: float
    lower: float
    upper: float
    p_less: float
    error: float
    sigma: float

    def needed(self, distance: float, *, alpha: float) -> int | None:
        """How many queries in all show, one-sided with a power of 80 %, what is so far away."""
        if isnan(self.error) or distance <= 0:
            return None
        # With families the queries tell less than as many independent ones: the error knows.
        n_queries = power.queries_needed(
            self.error * self.n**0.5, distance, alpha=alpha, two_sided=False
        )
        return int(n_queries) if isfinite(float(n_queries)) else None

    def more(self, distance: float, *, alpha: float) -> int | None:
        """How many of those are not there yet; None where more would not help."""
        needed = self.needed(distance, alpha=alpha)
        return None if needed is None or needed <= self.n else needed - self.n


def measured(
    columns: Floats, families: FamilyOf | None, method: Method, *, alpha: float, span: Span = ANY
) -> list[Difference]:
    """The mean of each column (queries x columns, NaN outside of it), with bounds at `alpha`.

    Bounds are not outside of `span`.
    """
    means = ratio_means(columns)
    errors = paired.standard_errors(columns, families)
    lower, upper = mean_bounds(columns, families=families, alpha=alpha, span=span)
    p = p_less(columns, families, method)
    _, sizes = family_totals(columns, families)
    counts = (~np.isnan(columns)).sum(axis=0)
    of_families = np.count_nonzero(sizes, axis=0)
    rows = zip(counts, of_families, means, lower, upper, p, errors, spreads(columns), strict=True)
    return [Difference(int(n), int(k), *map(float, rest)) for n, k, *rest in rows]


def p_less(columns: Floats, families: FamilyOf | None, method: Method) -> Floats:
    """One-sided p-value of each column: is the mean below 0? 1 where nothing differs."""
    if method.test == "t":
        differs = np.nan_to_num(columns).any(axis=0)
        p = paired.t_test(columns, families=families, alternative="less")
        return np.where(differs | np.isnan(p), p, 1.0)
    return signflip.sign_flip(
        columns, families=families, alternative="less", n_flips=method.n_draws, seed=method.seed
    )
