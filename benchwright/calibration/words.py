"""A calibration in a sentence or two."""

import re
from math import isnan

from benchwright.calibration.calibrating import Calibration
from benchwright.calibration.favouring import Trust
from benchwright.calibration.improving import ALIKE, BETTER, WORSE, Improvement
from benchwright.texts.counting import counted

SMALL_BIAS = 0.05
# What stands before a number, and not within a name.
NEGATIVE = re.compile(r"(?<!\w)-(?=\d)")
CHANGES = {BETTER: "Better", WORSE: "Worse", ALIKE: "No difference shown"}


def verdict(calibration: Calibration, trust: Trust | None = None) -> str:
    """What may be said of a judge: how it agrees, where it leans, what it is worth.

    Where pairs are too few that is said first, and no verdict is given.
    """
    parts = [f"Too few for a verdict: {calibration.too_few}"] if calibration.too_few else []
    parts.append(_agreement(calibration))
    parts.append(_bias(calibration))
    if trust is not None and trust.systems:
        parts.append(_worth(trust))
        if favoured := [row.system for row in trust.systems if row.is_favoured]:
            parts.append(f"It favours {', '.join(favoured)}: do not look at those by it alone.")
    lost = []
    if calibration.n_invalid:
        lost.append(f"{counted(calibration.n_invalid, 'grade')} off the scale")
    if calibration.n_refused:
        lost.append(f"{counted(calibration.n_refused, 'pair')} without an answer")
    if lost:
        parts.append(f"Left out: {' and '.join(lost)}.")
    return NEGATIVE.sub("\N{MINUS SIGN}", " ".join(parts))


def change(improvement: Improvement) -> str:
    """What may be said of a prompt beside an earlier one: better, worse, or no difference shown."""
    if improvement.too_few:
        return f"Too few for a verdict: {improvement.too_few}"
    before, after = improvement.kappa_before, improvement.kappa_after
    difference = improvement.kappa
    if before.value is None or after.value is None or not improvement.outcome:
        return f"Kappa cannot be compared, because {difference.why or 'too many draws lack it'}."
    words = f"quadratic kappa with people went from {before.value:.2f} to {after.value:.2f}"
    interval = f"{difference.value:+.2f}, {difference.low:+.2f} to {difference.high:+.2f}"
    sizes = counted(improvement.n_pairs, "pair"), counted(improvement.n_queries, "query")
    pairs = f"{sizes[0]} of {sizes[1]} without an example"
    head = CHANGES[improvement.outcome]
    return f"{head}: {words} ({interval}) on {pairs}.".replace("-", "\N{MINUS SIGN}")


def _agreement(of: Calibration) -> str:
    quadratic = of.kappa_quadratic
    if quadratic.value is None:
        return f"Kappa is undefined, because {quadratic.why}."
    words = f"Quadratic kappa with people is {quadratic.value:.2f}"
    if quadratic.low is not None and quadratic.high is not None:
        words += f" ({quadratic.low:.2f} to {quadratic.high:.2f})"
    two = of.people_with_people.value
    return f"{words}; two people come to {two:.2f}." if two is not None else f"{words}."


def _bias(of: Calibration) -> str:
    bias = of.bias
    is_sure = not isnan(bias.low) and (bias.low > 0 or bias.high < 0)
    if not is_sure or abs(bias.mean) < SMALL_BIAS:
        return "Over all it leans to neither side."
    side = "higher" if bias.mean > 0 else "lower"
    return f"It grades {abs(bias.mean):.2f} {side} than people."


def _worth(trust: Trust) -> str:
    def told(gain: float) -> str:
        return "nothing" if gain < 0.005 else f"{gain:.0%} more labels"

    means, differences = told(trust.gain_means), told(trust.gain_differences)
    if means == differences:
        return f"For means of runs and for their differences it is worth {means} at most."
    return f"For means of runs it is worth {means} at most, for differences {differences}."
