"""Contextual precision of verdicts: of one case, and of many at once.

(1 / R) Σ R_k / k over the ranks k of relevant nodes, where R nodes are relevant and R_k of them are
among the first k. That is average precision divided by what was retrieved and relevant, not by all
that is relevant: a node that was never retrieved costs nothing.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchwright.judges.errors import CaseFormatError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

ROWS_AT_ONCE = 1 << 16


def contextual_precision(relevant: Sequence[bool]) -> float:
    """Contextual precision of one case's verdicts in rank order, in [0, 1]; 0.0 where none is yes.

    Examples
    --------
    >>> contextual_precision([True, False, True])
    0.8333333333333333
    """
    n_relevant = 0
    total = 0.0
    for rank, is_relevant in enumerate(relevant, start=1):
        if is_relevant:
            n_relevant += 1
            total += n_relevant / rank
    return total / n_relevant if n_relevant else 0.0


def contextual_precisions(relevant: "ArrayLike") -> "NDArray[np.float64]":
    """Contextual precision of each row of a cases x nodes matrix; shorter cases end in False.

    Examples
    --------
    >>> contextual_precisions([[False, True], [False, False]]).tolist()
    [0.5, 0.0]

    Raises
    ------
    CaseFormatError
        If it is not a matrix of booleans.
    """
    import numpy as np

    try:
        matrix = np.asarray(relevant)
    except ValueError:  # rows of several lengths
        matrix = np.array(relevant, dtype=object)
    if matrix.ndim != 2 or matrix.dtype != np.bool_:
        raise CaseFormatError(
            where="relevant",
            what=f"an array of {matrix.ndim} dimensions and type {matrix.dtype}",
            expected="a matrix of booleans, a case a row and a node a column",
        )
    scores = np.zeros(len(matrix))
    for start in range(0, len(matrix), ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        scores[block] = _of_block(matrix[block])
    return scores


def _of_block(relevant: "NDArray[np.bool_]") -> "NDArray[np.float64]":
    import numpy as np

    n_relevant = np.zeros(len(relevant))
    total = np.zeros(len(relevant))
    # A column after the other: each is one pass over all cases, whatever their verdicts.
    for rank, column in enumerate(np.ascontiguousarray(relevant.T), start=1):
        n_relevant += column
        total += column * (n_relevant / rank)
    return total / np.maximum(n_relevant, 1)


def final_score(raw: float, *, strict_mode: bool) -> float:
    """The score to report: under strict mode all or nothing."""
    return raw if not strict_mode or raw >= 1 else 0.0


def is_success(score: float, threshold: float | None, *, strict_mode: bool) -> bool | None:
    """Whether a score reaches the threshold, which is 1 under strict mode; None without one."""
    if strict_mode:
        return score >= 1
    return None if threshold is None else score >= threshold
