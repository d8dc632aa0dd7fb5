"""What decides, in numbers: one comparison, or thousands of made ones at once.

Rows are tests, columns comparisons. Everything that can block is one family of Holm: the mean over
all queries, each registered slice of enough queries, each guard measure, the exact matches where
they are checked, and the losses. A comparison is blocked if some adjusted p is below alpha *and*
the condition of its test holds: below minus the margin for slices and measures, beyond the share
for losses, none for the mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from benchwright.gates.policy import Policy
from benchwright.statistics.corrections import holm
from benchwright.statistics.families import Floats
from benchwright.statistics.losses import Losses

# A difference of exactly 0.01 is computed as 0.51 - 0.5, which is a little less.
ROUNDING = 1e-12

Facts = NDArray[np.bool_]


class Kind(StrEnum):
    """What a test is about; exploratory ones are told and decide nothing."""

    OVERALL = "overall"
    SLICE = "slice"
    EXPLORATORY = "exploratory"
    MEASURE = "measure"
    EXACT = "exact"


class Verdict(StrEnum):
    PASS = "pass"
    PASS_STRICT = "pass_strict"
    HOLD = "hold"
    BLOCK = "block"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not_comparable"

    @property
    def label(self) -> str:
        return (
            "PASS-STRICT" if self == Verdict.PASS_STRICT else self.value.replace("_", " ").upper()
        )

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self]


EXIT_CODES = {
    Verdict.PASS: 0,
    Verdict.PASS_STRICT: 0,
    Verdict.HOLD: 10,
    Verdict.BLOCK: 11,
    Verdict.INCONCLUSIVE: 12,
    Verdict.NOT_COMPARABLE: 13,
}


@dataclass(frozen=True, slots=True)
class Tests:
    """Means with lower bounds and p-values of "it fell" (rows x comparisons), the first row over
    all queries; and the losses of each comparison."""

    kinds: Sequence[Kind]
    losses: Losses
    n: Floats
    n_families: Floats
    mean: Floats
    lower: Floats
    p: Floats


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What the tests come to: adjusted p (NaN: no test of the family), and facts.

    `blocks` has a row for each test, `rail_blocks` and the rest one value a comparison.
    """

    adjusted: Floats
    rail_adjusted: Floats
    m: NDArray[np.intp]
    blocks: Facts
    rail_blocks: Facts
    is_improved: Facts
    is_enough: Facts
    is_kept: Facts
    is_strict: Facts

    @property
    def is_blocked(self) -> Facts:
        return np.asarray(self.blocks.any(axis=0) | self.rail_blocks)


def outcomes_of(policy: Policy, tests: Tests) -> Outcomes:
    """Hold the tests of each comparison against the policy."""
    rails, losses = policy.guard_rails, tests.losses
    kinds = np.array(tests.kinds)[:, np.newaxis]
    is_large = tests.n >= policy.smallest_slice
    is_test = np.where(kinds == Kind.SLICE, is_large, kinds != Kind.EXPLORATORY)
    is_test &= tests.n_families >= 2
    is_tested = rails.worst_rule == "tested"
    rail_p = losses.p if is_tested else np.full_like(losses.p, np.nan)
    family = np.vstack([np.where(is_test, tests.p, np.nan), rail_p])
    adjusted = holm(family.T).T
    is_beyond = (kinds == Kind.OVERALL) | (tests.mean < -policy.margin - ROUNDING)
    is_many = losses.share > rails.worst_share
    is_slice = np.array([kind == Kind.SLICE for kind in tests.kinds])
    is_safe = (tests.lower > -policy.margin) & is_large
    has_all = bool(policy.slices) and is_slice.sum() == len(policy.slices)
    return Outcomes(
        adjusted=adjusted[:-1],
        rail_adjusted=adjusted[-1],
        m=np.count_nonzero(~np.isnan(family), axis=0),
        blocks=(adjusted[:-1] < policy.alpha) & is_beyond,
        rail_blocks=is_many & (adjusted[-1] < policy.alpha) if is_tested else is_many,
        is_improved=tests.lower[0] > 0,
        is_enough=tests.mean[0] >= policy.delta_min - ROUNDING,
        is_kept=tests.lower[0] > -policy.margin,
        is_strict=is_safe[is_slice].all(axis=0) & has_all,
    )


def verdicts(policy: Policy, of: Outcomes, *, is_flagged: bool = False) -> NDArray[np.str_]:
    """The first that applies: block, hold, inconclusive, pass."""
    is_improve = policy.goal == "improve"
    too_little = of.is_improved & ~of.is_enough & is_improve
    is_shown = of.is_improved if is_improve else of.is_kept
    return np.select(
        [of.is_blocked, too_little | is_flagged, ~is_shown, of.is_strict],
        [Verdict.BLOCK, Verdict.HOLD, Verdict.INCONCLUSIVE, Verdict.PASS_STRICT],
        Verdict.PASS,
    )
