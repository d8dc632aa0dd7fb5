"""One decision of each pair, which sentence, colour and word are made of."""

from typing import NamedTuple

BETTER, WORSE, OPEN = "better", "worse", ""

AT_THE_EDGE = (
    "The interval leaves 0 out, but the test does not tell the runs apart: at the edge Student's t "
    "and the test part, and the test decides."
)
OF_MANY = (
    "The interval, which is of this pair alone, leaves 0 out; corrected for all that is compared "
    "the test does not tell the runs apart, and that decides."
)
OVER_ZERO = (
    "The test tells the runs apart, though the interval reaches over 0: it decides, at the edge of "
    "what these queries show."
)


class Decision(NamedTuple):
    """`kind` is "better", "worse" or "" (not told apart); `reason` says in words why interval and
    test part, "" where they agree.
    """

    kind: str
    reason: str


def decision(
    difference: float | None,
    interval: tuple[float | None, float | None],
    p: float | None,
    p_corrected: float | None,
    *,
    alpha: float = 0.05,
) -> Decision:
    """The corrected p decides; undefined numbers (None or NaN) decide nothing.

    Examples
    --------
    >>> decision(0.1, (0.05, 0.15), 0.001, 0.002)
    Decision(kind='better', reason='')
    >>> decision(-0.08, (-0.161, -0.008), 0.0587, 0.0587).kind
    ''
    """
    low, high = interval
    leaves_out = low is not None and high is not None and (low > 0 or high < 0)
    is_shown = p_corrected is not None and p_corrected < alpha and bool(difference)
    if is_shown and difference is not None:
        has_ends = low is not None and low == low
        reason = OVER_ZERO if has_ends and not leaves_out else ""
        return Decision(BETTER if difference > 0 else WORSE, reason)
    if not leaves_out:
        return Decision(OPEN, "")
    return Decision(OPEN, OF_MANY if p is not None and p < alpha else AT_THE_EDGE)
