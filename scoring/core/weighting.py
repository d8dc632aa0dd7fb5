"""Means in which queries count differently: by their traffic, or by what they stand for.

A weighted mean is never shown under the name of the plain one: it is the name with ` (weighted)`
behind it, everywhere. Counts, such as NumRet, have none.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from scoring.core.errors import NoWeightError
from scoring.core.evaluation import Evaluation, slice_means

Qid = TypeVar("Qid", bytes, str)

SUFFIX = " (weighted)"


class WeightedMeans(NamedTuple):
    """Weighted means and their intervals by `weighted_name`, and what they are over.

    `n_queries` are the scored queries that have a weight; `n_effective` is how many queries of one
    weight would give a mean as exact (Kish's effective size).
    """

    means: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    n_queries: int
    n_effective: float
    n_undefined: dict[str, int]


def weighted_name(measure: object) -> str:
    """What the weighted mean of a measure is called.

    >>> weighted_name("nDCG@10")
    'nDCG@10 (weighted)'
    """
    return f"{measure}{SUFFIX}"


def weighted_means(
    evaluation: Evaluation[Qid],
    weights: Mapping[Qid, float],
    *,
    families: Mapping[Qid, Hashable] | None = None,
    n_draws: int = 0,
    seed: int = 0,
    method: str = "auto",
) -> WeightedMeans:
    """The weighted mean of every measure that is no count, over the queries that have a weight.

    With `n_draws`, 95 % intervals too: families are resampled with the weights of their queries.
    Equal weights give the plain means and intervals, to the last bit.

    Raises
    ------
    NoWeightError
        If no scored query has a weight.
    """
    scored = [qid for qid in evaluation.per_query if qid in weights]
    if not scored:
        raise NoWeightError(n_queries=len(evaluation.per_query))
    found = slice_means(evaluation, {"": scored}, weights=weights)[""]
    kept = [str(measure) for measure in evaluation.measures if not measure.is_total]
    intervals = {}
    if n_draws:
        intervals = _intervals(
            evaluation, scored, weights, families or {}, n_draws=n_draws, seed=seed, method=method
        )
    return WeightedMeans(
        means={weighted_name(name): found.means[name] for name in kept},
        intervals=intervals,
        n_queries=len(scored),
        n_effective=effective_size(weights[qid] for qid in scored),
        n_undefined={weighted_name(name): found.n_undefined[name] for name in kept},
    )


def effective_size(weights: Iterable[float]) -> float:
    """Kish's effective number of queries: the square of the weights' sum by the sum of squares.

    >>> effective_size([2.0, 2.0, 2.0]), effective_size([1.0, 0.0])
    (3.0, 1.0)
    """
    listed = list(weights)
    largest = max(listed)
    shares = [weight / largest for weight in listed]
    return sum(shares) ** 2 / sum(share * share for share in shares)


def _intervals(
    evaluation: Evaluation[Qid],
    scored: list[Qid],
    weights: Mapping[Qid, float],
    families: Mapping[Qid, Hashable],
    *,
    n_draws: int,
    seed: int,
    method: str,
) -> dict[str, tuple[float, float]]:
    import numpy as np

    from scoring.core.statistics.bootstrap import bootstrap_interval

    names = [str(measure) for measure in evaluation.measures if measure.aggregation == "mean"]
    if not names:
        return {}
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(families.get(qid, (qid,)), len(numbers)) for qid in scored]
    low, high = bootstrap_interval(
        np.array([[evaluation.per_query[qid][name] for name in names] for qid in scored]),
        families=None if len(numbers) == len(codes) else np.array(codes),
        weights=np.array([weights[qid] for qid in scored]),
        method=method,
        n_draws=n_draws,
        seed=seed,
    )
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return {
        weighted_name(name): both
        for name, both in zip(names, ends, strict=True)
        if both[0] == both[0]
    }
