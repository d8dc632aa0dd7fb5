"""A stratified sample of a log's families: how many of each stratum, which, and what they weigh.

Within a stratum every family is as likely to be drawn as any other, with the probability n/N of
drawn to all. A query's weight is what it stands for divided by that probability, so that a weighted
mean over the sample estimates the mean over the whole log: over searches, where a query stands for
the times it was asked, or over distinct queries, where it stands for itself.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from math import sqrt
from typing import Any

import numpy as np

from benchwright.logs.errors import SampleTooLargeError, SamplingError
from benchwright.logs.strata import LogFamilies, Strata, strata_of
from benchwright.recipes import sampling as recipe
from benchwright.recipes.parameters import check
from benchwright.recipes.sampling import Allocation, By, Weighting, Wordings

RECIPE = "sample-1"
# How far values of a measure lie apart from query to query; nDCG@10 of most runs has about this.
DEVIATION = 0.3


@dataclass(frozen=True)
class Design:
    """How a sample is to be drawn."""

    n_families: int = recipe.N_FAMILIES.default
    by: By = recipe.BY.default
    allocation: Allocation = recipe.ALLOCATION.default
    given: Mapping[str, int] = field(default_factory=dict)
    weighting: Weighting = recipe.WEIGHTING.default
    wordings: Wordings = recipe.WORDINGS.default
    head_share: float = recipe.HEAD_SHARE.default
    tail_share: float = recipe.TAIL_SHARE.default
    deviation: float = DEVIATION

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "given": dict(self.given)}

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Design:
        """From what `as_json` gave."""
        return cls(
            n_families=int(facts["n_families"]),
            by=By(facts["by"]),
            allocation=Allocation(facts["allocation"]),
            given={str(name): int(n) for name, n in facts["given"].items()},
            weighting=Weighting(facts["weighting"]),
            wordings=Wordings(facts["wordings"]),
            head_share=float(facts["head_share"]),
            tail_share=float(facts["tail_share"]),
            deviation=float(facts["deviation"]),
        )


@dataclass(frozen=True, slots=True)
class PlannedStratum:
    """One stratum: what is in it, and how many of its families are to be drawn."""

    name: str
    n_families: int
    n_queries: int
    n_traffic: int
    n_drawn: int
    # Mean squares of what its families stand for, from which the errors follow.
    square_traffic: float
    square_queries: float

    @property
    def inclusion_probability(self) -> float:
        """How likely each of its families is to be drawn."""
        return self.n_drawn / self.n_families

    @property
    def n_queries_expected(self) -> float:
        """How many queries the drawn families have, on average over all draws."""
        return self.n_queries * self.inclusion_probability

    def variance(self, square: float) -> float:
        """Of the estimated total, for values with a standard deviation of 1."""
        if not self.n_drawn:
            return 0.0
        left_out = 1 - self.inclusion_probability
        return self.n_families**2 * left_out / self.n_drawn * square


@dataclass(frozen=True)
class Plan:
    """What a sample would be, stratum by stratum, before anything is drawn."""

    design: Design
    strata: tuple[PlannedStratum, ...]
    n_traffic: int
    n_queries: int
    notes: tuple[str, ...] = ()

    @property
    def n_families(self) -> int:
        return sum(stratum.n_drawn for stratum in self.strata)

    @property
    def n_queries_expected(self) -> float:
        """How many queries would be made, on average over all draws."""
        if self.design.wordings is Wordings.ONE:
            return float(self.n_families)
        return sum(stratum.n_queries_expected for stratum in self.strata)

    @property
    def traffic_error(self) -> float:
        """Standard error of the traffic-weighted mean of a measure, were its values known."""
        squares = [stratum.square_traffic for stratum in self.strata]
        return self._error(squares, self._total("n_traffic"))

    @property
    def queries_error(self) -> float:
        """Standard error of the mean over distinct queries."""
        squares = [stratum.square_queries for stratum in self.strata]
        return self._error(squares, self._total("n_queries"))

    def _total(self, of: str) -> int:
        """Over the strata that give anything: the others are not estimated."""
        return sum(getattr(stratum, of) for stratum in self.strata if stratum.n_drawn)

    def _error(self, squares: Sequence[float], total: int) -> float:
        pairs = zip(self.strata, squares, strict=True)
        variance = sum(stratum.variance(square) for stratum, square in pairs)
        return self.design.deviation * sqrt(variance) / total if total else 0.0

    def as_json(self) -> dict[str, Any]:
        """As a sample keeps it, and the API gives it."""
        return {
            "recipe": RECIPE,
            "design": self.design.as_json(),
            "n_families": self.n_families,
            "n_queries_expected": round(self.n_queries_expected, 1),
            "standard_error": {
                "traffic": self.traffic_error,
                "queries": self.queries_error,
                "deviation": self.design.deviation,
            },
            "strata": [
                {
                    "name": stratum.name,
                    "families": stratum.n_families,
                    "queries": stratum.n_queries,
                    "traffic": stratum.n_traffic,
                    "drawn": stratum.n_drawn,
                    "inclusion_probability": stratum.inclusion_probability,
                }
                for stratum in self.strata
            ],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Drawn:
    """A family that was drawn, from which stratum, and how likely that was."""

    family: str
    stratum: str
    inclusion_probability: float


def parse_given(text: str) -> dict[str, int]:
    """Numbers of families by stratum, as people write them.

    >>> parse_given("head=50, 3-4 words=7")
    {'head': 50, '3-4 words': 7}

    Raises
    ------
    SamplingError
        If it is written otherwise, or names a stratum twice.
    """
    sizes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, n = (word.strip() for word in part.rpartition("="))
        if not equals or not name or name in sizes or not (n.isascii() and n.isdigit()):
            raise SamplingError(
                why=f"'{part}' is no number of a stratum. Write each once, with commas between: "
                "head=50, torso=100, tail=50."
            )
        sizes[name] = int(n)
    return sizes


# --- planning ------------------------------------------------------------------------------


def planned(families: LogFamilies, design: Design) -> tuple[Plan, Strata]:
    """How many families each stratum gives, and how exact the estimate is to be expected.

    Raises
    ------
    ParameterError
        If the design holds a value that its parameter does not take.
    FrequencyError
        If strata are by frequency and the counts tell no head from a tail.
    SamplingError
        If the design cannot be met.
    """
    check(recipe.DESIGN, design)
    strata = strata_of(
        families, design.by, head_share=design.head_share, tail_share=design.tail_share
    )
    measured = _measured(families, strata)
    drawn = _allocated(measured, design)
    plan = Plan(
        design=design,
        strata=tuple(
            PlannedStratum(n_drawn=n, **facts) for facts, n in zip(measured, drawn, strict=True)
        ),
        n_traffic=families.n_traffic,
        n_queries=families.n_queries,
        notes=_notes(strata, measured, drawn),
    )
    return plan, strata


def _measured(families: LogFamilies, strata: Strata) -> list[dict[str, Any]]:
    traffic = families.table["traffic"].to_numpy().astype(np.float64)
    queries = families.table["n_queries"].to_numpy().astype(np.float64)
    measured = []
    for number, name in enumerate(strata.names):
        inside = strata.of == number
        measured.append(
            {
                "name": name,
                "n_families": int(inside.sum()),
                "n_queries": int(queries[inside].sum()),
                "n_traffic": int(traffic[inside].sum()),
                "square_traffic": float(np.mean(traffic[inside] ** 2)),
                "square_queries": float(np.mean(queries[inside] ** 2)),
            }
        )
    return measured


def _notes(
    strata: Strata, measured: Sequence[Mapping[str, Any]], drawn: Sequence[int]
) -> tuple[str, ...]:
    notes = list(strata.cuts.notes) if strata.cuts else []
    none = [facts["name"] for facts, n in zip(measured, drawn, strict=True) if not n]
    if none:
        notes.append(
            f"Nothing is drawn from {', '.join(none)}: weighted means say nothing of what was "
            "asked there."
        )
    single = [f["name"] for f, n in zip(measured, drawn, strict=True) if n == 1 < f["n_families"]]
    if single:
        notes.append(
            f"One family alone stands for {', '.join(single)}: no interval can show how far off "
            "it is. Draw two or more."
        )
    return tuple(notes)


def _allocated(strata: Sequence[Mapping[str, Any]], design: Design) -> list[int]:
    sizes = {facts["name"]: facts["n_families"] for facts in strata}
    if design.allocation is Allocation.GIVEN:
        return _given(sizes, design.given)
    square = "square_traffic" if design.weighting is Weighting.TRAFFIC else "square_queries"
    shares = {
        Allocation.PROPORTIONAL: [float(facts["n_families"]) for facts in strata],
        Allocation.EQUAL: [1.0 for _ in strata],
        Allocation.OPTIMAL: [facts["n_families"] * sqrt(facts[square]) for facts in strata],
    }[design.allocation]
    return allocated(list(sizes.values()), shares, design.n_families, names=list(sizes))


def _given(sizes: Mapping[str, int], numbers: Mapping[str, int]) -> list[int]:
    unknown = sorted(set(numbers) - set(sizes))
    if unknown:
        raise SamplingError(
            why=f"There is no stratum '{unknown[0]}' here. There are: {', '.join(sizes)}."
        )
    for name, n in numbers.items():
        if n < 0:
            raise SamplingError(why=f"{n} families of '{name}' cannot be drawn; 0 or more can.")
        if n > sizes[name]:
            raise SampleTooLargeError(wanted=n, stratum=name, there=sizes[name])
    if not sum(numbers.values()):
        raise SamplingError(why="No family is to be drawn; name a number above 0 for a stratum.")
    return [numbers.get(name, 0) for name in sizes]


def allocated(
    sizes: Sequence[int], shares: Sequence[float], n: int, *, names: Sequence[str] = ()
) -> list[int]:
    """`n` shared out in proportion to `shares`: whole numbers from 1 up to each size.

    One after the other goes to whom its next would bring most: the priority share / sqrt(k(k+1))
    of having k already, which is the exact optimum of Neyman's allocation in whole numbers (Wright,
    The American Statistician 66(4), 2012). Equal priorities: the first.

    Examples
    --------
    >>> allocated([5, 100, 400], [5, 100, 400], 20)
    [1, 4, 15]
    >>> allocated([5, 100, 400], [1, 1, 1], 20)
    [5, 8, 7]

    Raises
    ------
    SampleTooLargeError, SamplingError
        If there are not so many, or fewer are asked for than there are strata.
    """
    if n > sum(sizes):
        whole = "the whole log" if len(sizes) > 1 else (*names, "the log")[0]
        raise SampleTooLargeError(wanted=n, stratum=whole, there=sum(sizes))
    if n < len(sizes):
        raise SamplingError(
            why=f"{n} families cannot come from {len(sizes)} strata, at least one of each. "
            "Draw more, or make fewer strata."
        )
    counts = [1] * len(sizes)
    waiting = [(-share / sqrt(2), place) for place, share in enumerate(shares)]
    heapq.heapify(waiting)
    n_left = n - len(sizes)
    while n_left:
        _, place = heapq.heappop(waiting)
        if counts[place] < sizes[place]:
            counts[place] += 1
            n_left -= 1
            k = counts[place]
            heapq.heappush(waiting, (-shares[place] / sqrt(k * (k + 1)), place))
    return counts


# --- drawing -------------------------------------------------------------------------------


def drawn_families(families: LogFamilies, plan: Plan, strata: Strata, *, seed: int) -> list[Drawn]:
    """The families that are drawn: of each stratum the first in the order of their digests.

    A family's digest depends on the seed and its name alone, so the same seed draws the same
    families again, and more of them where more are asked for.
    """
    names: list[str] = families.table["name"].to_list()
    drawn = []
    for number, stratum in enumerate(plan.strata):
        inside = np.flatnonzero(strata.of == number)
        order = sorted((_digest(seed, names[place]), names[place]) for place in inside.tolist())
        drawn += [
            Drawn(name, stratum.name, stratum.inclusion_probability)
            for _, name in order[: stratum.n_drawn]
        ]
    return drawn


def _digest(seed: int, name: str) -> bytes:
    content = json.dumps([seed, RECIPE, name], ensure_ascii=False, separators=(",", ":"))
    return blake2b(content.encode(), digest_size=16).digest()


def weight_of(
    design: Design, *, count: int, family_traffic: int, family_queries: int, probability: float
) -> float:
    """What a query of a drawn family stands for, divided by how likely it was to be drawn.

    Where one wording stands for its family, it stands for all that the family was asked.

    >>> weight_of(Design(), count=30, family_traffic=40, family_queries=2, probability=0.5)
    60.0
    """
    is_one = design.wordings is Wordings.ONE
    if design.weighting is Weighting.TRAFFIC:
        return (family_traffic if is_one else count) / probability
    return (family_queries if is_one else 1) / probability
