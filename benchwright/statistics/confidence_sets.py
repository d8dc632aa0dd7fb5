"""Tie groups of runs: model confidence sets, by the range statistic and sign flips.

Hansen, Lunde and Nason, The model confidence set, Econometrica 79(2), 2011. Runs are put out one
by one, the one that is furthest behind another first, until what is left could all be equally
good; the confidence set holds every truly best run with a probability of 1 - alpha. That is the
first group, and a claim. The set of the runs that are not in it is the second, and so on: these
are descriptions. A run with a wide scatter can be in an earlier group than one of a better mean.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from benchwright.statistics.families import FamilyOf, Floats, column_sums, family_totals, product
from benchwright.statistics.ranks import DECIMALS
from benchwright.statistics.signflip import flipped_sums, sign_flip

FEWEST = 10
"""Below so many queries or families nothing is told apart."""

MOST = 150
"""As many of the best are told apart; what else passes the screen stays in the group."""

SCREEN = 50
"""The screen takes one part in so many of alpha."""

# Runs are held against so many at once: few at first, as most are far behind one of the best.
FIRST_HELD, MOST_HELD = 16, 256
# The sums of so many runs are flipped at once: signs are drawn for each lot anew.
LOT = 1_024

# A statistic that a flip reaches but for rounding.
SLACK = 1e-6
# Differences with less than this of the largest run's sum of squares are rounding: copies.
COPY = 1e-12

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class TieGroups:
    """The group of each run, from 1, and how sure group 1 is.

    `p` is each run's p-value of being among the truly best ones; NaN where it was not worked out.
    `n_lost` queries were left out, as a run has no value there. Where there are `too_few` queries
    or families all are in one group; `too_many` runs passed the screen to tell all of them apart.
    """

    of: Places
    p: Floats
    n_lost: int = 0
    too_few: bool = False
    too_many: bool = False

    def notes(self) -> Iterator[str]:
        """What is to be said beside the groups."""
        if self.too_few:
            yield f"Fewer than {FEWEST} queries or families: too few to tell runs apart."
        if self.too_many:
            yield f"More than {MOST} runs are close: too many to separate all of them."
        if self.n_lost:
            yield f"{self.n_lost} queries lack a value of a run, and are not in the tie groups."


def tie_groups(
    values: Floats,
    *,
    families: FamilyOf | None = None,
    alpha: float = 0.05,
    n_flips: int = 10_000,
    seed: int = 0,
) -> TieGroups:
    """The tie groups of runs (`values`: queries x runs); families are flipped whole.

    Other runs change a group only where they are close to it: copies of a run, runs far behind and
    the order of all of them change nothing. Only queries on which every run is defined count; a run
    that is defined nowhere stands in a group of its own, the last.
    """
    n_runs = values.shape[1]
    if not n_runs:
        return TieGroups(np.empty(0, dtype=np.intp), np.empty(0))
    is_there: NDArray[np.bool_] = np.logical_not(np.isnan(values).all(axis=0))
    if not is_there.all():
        return _with_undefined(values, is_there, families, alpha, n_flips, seed)
    is_whole = ~np.isnan(values).any(axis=1)
    whole = values[is_whole]
    n_lost = int((~is_whole).sum())
    sums, _ = family_totals(whole, None if families is None else families[is_whole])
    if len(whole) < FEWEST or len(sums) < FEWEST:
        return TieGroups(np.ones(n_runs, dtype=np.intp), np.full(n_runs, np.nan), n_lost, True)
    # Copies stand once, in an order of their own: where a run stood changes no digit.
    _, first, copy_of = np.unique(whole, axis=1, return_index=True, return_inverse=True)
    copy_of = copy_of.reshape(-1)
    means = np.round(column_sums(whole[:, first]) / len(whole), DECIMALS)
    order = np.argsort(-means, kind="stable")
    board = _Board.of(sums[:, first[order]], alpha, n_flips, seed)
    groups = np.zeros(len(first), dtype=np.intp)
    p_first = np.full(len(first), np.nan)
    left, number, too_many = np.arange(len(first)), 0, False
    while len(left):
        number += 1
        p = board.confidence_set(left)
        if number == 1:
            p_first[left] = p
        is_inside = ~(p < alpha)
        is_inside[0] = True
        groups[left[is_inside]] = number
        too_many |= bool(np.isnan(p).any())
        left = left[~is_inside]
        board.forget_before(left[:1])
    place_of = np.argsort(order)[copy_of]
    return TieGroups(groups[place_of], p_first[place_of], n_lost, too_many=too_many)


def _with_undefined(
    values: Floats,
    is_there: NDArray[np.bool_],
    families: FamilyOf | None,
    alpha: float,
    n_flips: int,
    seed: int,
) -> TieGroups:
    inside = values[:, is_there]
    groups = tie_groups(inside, families=families, alpha=alpha, n_flips=n_flips, seed=seed)
    of = np.full(len(is_there), groups.of.max(initial=0) + 1)
    p = np.full(len(is_there), np.nan)
    of[is_there], p[is_there] = groups.of, groups.p
    return replace(groups, of=of, p=p)


@dataclass(frozen=True, slots=True)
class _Board:
    """Runs by their place on the board, the best mean first: sums of families x runs.

    `centred` (runs x families) are these less their mean over the runs, which changes no difference
    and saves digits; `own` are its sums of squares, `flipped` the sums under each pattern of signs,
    by lot of runs.
    What is known of pairs is worked out for those that are asked for: all would be the square of
    the runs.
    """

    sums: Floats
    centred: Floats
    own: Floats
    totals: Floats
    alpha: float
    n_flips: int
    seed: int
    flipped: dict[int, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, sums: Floats, alpha: float, n_flips: int, seed: int) -> "_Board":
        centred = sums - sums.mean(axis=1, keepdims=True)
        own, totals = (centred**2).sum(axis=0), column_sums(centred)
        return cls(sums, np.ascontiguousarray(centred.T), own, totals, alpha, n_flips, seed)

    def forget_before(self, first: Places) -> None:
        """Let go of the flipped sums of lots that stand before the first run that is left."""
        for lot in [lot for lot in self.flipped if not len(first) or lot < first[0] // LOT]:
            del self.flipped[lot]

    def confidence_set(self, left: Places) -> Floats:
        """p of each of these runs, best mean first; NaN for those that were not told apart."""
        p = np.full(len(left), self.alpha / SCREEN)
        kept = self._screened(left)
        inside = kept[:MOST]
        p[kept[MOST:]] = np.nan
        p[inside] = self._eliminated(left[inside])
        return p

    def _screened(self, left: Places) -> Places:
        """Places in `left` of the runs that are not far behind any other."""
        n, k = len(self.sums), len(left)
        farthest = scipy.special.stdtrit(n - 1, 1 - self.alpha / (SCREEN * k**2))
        kept = np.arange(k)
        start, width = 0, FIRST_HELD
        while start < k:
            others = left[start : start + width]
            behind = self._behind(left[kept], others, self._squares(left[kept], others))
            kept = kept[behind.max(axis=1) <= farthest]
            start, width = start + width, min(2 * width, MOST_HELD)
        return kept

    def _squares(self, runs: Places, others: Places) -> Floats:
        """Sums of squared differences of each run from each of the others; 0 of a copy."""
        # q_ij = sum of (V_j - V_i)^2
        cross = product(self.centred[runs], self.centred[others].T)
        squares = np.maximum(self.own[runs, np.newaxis] + self.own[others] - 2 * cross, 0.0)
        squares[squares <= COPY * self.own.max()] = 0.0
        return squares

    def _behind(self, runs: Places, others: Places, squares: Floats) -> Floats:
        """The t of how far each run is behind each of the others."""
        # S_ij = sum of V_j - V_i
        totals = self.totals[others] - self.totals[runs, np.newaxis]
        return _t(totals, squares, len(self.sums))

    def _flipped_of(self, runs: Places) -> Floats:
        """Flips x runs: the sums of these runs under each pattern of signs."""
        lots = runs // LOT
        for lot in set(lots.tolist()) - self.flipped.keys():
            columns = self.centred[lot * LOT : (lot + 1) * LOT].T
            blocks = flipped_sums(columns, self.n_flips, self.seed)
            self.flipped[lot] = np.concatenate(list(blocks))
        flipped = np.empty((self.n_flips, len(runs)))
        for lot in set(lots.tolist()):
            flipped[:, lots == lot] = self.flipped[lot][:, runs[lots == lot] % LOT]
        return flipped

    def _eliminated(self, runs: Places) -> Floats:
        """p of runs put out one by one: of all that were there then being equally good."""
        if len(runs) == 1:
            return np.ones(1)
        squares = self._squares(runs, runs)
        behind = self._behind(runs, runs, squares)
        out, distance = [], []
        alive = np.arange(len(runs))
        while len(alive) > 1:
            farthest = behind[np.ix_(alive, alive)].max(axis=1)
            # Of equal ones the last: the head, which stands first, stays.
            place = len(alive) - 1 - int(farthest[::-1].argmax())
            out.append(alive[place])
            distance.append(farthest[place])
            alive = np.delete(alive, place)
        p = np.ones(len(runs))
        if len(runs) == 2:
            p[out[0]] = self._of_two(*runs)
            return p
        n = len(self.sums)
        flipped = self._flipped_of(runs)
        largest = np.zeros(self.n_flips)
        back = [*out, alive[0]][::-1]
        for number, place in enumerate(back[1:], start=1):
            others = back[:number]
            # D^2 / q orders pairs as T* does.
            drawn = (flipped[:, [place]] - flipped[:, others]) ** 2
            of_others = squares[place, others]
            shares = drawn / np.where(of_others > 0, of_others, np.inf)
            largest = np.maximum(largest, shares.max(axis=1))
            at_least = distance[len(out) - number] * (1 - SLACK)
            reached = np.count_nonzero(_t_of_shares(largest, n) >= at_least)
            p[place] = (1 + reached) / (self.n_flips + 1)
        p[out] = np.maximum.accumulate(p[out])
        return p

    def _of_two(self, one: int, other: int) -> float:
        """That of the sign-flip test, exact where few families differ."""
        difference = self.sums[:, [one]] - self.sums[:, [other]]
        return float(sign_flip(difference, n_flips=self.n_flips, seed=self.seed)[0])


def _t(totals: Floats, squares: Floats, n: int) -> Floats:
    """Mean over standard error of n differences, from their sum and their sum of squares.

    0 where there is no difference, infinite where all differences are the same.
    """
    variance = np.maximum(squares - totals**2 / n, 0.0) * n / (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = totals / np.sqrt(variance)
    return np.where(squares > 0, t, 0.0)


def _t_of_shares(shares: Floats, n: int) -> Floats:
    """|t| of a sum whose square has this share of the sum of squares, which is at most n."""
    left = np.maximum(n - shares, 0.0)
    with np.errstate(divide="ignore"):
        t: Floats = np.sqrt(shares * (n - 1) / left)
    return t
