"""Means in which queries count differently: by their traffic, or by what they stand for.

A weighted mean is never shown under the name of the plain one: it is the name with ` (weighted)`
behind it, everywhere. Counts, such as NumRet, have none.
"""

from collections.abc import Hashable, Iterable, Mapping
from math import inf
from numbers import Real
from typing import NamedTuple, TypeVar

from benchwright.errors import NoWeightError, WeightError
from benchwright.evaluation.evaluating import Evaluation, slice_means
from benchwright.evaluation.uncertainty import mean_intervals
from benchwright.files.encodings import as_shown

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
    has_intervals: bool = False,
) -> WeightedMeans:
    """The weighted mean of every measure that is no count, over the queries that have a weight.

    With `has_intervals`, 95 % intervals too, by Student's t over families. Equal weights give the
    plain means and intervals, to the last bit. Ids may be text where those of the evaluation are
    bytes, as they are of files.

    Raises
    ------
    NoWeightError
        If no scored query has a weight.
    WeightError
        If one is no finite number above 0.
    """
    evaluation = evaluation.with_ids_like(weights)
    scored = [qid for qid in evaluation.per_query if qid in weights]
    if not scored:
        raise NoWeightError(n_queries=len(evaluation.per_query))
    for qid in scored:
        weight = weights[qid]
        if not isinstance(weight, Real) or not 0 < weight < inf:
            raise WeightError(query=as_shown(qid), weight=weight)
    weighted = slice_means(evaluation, {"": scored}, weights=weights)[""]
    names = [str(measure) for measure in evaluation.measures if not measure.is_total]
    intervals: dict[str, tuple[float, float]] = {}
    if has_intervals:
        plain = mean_intervals(evaluation, families or {}, weights)
        intervals = {weighted_name(name): ends for name, ends in plain.items()}
    return WeightedMeans(
        means={weighted_name(name): weighted.means[name] for name in names},
        intervals=intervals,
        n_queries=len(scored),
        n_effective=effective_size(weights[qid] for qid in scored),
        n_undefined={weighted_name(name): weighted.n_undefined[name] for name in names},
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
