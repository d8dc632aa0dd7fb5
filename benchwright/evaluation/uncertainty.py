"""How sure a board is: intervals of a run's means, and the ranks that its runs may have.

Intervals are Student's t over families; ranks are quick enough to be there when a page is: 2,000
draws, always the same ones.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from benchwright.errors import ScoringError
from benchwright.evaluation.ends import LEVEL, ends_of_means
from benchwright.evaluation.evaluating import Evaluation
from benchwright.measures import parse_measure

if TYPE_CHECKING:
    from benchwright.statistics.families import FamilyOf, Floats

METHOD = "t"
N_DRAWS = 2_000
SEED = 0

TIE_GROUPS = (
    "Group 1 is a claim: with 95 % confidence it holds every truly best run. Later groups only "
    "describe the runs that are left, in the same way."
)
"""What tie groups say, wherever they are shown."""

Qid = TypeVar("Qid", bytes, str)
Families = Mapping[str, Hashable]
"""Family of each query; one that is not there is a family of its own."""


class MeanInterval(NamedTuple):
    low: float
    high: float


class Standing(NamedTuple):
    """Best and worst rank of a run in resampled queries, and its tie group, from 1.

    Group 1 holds every truly best run with 95 %; later groups describe what is left in the same
    way. The best rank is 1 exactly in group 1.
    """

    best: int
    worst: int
    tie_group: int


class Recipe(NamedTuple):
    """How intervals were made: enough to make them again."""

    n_families: int
    method: str = METHOD
    level: float = LEVEL

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()


def recipe(qids: Iterable[Qid], families: Mapping[Qid, Hashable]) -> Recipe:
    """The recipe of intervals over these queries."""
    return Recipe(n_families=len({families.get(qid, (qid,)) for qid in qids}))


# --- intervals -------------------------------------------------------------------------------


def mean_intervals(
    evaluation: Evaluation[Qid],
    families: Mapping[Qid, Hashable],
    weights: Mapping[Qid, float] | None = None,
) -> dict[str, MeanInterval]:
    """The 95 % interval of each mean, by the measure's name.

    A measure that is no mean has none, and none has where fewer than two families are defined.
    With `weights` they are of the weighted means, over the queries that have a weight.
    """
    import numpy as np

    qids = [qid for qid in evaluation.per_query if weights is None or qid in weights]
    ends = ends_of_means(
        evaluation.measures,
        [evaluation.per_query[qid] for qid in qids],
        families=numbered(qids, families),
        weights=None if weights is None else np.array([weights[qid] for qid in qids]),
    )
    return {name: MeanInterval(*of) for name, of in ends.items()}


def interval_of(
    values: Mapping[Any, float],
    families: Mapping[Any, Hashable],
    *,
    span: tuple[float, float] = (-inf, inf),
) -> MeanInterval | None:
    """The 95 % interval of a mean of values by query; None below two families."""
    import numpy as np

    from benchwright.statistics.intervals import mean_interval

    column = np.array(list(values.values()), dtype=np.float64)[:, np.newaxis]
    of = numbered(values, families)
    low, high = mean_interval(column, families=of, level=LEVEL, span=span)[:, 0].tolist()
    return MeanInterval(low, high) if low == low else None


def span_of(name: str) -> tuple[float, float]:
    """The lowest and the highest value of a measure; anything for a name that is no measure."""
    try:
        return parse_measure(name).span
    except ScoringError:
        return -inf, inf


def span_of_differences(names: Sequence[str]) -> "tuple[Floats, Floats]":
    """The lowest and the highest difference of each measure between two runs."""
    import numpy as np

    lowest, highest = np.array([span_of(name) for name in names]).T
    return lowest - highest, highest - lowest


# --- ranks -----------------------------------------------------------------------------------


class Ranked(NamedTuple):
    """The standing of each run, and what is to be said beside them."""

    standings: list[Standing]
    notes: list[str]


def ranked(values: Sequence[Sequence[float]], qids: Sequence[str], families: Families) -> Ranked:
    """The standing of each run; `values` holds the runs' values of the same queries, `qids`."""
    import numpy as np

    from benchwright.statistics.confidence_sets import tie_groups
    from benchwright.statistics.families import ratio_means
    from benchwright.statistics.ranks import beside_groups, rank_intervals, ranks

    if len(values) < 2:
        return Ranked([Standing(1, 1, 1) for _ in values], [])
    columns: Floats = np.array(values, dtype=np.float64).T
    numbers = numbered(qids, families)
    ends = rank_intervals(
        columns[:, :, np.newaxis], families=numbers, level=LEVEL, n_draws=N_DRAWS, seed=SEED
    )
    groups = tie_groups(columns, families=numbers, alpha=1 - LEVEL, n_flips=N_DRAWS, seed=SEED)
    best, worst = beside_groups(ends[:, :, 0], ranks(ratio_means(columns)), groups.of)
    standings = map(Standing, best.tolist(), worst.tolist(), groups.of.tolist())
    return Ranked(list(standings), list(groups.notes()))


def numbered(qids: Iterable[Any], families: Mapping[Any, Hashable]) -> "FamilyOf | None":
    """The number of each query's family, or None where every query is one."""
    import numpy as np

    numbers: dict[Hashable, int] = {}
    of = [numbers.setdefault(families.get(qid, (qid,)), len(numbers)) for qid in qids]
    return None if len(numbers) == len(of) else np.array(of, dtype=np.intp)
