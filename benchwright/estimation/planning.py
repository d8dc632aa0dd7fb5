"""The same labels spent on whole queries or on documents of all queries: which says more?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy

from benchwright.estimation.documents import probabilities
from benchwright.statistics.families import Floats

SECONDS_A_LABEL = 30.0
SECONDS_A_QUERY = 20.0


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to spend labels: how wide the 95 % interval becomes, and how long people take."""

    way: str
    n_labels: float
    n_queries: float
    half_width: float
    hours: float


def compared(
    amounts: Floats,
    of_query: Sequence[int],
    *,
    n_queries: int,
    budget: float,
    query_deviation: float,
    grade_deviation: float,
    rho: float = 0.0,
    pi: Floats | None = None,
    seconds_a_label: float = SECONDS_A_LABEL,
    seconds_a_query: float = SECONDS_A_QUERY,
) -> tuple[Plan, Plan]:
    """Whole queries, and documents of all queries, for about as many labels.

    Parameters
    ----------
    amounts, of_query
        What each document counts, and its query, as in `documents.document_mean`.
    query_deviation
        Standard deviation of the measure over queries, of a pilot or another release.
    grade_deviation
        Standard deviation of people's grades about their guesses (without a machine: about their
        mean).
    rho
        Correlation of the machine's values with people's, over queries.
    pi
        With which probability each document is drawn, where the draw is for other runs as well.
    seconds_a_label, seconds_a_query
        What a label takes, and what it takes to understand the next query: who labels documents of
        all queries changes query more often.

    Raises
    ------
    BudgetError
        If the budget is too small for so many documents.

    Notes
    -----
    Whole queries: t s / sqrt(n_eff) with n = budget / documents a query. Documents:
    t sqrt((s^2 + mean over queries of sum a^2 s_g^2 (1 - pi) / pi) / N), as each document is drawn
    by itself.
    """
    a = np.asarray(amounts, dtype=np.float64)
    of = np.asarray(of_query)
    pi = probabilities(a, budget) if pi is None else pi
    counts = pi > 0
    n_each = float(counts.sum()) / n_queries
    whole = _whole(
        min(budget / n_each, float(n_queries)),
        n_each=n_each,
        n_queries=n_queries,
        query_deviation=query_deviation,
        rho=rho,
        seconds_a_label=seconds_a_label,
        seconds_a_query=seconds_a_query,
    )
    inside = np.where(counts, a**2 * (1 - pi) / np.where(counts, pi, 1), 0.0).sum()
    variance = query_deviation**2 + inside * grade_deviation**2 / n_queries
    # How many queries have at least one drawn document, on average.
    with np.errstate(divide="ignore"):
        none = np.bincount(of, weights=np.log(np.maximum(1 - pi, 1e-300)), minlength=n_queries)
    n_touched = float((1 - np.exp(none)).sum())
    spread = Plan(
        "documents of all queries",
        float(pi.sum()),
        n_touched,
        _reach(n_queries) * sqrt(variance / n_queries),
        (float(pi.sum()) * seconds_a_label + n_touched * seconds_a_query) / 3600,
    )
    return whole, spread


def whole_queries_for(half_width: float, *, n_queries: int, **more: float) -> Plan:
    """The fewest whole queries whose interval is as narrow; all where fewer are not enough.

    Takes `n_each`, documents a query, and besides what `compared` takes of whole queries.
    """
    plans = (_whole(float(n), n_queries=n_queries, **more) for n in range(2, n_queries))
    enough = (plan for plan in plans if plan.half_width <= half_width)
    return next(enough, None) or _whole(float(n_queries), n_queries=n_queries, **more)


def _whole(
    n: float,
    *,
    n_each: float,
    n_queries: int,
    query_deviation: float,
    rho: float = 0.0,
    seconds_a_label: float = SECONDS_A_LABEL,
    seconds_a_query: float = SECONDS_A_QUERY,
) -> Plan:
    n_eff = n / (1 - (1 - n / n_queries) * rho**2)
    return Plan(
        "whole queries",
        n * n_each,
        n,
        _reach(n) * query_deviation / sqrt(n_eff) if n > 1 else float("inf"),
        (n * n_each * seconds_a_label + n * seconds_a_query) / 3600,
    )


def _reach(n: float) -> float:
    return float(scipy.special.stdtrit(max(n - 1, 1), 0.975))
