"""Is one system better than another on these queries? Per measure, corrected for asking often."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from scoring.core.statistics.corrections import holm
from scoring.core.statistics.intervals import mean_interval
from scoring.core.statistics.paired import t_test
from scoring.core.statistics.signflip import sign_flip

ALPHA = 0.05
SEED = 0

PerQuery = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Significance:
    """The difference to the baseline in one measure, over the queries of both.

    `low` and `high` end its 95 % interval by Student's t; `p_t` is of the paired t-test, two-sided,
    and `p_flip` of random sign flips; `p_adjusted` is `p_t` after Holm's correction over the
    measures, and `is_significant` says whether that is below 0.05.
    """

    measure: str
    n_queries: int
    difference: float
    low: float
    high: float
    p_t: float
    p_flip: float
    p_adjusted: float
    is_significant: bool

    def renamed(self, measure: str) -> "Significance":
        """The same under another name of the measure."""
        return replace(self, measure=measure)


def significances(system: PerQuery, baseline: PerQuery) -> tuple[Significance, ...]:
    """System minus baseline in every measure; none where fewer than two queries are in both."""
    qids = [qid for qid in system if qid in baseline]
    if len(qids) < 2:
        return ()
    names = list(system[qids[0]])
    differences = np.array(
        [[system[qid][name] - baseline[qid][name] for name in names] for qid in qids]
    )
    low, high = mean_interval(differences, span=(-1, 1))
    p_t, p_flip = t_test(differences), sign_flip(differences, seed=SEED)
    p_adjusted = holm(p_t)
    columns = (differences.mean(axis=0), low, high, p_t, p_flip, p_adjusted, p_adjusted < ALPHA)
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(
        Significance(name, len(qids), *row) for name, row in zip(names, numbers, strict=True)
    )
