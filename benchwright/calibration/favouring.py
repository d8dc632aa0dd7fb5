"""Does a judge favour a system, and how much do its values say of people's?

Of each query and system D is the machine's value minus people's. A judge that overrates all alike
favours nobody: from D the mean of D over the other systems is taken away, and what is left is
tested against 0 by Student's t over families, one-sided, with Holm's correction over the systems.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np

from benchwright.estimation.corrected import effective
from benchwright.statistics.corrections import holm
from benchwright.statistics.families import FamilyOf, Floats, family_totals
from benchwright.statistics.intervals import mean_interval
from benchwright.statistics.paired import standard_errors, t_test

LEAST_SYSTEMS, LEAST_QUERIES = 4, 20
ALPHA = 0.05

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SystemTrust:
    """A judge's view of one system.

    `people` and `machine` are means of all queries that both valued, `bias` their difference with
    its interval; `favour` is by how much it rates this system higher than the others, beyond what
    it does to all, with t and Holm's p (NaN where there is no test). `rho` is the correlation of
    its values with people's.
    """

    system: str
    people: float
    machine: float
    bias: float
    low: float
    high: float
    favour: float
    t: float
    p: float
    rho: float
    is_of_same_model: bool = False

    @property
    def is_favoured(self) -> bool:
        """By the test, or declared: a judge of the model that the system is made of."""
        return self.is_of_same_model or self.p < ALPHA


@dataclass(frozen=True, slots=True)
class Trust:
    """A judge's view of several systems by one measure.

    `rho_means` and `rho_differences` are medians over systems and over pairs of systems, and
    `gain_…` how many more labels that is worth, as a share of people's, at `n` labelled of `n_all`
    families. `too_few` says why there is no test of favouring; "" where there is one.
    """

    systems: tuple[SystemTrust, ...]
    n_queries: int
    n_families: int
    rho_means: float
    rho_differences: float
    gain_means: float
    gain_differences: float
    too_few: str


def trusted(
    people: Mapping[str, Values],
    machine: Mapping[str, Values],
    *,
    families: Mapping[str, str] | None = None,
    same_model: Sequence[str] = (),
    n_all: int | None = None,
) -> Trust:
    """How a judge's values of systems stand to people's.

    Parameters
    ----------
    people, machine
        {system: {query: value}}: the measure by people's grades, and by the machine's.
    families
        {query: family}; a query without one is its own.
    same_model
        Systems that are made of the judge's own model family: never to be judged by it alone.
    n_all
        Families in all, of which those here are labelled by people; without it many more.
    """
    systems = sorted(set(people) & set(machine))
    queries = _queries_in_common(systems, people, machine)
    of = families or {}
    numbers: dict[str, int] = {}
    family: FamilyOf = np.array(
        [numbers.setdefault(of.get(query, query), len(numbers)) for query in queries], dtype=np.intp
    )
    y, f = (
        np.array(
            [[values[system][query] for system in systems] for query in queries], dtype=np.float64
        )
        for values in (people, machine)
    )
    n = len(numbers)
    why = _too_few(len(systems), n)
    if not queries:
        return Trust((), 0, 0, np.nan, np.nan, 0.0, 0.0, why)
    rows = tuple(_systems(systems, y, f, family, why, frozenset(same_model)))
    pairs = [
        _rho(y[:, a] - y[:, b], f[:, a] - f[:, b], family)
        for a, b in combinations(range(len(systems)), 2)
    ]
    rho_means = median([row.rho for row in rows])
    rho_differences = median(pairs) if pairs else np.nan
    return Trust(
        rows,
        len(queries),
        n,
        rho_means,
        rho_differences,
        _gain(rho_means, n, n_all),
        _gain(rho_differences, n, n_all),
        why,
    )


def _queries_in_common(
    systems: Sequence[str], people: Mapping[str, Values], machine: Mapping[str, Values]
) -> list[str]:
    if not systems:
        return []
    valued = [set(people[system]) & set(machine[system]) for system in systems]
    return sorted(set.intersection(*valued))


def _systems(
    systems: Sequence[str],
    y: Floats,
    f: Floats,
    family: FamilyOf,
    why: str,
    same_model: frozenset[str],
) -> list[SystemTrust]:
    d = f - y
    low, high = mean_interval(d, families=family)
    k = len(systems)
    favour = np.full(k, np.nan)
    t, p = favour.copy(), favour.copy()
    if k > 1:
        others = (d.sum(axis=1, keepdims=True) - d) / (k - 1)
        # To 12 decimals: being off by 0.2 for all alike is computed as a little more for one.
        beyond = np.round(d - others, 12)
        favour = beyond.mean(axis=0)
        if not why:
            errors = standard_errors(beyond, family)
            with np.errstate(divide="ignore", invalid="ignore"):
                t = np.where(errors > 0, favour / errors, np.nan)
            p = holm(t_test(beyond, families=family, alternative="greater"))
    return [
        SystemTrust(
            name,
            float(y[:, at].mean()),
            float(f[:, at].mean()),
            float(d[:, at].mean()),
            float(low[at]),
            float(high[at]),
            float(favour[at]),
            float(t[at]),
            float(p[at]),
            _rho(y[:, at], f[:, at], family),
            name in same_model,
        )
        for at, name in enumerate(systems)
    ]


def _rho(y: Floats, f: Floats, family: FamilyOf) -> float:
    """The correlation over families, as in `estimation.corrected`."""
    both = np.stack([y, f], axis=1)
    sums, sizes = family_totals(both, family)
    z, g = (sums - sizes * both.mean(axis=0)).T
    squares = float((z**2).sum() * (g**2).sum())
    return float((z * g).sum() / np.sqrt(squares)) if squares > 0 else 0.0


def _gain(rho: float, n: int, n_all: int | None) -> float:
    if not rho > 0:
        return 0.0
    return effective(n, n_all or 10**12, rho) / n - 1


def _too_few(n_systems: int, n_families: int) -> str:
    if n_systems >= LEAST_SYSTEMS and n_families >= LEAST_QUERIES:
        return ""
    return (
        f"{n_systems} systems on {n_families} families of queries; whether a judge favours a "
        f"system is tested from {LEAST_SYSTEMS} systems and {LEAST_QUERIES} families on."
    )
