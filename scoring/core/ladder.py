"""Which submission of a team is significantly better than the best before it: the Ladder.

Blum & Hardt (The Ladder: A Reliable Leaderboard for Machine Learning Competitions, ICML 2015) tell
of a submission only where its mean exceeds that of the best one told so far by more than s/sqrt(n),
the standard error of the difference; else the best one's value is told again. Who adapts to what is
told then learns of few steps instead of every mean.

Their step of one standard error is for n in the thousands and losses that are many small ones. A
ranking of which a single query changed for the better has a difference of exactly one standard
error (c/n and c/n), and chance alone gives one in six. Here a step has to be significant: by a
one-sided t test at 5 % divided by how many submissions came before it (Bonferroni), so that all
that chance tells a team of k submissions is about 0.05 ln(k) steps.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scoring.core.statistics.families import FamilyOf, Floats, column_sums, family_totals
from scoring.core.statistics.paired import errors_of_totals, in_units

ALPHA = 0.05

Margin: TypeAlias = Callable[[int, Floats], Floats]
"""How many standard errors a step has, by how many came before, and the degrees of freedom."""


def significant(n_before: int, freedom: Floats) -> Floats:
    """Student's t that chance exceeds in `ALPHA` / `n_before`.

    Examples
    --------
    >>> [significant(k, np.array([1e6])).round(2).item() for k in (1, 10, 200)]
    [1.64, 2.58, 3.48]
    """
    import scipy

    margin: Floats = scipy.special.stdtrit(freedom, 1 - ALPHA / max(n_before, 1))
    return margin


def one_error(n_before: int, freedom: Floats) -> Floats:
    """The step of the paper, whichever submission it is."""
    return np.ones_like(freedom)


def steps_up(
    differences: Floats,
    *,
    n_before: int,
    families: FamilyOf | None = None,
    margin: Margin = significant,
) -> NDArray[np.bool_]:
    """Whether a submission is better than the one told last, by each measure.

    Parameters
    ----------
    differences
        Queries x measures: its values less those of the one told last, higher being better. NaN
        leaves a query out.
    n_before
        How many submissions of the team came before, at least 1.
    families
        Family of each query; queries of a family go up and down together.

    Notes
    -----
    With d the mean difference and e its standard error over F families (`standard_errors`, which
    is s/sqrt(n) where each query is a family): d > margin * e, with F - 1 degrees of freedom. Below
    two families nothing is better.

    Examples
    --------
    One query of 100 that is better is no step, however much better; ten are.

    >>> one, ten = (np.repeat([1.0, 0.0], [k, 100 - k])[:, np.newaxis] for k in (1, 10))
    >>> steps_up(one, n_before=1).item(), steps_up(ten, n_before=1).item()
    (False, True)
    """
    sums, sizes = family_totals(differences, families)
    n, n_families = column_sums(sizes), np.count_nonzero(sizes, axis=0)
    means = column_sums(sums) / np.where(n > 0, n, 1)
    steps = in_units(means, errors_of_totals(sums, sizes))
    freedom = np.maximum(n_families - 1, 1).astype(np.float64)
    found: NDArray[np.bool_] = (n_families > 1) & (steps > margin(n_before, freedom))
    return found


def told_of(
    submissions: Sequence[Floats],
    *,
    families: FamilyOf | None = None,
    margin: Margin = significant,
) -> Iterator[list[int]]:
    """For each of a team's submissions (queries x measures each), whose value is told of it.

    In the order in which they were sent; by measure the place of a submission, its own or that of
    an earlier one. The first is told as it is.
    """
    told: list[int] = []
    for place, values in enumerate(submissions):
        if place == 0:
            told = [0] * values.shape[1]
        else:
            last = np.stack([submissions[of][:, m] for m, of in enumerate(told)], axis=1)
            better = steps_up(values - last, n_before=place, families=families, margin=margin)
            told = [place if is_up else of for of, is_up in zip(told, better, strict=True)]
        yield list(told)
