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

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics.families import FamilyOf, Floats
from benchwright.statistics.paired import t_test

ALPHA = 0.05


def steps_up(
    differences: Floats,
    *,
    n_before: int,
    families: FamilyOf | None = None,
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
    With families the error is that of `standard_errors`. Below two families nothing is better.

    Examples
    --------
    One query of 100 that is better is no step, however much better; ten are.

    >>> one, ten = (np.repeat([1.0, 0.0], [k, 100 - k])[:, np.newaxis] for k in (1, 10))
    >>> steps_up(one, n_before=1).item(), steps_up(ten, n_before=1).item()
    (False, True)
    """
    p = t_test(differences, families=families, alternative="greater")
    is_better: NDArray[np.bool_] = p < ALPHA / n_before
    return is_better
