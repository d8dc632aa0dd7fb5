"""What a reader gains a document, by when readers go on: the C/W/L measures of ir_measures.

A reader at rank i goes on to the next document with probability C(i). The documents read are in
proportion to V(1) = 1, V(i + 1) = V(i) * C(i), and the measure is sum V(i) * g(i) / sum V(i), the
gain expected from a document that is read. Gains are (grade - min_rel) / (top_grade - min_rel),
within 0 and 1; an unjudged document gains nothing. Reading ends at rank 1,000, as in cwl_eval.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import log2

from benchwright.errors import CutoffError, MeasureParameterError
from benchwright.reading.hits import Hit

DEPTH = 1_000
GoesOn = Callable[[int, float, float], float]
"""Rank, gain there, and gain down to there, to the probability of going on."""


def scaled_gains(hits: Sequence[tuple[int, int]], top_grade: int, min_rel: int) -> dict[int, float]:
    """The gain at each rank that has one."""
    gain_of = gains_by_grade(top_grade, min_rel)
    return {rank: gain for rank, grade in hits if rank <= DEPTH and (gain := gain_of(grade))}


def gains_by_grade(top_grade: int, min_rel: int) -> Callable[[int], float]:
    """What a document of a grade gains its reader, in [0, 1].

    Examples
    --------
    >>> [gains_by_grade(3, 1)(grade) for grade in (0, 1, 2, 3, 4)]
    [0.0, 0.0, 0.5, 1.0, 1.0]
    """
    if top_grade <= min_rel:
        reason = f"is {min_rel}; expected less than the highest grade, {top_grade}. Lower it."
        raise MeasureParameterError(name="min_rel", reason=reason)
    width, least = top_grade - min_rel, max(min_rel, 0)
    return lambda grade: (min(grade, top_grade) - min_rel) / width if grade > least else 0.0


def expected_gain(gains: dict[int, float], goes_on: GoesOn, depth: int = DEPTH) -> float:
    """The gain expected from a document that is read, in [0, 1].

    Examples
    --------
    >>> expected_gain({1: 1.0}, lambda rank, gain, total: 0.5, depth=2)
    0.6666666666666666
    """
    if not gains:
        return 0.0
    reads, read, gained, total = 1.0, 0.0, 0.0, 0.0
    for rank in range(1, depth + 1):
        gain = gains.get(rank, 0.0)
        read += reads
        gained += reads * gain
        total += gain
        reads *= goes_on(rank, gain, total)
        if not reads:
            break
    return gained / read


def _check(cutoff: int) -> None:
    if cutoff < 1:
        raise CutoffError(cutoff=cutoff)


def sdcg(hits: Sequence[Hit], *, top_grade: int, cutoff: int, min_rel: int = 0) -> float:
    """DCG of gains as a share of that of a list of the highest grade, in [0, 1].

    C(i) = log2(i + 1) / log2(i + 2) above the cutoff. cwl_eval `NDCG-k`, ir_measures `SDCG`.

    Examples
    --------
    >>> round(sdcg([Hit(2, 1)], top_grade=1, cutoff=2), 4)
    0.3869
    """
    _check(cutoff)
    weights = sdcg_weights(cutoff)
    gains = scaled_gains(hits, top_grade, min_rel)
    gained = sum(gains.get(rank, 0.0) * weight for rank, weight in enumerate(weights, start=1))
    return gained / sum(weights)


def bpm(
    hits: Sequence[Hit], *, top_grade: int, cutoff: int, T: float = 1.0, min_rel: int = 0
) -> float:
    """The gain a document of a reader who stops with a gain of `T`, or at the cutoff, in [0, 1].

    C(i) = 1 until then, 0 after. The static Bejeweled Player Model: Zhang et al., SIGIR 2017.

    Examples
    --------
    >>> bpm([Hit(2, 1), Hit(3, 1)], top_grade=1, cutoff=10)
    0.5
    """
    _check(cutoff)
    gains = scaled_gains(hits, top_grade, min_rel)
    return expected_gain(gains, lambda rank, gain, total: float(total < T and rank < cutoff))


def insq(hits: Sequence[Hit], *, top_grade: int, T: float = 1.0, min_rel: int = 0) -> float:
    """The gain a document of a reader who wants `T` and does not look what was gained, in [0, 1].

    C(i) = ((i + 2T - 1) / (i + 2T))^2. Moffat, Scholer & Thomas, ADCS 2012.

    Examples
    --------
    >>> round(insq([Hit(1, 1)], top_grade=1), 4)
    0.3882
    """
    weights = insq_weights(T)
    gains = scaled_gains(hits, top_grade, min_rel)
    return sum([gain * weights[rank - 1] for rank, gain in gains.items()]) / sum(weights)


@lru_cache
def insq_weights(T: float) -> tuple[float, ...]:
    """How much of each rank is read, by INSQ: the product of C over the ranks above."""
    return tuple((2 * T / (rank - 1 + 2 * T)) ** 2 for rank in range(1, DEPTH + 1))


@lru_cache
def sdcg_weights(cutoff: int) -> tuple[float, ...]:
    """How much of each rank is read, by SDCG."""
    return tuple(1 / log2(rank + 1) for rank in range(1, min(cutoff, DEPTH) + 1))


def _rests(rank: int, n_wanted: float) -> float:
    return ((rank + 2 * n_wanted - 1) / (rank + 2 * n_wanted)) ** 2


def inst(hits: Sequence[Hit], *, top_grade: int, T: float = 1.0, min_rel: int = 0) -> float:
    """The gain a document of a reader who wants `T` and sees what is still missing, in [0, 1].

    C(i) = ((i + T + T_i - 1) / (i + T + T_i))^2, where T_i = T - the gain down to rank i. Moffat,
    Bailey, Scholer & Thomas, ADCS 2015.

    Examples
    --------
    >>> round(inst([Hit(1, 1)], top_grade=1), 4)
    0.6083
    """

    def goes_on(rank: int, gain: float, total: float) -> float:
        return _rests(rank, (2 * T - total) / 2)

    return expected_gain(scaled_gains(hits, top_grade, min_rel), goes_on)


def nerr8(hits: Sequence[Hit], *, top_grade: int, cutoff: int, min_rel: int = 0) -> float:
    """The gain a document of a reader who stops where satisfied, in [0, 1].

    C(i) = 1 - g(i) above the cutoff. This and the next three: Azzopardi, Mackenzie & Moffat, ICTIR
    2021, equations 8 to 11, "nearly" ERR within C/W/L.

    Examples
    --------
    >>> nerr8([Hit(2, 1)], top_grade=1, cutoff=10)
    0.5
    """
    _check(cutoff)
    gains = scaled_gains(hits, top_grade, min_rel)
    return expected_gain(gains, lambda rank, gain, total: (1 - gain) * (rank < cutoff))


def nerr9(hits: Sequence[Hit], *, top_grade: int, cutoff: int, min_rel: int = 0) -> float:
    """As `nerr8`, with C(i) = (1 - g(i)) * i / (i + 1): as in ERR, rank i is worth 1 / i.

    Examples
    --------
    >>> round(nerr9([Hit(2, 1)], top_grade=1, cutoff=10), 4)
    0.3333
    """
    _check(cutoff)
    gains = scaled_gains(hits, top_grade, min_rel)

    def goes_on(rank: int, gain: float, total: float) -> float:
        return rank / (rank + 1) * (1 - gain) * (rank < cutoff)

    return expected_gain(gains, goes_on)


def nerr10(hits: Sequence[Hit], *, top_grade: int, p: float = 0.9, min_rel: int = 0) -> float:
    """As `nerr8` to any depth, with C(i) = p * (1 - g(i)): patience as in RBP.

    Examples
    --------
    >>> nerr10([Hit(1, 1)], top_grade=1)
    1.0
    """
    gains = scaled_gains(hits, top_grade, min_rel)
    return expected_gain(gains, lambda rank, gain, total: p * (1 - gain))


def nerr11(hits: Sequence[Hit], *, top_grade: int, T: float = 1.0, min_rel: int = 0) -> float:
    """As `nerr8` to any depth, with C(i) of INSQ times 1 - g(i).

    Examples
    --------
    >>> nerr11([Hit(1, 1)], top_grade=1)
    1.0
    """
    gains = scaled_gains(hits, top_grade, min_rel)
    return expected_gain(gains, lambda rank, gain, total: _rests(rank, T) * (1 - gain))
