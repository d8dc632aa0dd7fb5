"""The ends of the intervals of means, from values by query; `uncertainty` gives them names."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchwright.measures.families import Measure

if TYPE_CHECKING:
    from benchwright.statistics.families import FamilyOf, Floats

LEVEL = 0.95


def ends_of_means(
    measures: Sequence[Measure],
    rows: Sequence[Mapping[str, float]],
    *,
    families: "FamilyOf | None" = None,
    weights: "Floats | None" = None,
) -> dict[str, tuple[float, float]]:
    """The 95 % interval of each mean, by the measure's name, by Student's t over families.

    A measure that is no mean has none, and none has where fewer than two families are defined.

    Parameters
    ----------
    rows
        The values of each query.
    families, weights
        Of each of them; without families each is one of its own.
    """
    import numpy as np

    from benchwright.statistics.intervals import mean_interval

    averaged = [measure for measure in measures if measure.aggregation == "mean"]
    names = [str(measure) for measure in averaged]
    if not names or not rows:
        return {}
    ends: Any = mean_interval(
        np.array([[row[name] for name in names] for row in rows]),
        families=families,
        weights=weights,
        level=LEVEL,
        span=tuple(np.array([measure.span for measure in averaged]).T),
    )
    return {
        name: (low, high)
        for name, low, high in zip(names, *ends.tolist(), strict=True)
        if low == low
    }
