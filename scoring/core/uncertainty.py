"""How sure a board is: intervals of a run's means, and the ranks that its runs may have.

Quick enough to be there when a page is: 2,000 draws, always the same ones.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from scoring.core.evaluation import Evaluation

if TYPE_CHECKING:
    from scoring.core.statistics.families import FamilyOf, Floats

METHOD = "bca"
LEVEL = 0.95
N_DRAWS = 2_000
SEED = 0

Families = Mapping[str, Hashable]
"""Family of each query; one that is not there is a family of its own."""


class MeanInterval(NamedTuple):
    low: float
    high: float


class Standing(NamedTuple):
    """Best and worst rank of a run in resampled queries, and its tie group, from 1.

    The runs of a group cannot be told from its best one, at 5 % for all pairs of the board.
    """

    best: int
    worst: int
    tie_group: int


@dataclass(frozen=True, slots=True)
class Recipe:
    """How intervals were made: enough to make them again."""

    n_families: int
    method: str = METHOD
    level: float = LEVEL
    n_draws: int = N_DRAWS
    seed: int = SEED

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def recipe(qids: Iterable[str], families: Families) -> Recipe:
    """The recipe of intervals over these queries."""
    return Recipe(n_families=len({families.get(qid, (qid,)) for qid in qids}))


def mean_intervals(evaluation: Evaluation[str], families: Families) -> dict[str, MeanInterval]:
    """The 95 % interval of each mean, by the measure's name; families are resampled whole.

    A measure that is no mean has none, and none has where fewer than two families are defined.
    """
    import numpy as np

    from scoring.core.statistics.bootstrap import bootstrap_interval

    names = [str(measure) for measure in evaluation.measures if measure.aggregation == "mean"]
    if not names or not evaluation.per_query:
        return {}
    rows = [[of[name] for name in names] for of in evaluation.per_query.values()]
    low, high = bootstrap_interval(
        np.array(rows),
        families=numbered(evaluation.per_query, families),
        method=METHOD,
        level=LEVEL,
        n_draws=N_DRAWS,
        seed=SEED,
    )
    found = zip(names, map(MeanInterval, low.tolist(), high.tolist()), strict=True)
    return {name: interval for name, interval in found if not isnan(interval.low)}


def standings(
    values: Sequence[Sequence[float]], qids: Sequence[str], families: Families
) -> list[Standing]:
    """The standing of each run; `values` holds the runs' values of the same queries, `qids`."""
    import numpy as np

    from scoring.core.statistics.families import ratio_means
    from scoring.core.statistics.ranks import rank_intervals, tie_groups
    from scoring.core.statistics.tukey import randomised_tukey

    if len(values) < 2:
        return [Standing(1, 1, 1) for _ in values]
    columns: Floats = np.array(values, dtype=np.float64).T
    numbers = numbered(qids, families)
    cube = columns[:, :, np.newaxis]
    intervals = rank_intervals(cube, families=numbers, level=LEVEL, n_draws=N_DRAWS, seed=SEED)
    p = randomised_tukey(cube, families=numbers, n_draws=N_DRAWS, seed=SEED)[:, :, 0]
    groups = tie_groups(ratio_means(columns), p, alpha=1 - LEVEL)
    best, worst = intervals[:, :, 0].tolist()
    return list(map(Standing, best, worst, groups.tolist()))


def numbered(qids: Iterable[str], families: Families) -> "FamilyOf | None":
    """The number of each query's family, or None where every query is one."""
    import numpy as np

    numbers: dict[Hashable, int] = {}
    of = [numbers.setdefault(families.get(qid, (qid,)), len(numbers)) for qid in qids]
    return None if len(numbers) == len(of) else np.array(of, dtype=np.intp)
