"""Means of all queries from people's values of some and a machine's values of all.

Prediction-powered inference with a tuned weight (PPI++, Angelopoulos, Duchi and Zrnic, 2023,
arXiv 2311.01453), over families of queries. In its letters: y are people's values of the drawn
families, f the machine's; n and N count families, bars are means over queries, and per family
z = sum(y - ybar), g = sum(f - fbar_n), h = sum(f - fbar_N):

    lambda = clip(sum(z g) / sum(g^2), 0, 1)        theta = ybar + lambda (fbar_N - fbar_n)
    e = z - lambda g        m, M = queries a family in the sample, in all
    var = sum(e^2) / (n - 2) / (n m^2)
          + [lambda^2 sum(h^2) / ((N - 1) M^2) + 2 lambda sum(e g) / ((n - 1) m^2)] / N
    theta -/+ t(1 - a/2; n - 2) sqrt(var)

What is shown takes the error of residuals that each family is left out of: in the first term
sum((e / (1 - l))^2) / n in place of sum(e^2) / (n - 2), where l is the family's share of ybar (its
queries over n m) and of lambda (g^2 / sum(g^2), where lambda is not clipped). A few families with
extreme values otherwise decide lambda and leave small residuals (docs/machine-judges.md).

With every query its own family that is the estimator over queries. A machine that is wrong in any
way leaves theta right: it only makes the interval wider, up to where it is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from benchwright.estimation.drawing import Draw
from benchwright.estimation.errors import ArraysError, TooFewFamiliesError
from benchwright.statistics.families import Floats
from benchwright.statistics.intervals import ANY, mean_interval
from benchwright.texts.counting import number_beside

LEAST_FAMILIES = 20
"""Below so many drawn families the interval is too short: .915 to .926 at ten."""
FEW_FAMILIES = 50
"""Below so many, single judges and runs were seen to go down to .90 (docs/machine-judges.md)."""
LEAST_WEIGHT, LEAST_RHO = 0.05, 0.2
"""A machine below either helps too little to be named: people's own interval is shown."""
MOST_OF_ONE = 0.9
"""A family's share of the estimate is taken for no more than that."""
NO_HELP = "The judge does not help here"


class Estimates(NamedTuple):
    """Of each row of a stack: the estimate, its error, the machine's weight and correlation.

    `error` is the root of `var`, `error_left_out` that of residuals without their own family.
    """

    mean: Floats
    error: Floats
    error_left_out: Floats
    weight: Floats
    rho: Floats


def prediction_powered(
    y: Floats, f: Floats, sizes: Floats, all_f: Floats, all_sizes: Floats
) -> Estimates:
    """The estimator itself, without any refusal, for stacks of samples: families last.

    Parameters
    ----------
    y, f
        Sums over the queries of each drawn family: people's values, the machine's.
    sizes
        Queries of each drawn family.
    all_f, all_sizes
        The same of all families, the drawn ones among them.

    Returns
    -------
    `weight` 0 and `rho` 0 where the machine's values do not vary; `error` NaN below three families.
    """
    n, n_all = y.shape[-1], all_f.shape[-1]
    m = sizes.sum(axis=-1, keepdims=True) / n
    m_all = all_sizes.sum(axis=-1, keepdims=True) / n_all
    mean_y = y.sum(axis=-1, keepdims=True) / (n * m)
    mean_f = f.sum(axis=-1, keepdims=True) / (n * m)
    mean_all = all_f.sum(axis=-1, keepdims=True) / (n_all * m_all)
    z, g, h = y - mean_y * sizes, f - mean_f * sizes, all_f - mean_all * all_sizes
    zz, gg, zg = (z**2).sum(axis=-1), (g**2).sum(axis=-1), (z * g).sum(axis=-1)
    # What rounding leaves of equal values is no variation.
    varies = gg > 1e-24 * np.maximum((f**2).sum(axis=-1), 1e-300)
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.where(varies, np.clip(zg / gg, 0, 1), 0.0)
        rho = np.where(varies & (zz > 0), zg / np.sqrt(zz * gg), 0.0)
    e = z - weight[..., None] * g
    mean = mean_y[..., 0] + weight * (mean_all - mean_f)[..., 0]
    is_free = ((weight > 0) & (weight < 1))[..., None]
    with np.errstate(invalid="ignore", divide="ignore"):
        own_share = sizes / (n * m) + np.where(is_free, g**2 / gg[..., None], 0.0)
        left_out = e / (1 - np.minimum(own_share, MOST_OF_ONE))
        of_people = (e**2).sum(axis=-1) / (n - 2) / (n * m[..., 0] ** 2)
        of_left_out = (left_out**2).sum(axis=-1) / n / (n * m[..., 0] ** 2)
        of_machine = weight**2 * (h**2).sum(axis=-1) / ((n_all - 1) * m_all[..., 0] ** 2)
        shared = 2 * weight * (e * g).sum(axis=-1) / ((n - 1) * m[..., 0] ** 2)
    rest = (of_machine + shared) / n_all
    error, error_left_out = (
        np.sqrt(np.maximum(part + rest, 0)) if n > 2 else np.full_like(mean, np.nan)
        for part in (of_people, of_left_out)
    )
    return Estimates(mean, error, error_left_out, weight, rho)


def effective(n: int, n_all: int, rho: float) -> float:
    """How many families labelled by people alone would say as much: n / (1 - (1 - n/N) rho^2).

    >>> round(effective(100, 1000, 0.4), 1)
    116.8
    """
    return n / (1 - (1 - n / n_all) * rho**2)


@dataclass(frozen=True, slots=True)
class Corrected:
    """A mean over all queries, or a mean difference.

    `mean`, `low` and `high` are what to show: the corrected estimate where the machine helps, else
    that of people's values alone, which stands beside it as `people_…`. `weight` is lambda, `rho`
    the correlation of people's and the machine's values over families, `n_effective` how many
    families labelled by people alone would say as much, and `corrected_…` the estimate itself. Its
    `error` is that of left-out residuals, `plain_error` that of the formula without them.
    """

    mean: float
    low: float
    high: float
    is_helped: bool
    why: str
    people_mean: float
    people_low: float
    people_high: float
    corrected_mean: float
    corrected_low: float
    corrected_high: float
    error: float
    plain_error: float
    weight: float
    rho: float
    machine_mean: float
    n_families: int
    n_all_families: int
    n_queries: int
    n_all_queries: int
    n_effective: float
    warnings: tuple[str, ...] = ()

    @property
    def gain(self) -> float:
        """Labels that the machine is worth, as a share of people's: .12 is 12 % more."""
        return self.n_effective / self.n_families - 1


def corrected_mean(
    people: Mapping[str, float],
    machine: Mapping[str, float],
    *,
    draw: Draw,
    families: Mapping[str, str] | None = None,
    strata: Mapping[str, str] | None = None,
    level: float = 0.95,
    span: tuple[float, float] | None = None,
    least_families: int = LEAST_FAMILIES,
) -> Corrected:
    """The mean of all queries, or of a difference, from people's values of those drawn.

    Parameters
    ----------
    people
        {query: value by people's labels}; a drawn family counts once all its queries are there.
    machine
        {query: value by the machine}, of every query; queries without one belong to no mean.
    draw
        The stored draw by which people's queries were chosen (`drawing.drawn`).
    families
        {query: family}; a query without one is a family of its own name.
    strata
        {family: stratum} where the draw was by strata.
    span
        What a mean can be at least and at most: ends of intervals are not outside of it.
    least_families
        How many drawn families must be labelled, twenty or more; of a learned estimate
        `learned.LEAST_FAMILIES`.

    Raises
    ------
    NotDrawnError
        If chance did not choose what people labelled.
    TooFewFamiliesError
        If fewer drawn families are labelled.
    """
    of = families or {}
    members: dict[str, list[str]] = {}
    for query in machine:
        members.setdefault(of.get(query, query), []).append(query)
    labelled = [name for name, queries in members.items() if all(q in people for q in queries)]
    chosen = draw.proved(labelled, members, strata)
    return _corrected(people, machine, members, chosen, level, span, least_families)


def corrected_slices(
    people: Mapping[str, float],
    machine: Mapping[str, float],
    slices: Mapping[str, Sequence[str]],
    *,
    draw: Draw,
    families: Mapping[str, str] | None = None,
    strata: Mapping[str, str] | None = None,
    level: float = 0.95,
    span: tuple[float, float] | None = None,
    least_families: int = LEAST_FAMILIES,
) -> dict[str, Corrected | TooFewFamiliesError]:
    """The same inside each slice ({slice: queries}), with the drawn families that are in it.

    A slice of fewer than twenty of them has the error in its place.

    Raises
    ------
    NotDrawnError
        If chance did not choose what people labelled.
    """
    of = families or {}
    everything: dict[str, list[str]] = {}
    for query in machine:
        everything.setdefault(of.get(query, query), []).append(query)
    labelled = [name for name, queries in everything.items() if all(q in people for q in queries)]
    chosen = draw.proved(labelled, everything, strata)
    estimates: dict[str, Corrected | TooFewFamiliesError] = {}
    for name, queries in slices.items():
        inside = frozenset(queries)
        members = {
            family: queries_inside
            for family, listed in everything.items()
            if (queries_inside := [query for query in listed if query in inside])
        }
        drawn_inside = tuple(family for family in chosen if family in members)
        try:
            estimates[name] = _corrected(
                people, machine, members, drawn_inside, level, span, least_families
            )
        except TooFewFamiliesError as error:
            estimates[name] = error
    return estimates


def _corrected(
    people: Mapping[str, float],
    machine: Mapping[str, float],
    members: Mapping[str, Sequence[str]],
    chosen: Sequence[str],
    level: float,
    span: tuple[float, float] | None,
    least_families: int,
) -> Corrected:
    n, n_all = len(chosen), len(members)
    least = max(least_families, LEAST_FAMILIES)
    if n < least:
        raise TooFewFamiliesError(n=n, least=least, missing=least - n)
    sizes, all_sizes = _n(members, chosen), _n(members, [*members])
    all_f = _sums(machine, members, [*members])
    estimates = prediction_powered(
        _sums(people, members, chosen), _sums(machine, members, chosen), sizes, all_f, all_sizes
    )
    mean, plain_error, error, weight, rho = (float(number) for number in estimates)
    if not np.isfinite(mean):
        what = "A value of people's or of the machine's is no number"
        raise ArraysError(what=what, expected="numbers; leave queries without one out")
    reach = float(scipy.special.stdtrit(n - 2, (1 + level) / 2)) * error
    low, high = np.clip([mean - reach, mean + reach], *(span or ANY)).tolist()
    alone, (low_alone, high_alone) = _people_alone(people, members, chosen, level, span)
    why = _no_help(weight, rho)
    return Corrected(
        mean=alone if why else mean,
        low=low_alone if why else low,
        high=high_alone if why else high,
        is_helped=not why,
        why=why,
        people_mean=alone,
        people_low=low_alone,
        people_high=high_alone,
        corrected_mean=mean,
        corrected_low=low,
        corrected_high=high,
        error=error,
        plain_error=plain_error,
        weight=weight,
        rho=rho,
        machine_mean=float(all_f.sum() / all_sizes.sum()),
        n_families=n,
        n_all_families=n_all,
        n_queries=int(sizes.sum()),
        n_all_queries=int(all_sizes.sum()),
        n_effective=effective(n, n_all, 0.0 if why else rho),
        warnings=_warnings(n),
    )


def _people_alone(
    people: Mapping[str, float],
    members: Mapping[str, Sequence[str]],
    chosen: Sequence[str],
    level: float,
    span: tuple[float, float] | None,
) -> tuple[float, tuple[float, float]]:
    """People's mean over the drawn families, with its interval (`statistics.intervals`)."""
    values = [people[query] for family in chosen for query in members[family]]
    of = [at for at, family in enumerate(chosen) for _ in members[family]]
    column = np.array(values, dtype=np.float64)[:, np.newaxis]
    low, high = mean_interval(
        column, families=np.array(of, dtype=np.intp), level=level, span=span or ANY
    )[:, 0]
    return float(column.mean()), (float(low), float(high))


def _sums(
    values: Mapping[str, float], members: Mapping[str, Sequence[str]], chosen: Sequence[str]
) -> Floats:
    return np.array([sum(values[query] for query in members[name]) for name in chosen], dtype=float)


def _n(members: Mapping[str, Sequence[str]], chosen: Sequence[str]) -> Floats:
    return np.array([len(members[name]) for name in chosen], dtype=np.float64)


def _no_help(weight: float, rho: float) -> str:
    """Why the machine is left out; "" where it helps."""
    if weight < LEAST_WEIGHT:
        written = number_beside(weight, LEAST_WEIGHT, decimals=2)
        return f"{NO_HELP}: its weight is {written}, below {LEAST_WEIGHT}."
    if rho < LEAST_RHO:
        correlation = number_beside(rho, LEAST_RHO, decimals=2)
        return f"{NO_HELP}: its values and people's correlate by {correlation}, below {LEAST_RHO}."
    return ""


def _warnings(n: int) -> tuple[str, ...]:
    if n < FEW_FAMILIES:
        return (f"{n} families drawn; below {FEW_FAMILIES} an interval is rather too short.",)
    return ()
