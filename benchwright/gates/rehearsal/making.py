"""Comparisons made of a pair's own queries, thousands at once, through the rules that decide.

Families are drawn with replacement; a query brings its slices along. What is then true is known:
arms swapped by a fair coin (no change), differences moved to a mean (better), a tenth of the
queries ruined (harm), a slice lost. Means are those of the pair, never of the sample drawn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchwright.gates.deciding import Kind, Outcomes, Tests, outcomes_of
from benchwright.gates.policy import Policy
from benchwright.statistics.families import FamilyOf, Floats
from benchwright.statistics.intervals import bounds_of_totals
from benchwright.statistics.losses import Losses, flipped_p, tails
from benchwright.statistics.paired import standard_errors, t_test_of_totals

HARM, HARMED, STANDING = -0.4, 0.1, 0.4
"""A planted harm: the loss, the share of queries that suffer it, and what they can lose it from."""

AFTER_HARM = 0.03
"""The mean difference, with the harm in it."""

CHUNK = 2**18
"""Queries drawn at a time: their arrays stay small."""

Masks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Pair:
    """Differences of two runs: of the measure, of the guard measures (queries x measures), and of
    the candidate to a lexical run on `exact` queries, with that of the baseline beside it."""

    gain: Floats
    guards: Floats
    standing: Floats
    slices: Masks
    families: FamilyOf | None = None
    exact: Masks | None = None
    against: Floats | None = None
    baseline_against: Floats | None = None

    @property
    def sigma(self) -> float:
        return float(np.std(self.gain, ddof=1))

    @property
    def spread(self) -> float:
        """Sigma of as many queries without families whose mean has this error; NaN for one family.

        With families the queries tell less than as many independent ones.
        """
        (error,) = standard_errors(self.gain[:, np.newaxis], self.families).tolist()
        return float(error * len(self.gain) ** 0.5)


@dataclass(frozen=True, slots=True)
class Truth:
    """What is made true: "swapped", "moved" to a mean, "harmed", or "slice lost" (its place)."""

    kind: str
    mean: float = 0.0
    place: int = 0


@dataclass(slots=True)
class Drawn:
    """Queries of k comparisons, one after the other, the members of a family side by side."""

    rows: NDArray[np.intp]
    starts: NDArray[np.intp] | None
    n_families: int
    k: int
    firsts: NDArray[np.intp] = field(init=False)
    comparison: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        starts = np.arange(len(self.rows)) if self.starts is None else self.starts
        self.firsts = starts[:: self.n_families]
        sizes = np.diff(self.firsts, append=len(self.rows))
        self.comparison = np.repeat(np.arange(self.k), sizes)

    def totals(self, values: Floats | Masks) -> Floats:
        """What each family adds up to (families x comparisons)."""
        if self.starts is not None:
            values = np.add.reduceat(values, self.starts, dtype=np.float64)
        return np.asarray(values, dtype=np.float64).reshape(self.k, self.n_families).T

    def of_comparisons(self, values: Floats | Masks) -> Floats:
        """What each comparison adds up to."""
        return np.add.reduceat(values, self.firsts, dtype=np.float64)

    def by_family(self, values: NDArray[np.float64]) -> Floats:
        """A value of each drawn family for each of its queries."""
        if self.starts is None:
            return values
        return np.repeat(values, np.diff(self.starts, append=len(self.rows)))


def draw(
    n: int, families: FamilyOf | None, *, n_families: int | None, k: int, rng: np.random.Generator
) -> Drawn:
    """`n_families` (as many as there are) of the families with replacement, k times."""
    if families is None:
        count = n_families or n
        return Drawn(rng.integers(0, n, count * k), None, count, k)
    order = np.argsort(families, kind="stable")
    _, firsts, sizes = np.unique(families[order], return_index=True, return_counts=True)
    count = n_families or len(firsts)
    chosen = rng.integers(0, len(firsts), count * k)
    lengths = sizes[chosen]
    starts = np.cumsum(lengths) - lengths
    inside = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    return Drawn(order[np.repeat(firsts[chosen], lengths) + inside], starts, count, k)


def made(
    policy: Policy,
    pair: Pair,
    truth: Truth,
    *,
    n_made: int,
    rng: np.random.Generator,
    n_families: int | None = None,
    shares: Sequence[float] = (),
) -> Iterator[Outcomes]:
    """Outcomes of so many made comparisons, in parts; with `shares` slices are drawn anew."""
    n = len(pair.gain)
    per = len(np.unique(pair.families)) if pair.families is not None else n
    width = max(1, CHUNK // round((n_families or per) * n / per))
    for at in range(0, n_made, width):
        k = min(width, n_made - at)
        drawn = draw(n, pair.families, n_families=n_families, k=k, rng=rng)
        masks = _random_masks(shares, drawn, rng) if shares else pair.slices[drawn.rows].T
        gain, guards, against = _differences(policy, pair, truth, drawn, masks, rng)
        yield outcomes_of(policy, tests_of(policy, drawn, gain, guards, masks, against))


def _random_masks(shares: Sequence[float], drawn: Drawn, rng: np.random.Generator) -> Masks:
    """Random subsets of round(share * n), for each comparison its own."""
    n = drawn.n_families
    places = np.arange(n)
    return np.stack(
        [
            rng.permuted(np.tile(places < round(share * n), (drawn.k, 1)), axis=1).ravel()
            for share in shares
        ]
    )


def _differences(
    policy: Policy, pair: Pair, truth: Truth, drawn: Drawn, masks: Masks, rng: np.random.Generator
) -> tuple[Floats, Floats, tuple[Masks, Floats] | None]:
    """Differences of the drawn queries with the truth in them: gain, guards, exact matches."""
    rows = drawn.rows
    if truth.kind == "as is":
        return pair.gain[rows], pair.guards[rows].T, _pick(pair, rows, np.zeros(len(rows)))
    if truth.kind == "swapped":
        coins = rng.integers(0, 2, drawn.n_families * drawn.k).astype(np.float64)
        is_swapped = drawn.by_family(coins)
        sign = 1 - 2 * is_swapped
        gain, guards = pair.gain[rows] * sign, pair.guards[rows].T * sign
        against = _pick(pair, rows, is_swapped)
        return gain, guards, against
    gain = pair.gain[rows] - pair.gain.mean()
    guards = (pair.guards - pair.guards.mean(axis=0))[rows].T
    against = _pick(pair, rows, None)
    if truth.kind == "harmed":
        moved = gain + (AFTER_HARM - HARMED * HARM) / (1 - HARMED)
        gain = np.where(_harmed(pair.standing[rows], drawn, rng), HARM, moved)
    elif truth.kind == "slice lost":
        gain += np.where(masks[truth.place], _to_slice(policy, pair, truth), AFTER_HARM)
    else:
        gain += truth.mean
    return gain, guards, against


def _to_slice(policy: Policy, pair: Pair, truth: Truth) -> float:
    """From the centred differences to a mean of -2 margins inside the slice."""
    inside = pair.gain[pair.slices[:, truth.place]]
    return float(-2 * policy.margin - (inside.mean() - pair.gain.mean() if inside.size else 0.0))


def _pick(
    pair: Pair, rows: NDArray[np.intp], is_swapped: Floats | None
) -> tuple[Masks, Floats] | None:
    """Exact matches: against the lexical run, centred but where arms are swapped."""
    if pair.exact is None or pair.against is None or pair.baseline_against is None:
        return None
    mask = pair.exact[rows]
    if is_swapped is None:
        return mask, pair.against[rows] - pair.against[pair.exact].mean()
    return mask, np.where(is_swapped > 0, pair.baseline_against[rows], pair.against[rows])


def _harmed(standing: Floats, drawn: Drawn, rng: np.random.Generator) -> Masks:
    """A tenth of each comparison's queries, first of those that have something to lose."""
    order = np.lexsort((rng.random(len(standing)), standing < STANDING, drawn.comparison))
    place = np.arange(len(order)) - drawn.firsts[drawn.comparison]
    sizes = np.diff(drawn.firsts, append=len(order))
    is_harmed = np.empty(len(order), dtype=np.bool_)
    is_harmed[order] = place < np.floor(HARMED * sizes + 1e-9)[drawn.comparison]
    return is_harmed


def tests_of(
    policy: Policy,
    drawn: Drawn,
    gain: Floats,
    guards: Floats,
    masks: Masks,
    against: tuple[Masks, Floats] | None = None,
) -> Tests:
    """The tests of many comparisons, by Student's t; values are those of the drawn queries."""
    everything = np.ones(len(gain), dtype=np.bool_)
    columns = [(Kind.OVERALL, gain, everything)]
    columns += [(Kind.SLICE, gain, mask) for mask in masks]
    columns += [(Kind.MEASURE, guard, everything) for guard in guards]
    if against is not None:
        columns.append((Kind.EXACT, against[1], against[0]))
    tests = []
    for _, values, mask in columns:
        is_part = mask is not everything
        sums = drawn.totals(values * mask if is_part else values)
        tests.append(_tested(sums, drawn.totals(mask), policy.alpha))
    kinds, losses = [kind for kind, _, _ in columns], _losses(drawn, gain, policy)
    return Tests(kinds, losses, *map(np.stack, zip(*tests, strict=True)))


def _tested(sums: Floats, sizes: Floats, alpha: float) -> tuple[Floats, ...]:
    """Queries, families, mean, lower bound and p of each comparison."""
    n = sizes.sum(axis=0)
    means = np.where(n > 0, sums.sum(axis=0) / np.maximum(n, 1), np.nan)
    lower = bounds_of_totals(sums, sizes, alpha=alpha)[0]
    p = np.where(sums.any(axis=0), t_test_of_totals(sums, sizes, "less"), 1.0)
    return n, np.count_nonzero(sizes, axis=0).astype(np.float64), means, lower, p


def _losses(drawn: Drawn, gain: Floats, policy: Policy) -> Losses:
    """As `much_lost`, of drawn queries."""
    n = np.diff(drawn.firsts, append=len(gain)).astype(np.float64)
    means = drawn.of_comparisons(gain) / n
    facts = tails(gain, means[drawn.comparison], by=policy.guard_rails.worst_loss)
    lost, won, mirrored = map(drawn.of_comparisons, facts)
    p = flipped_p(drawn.totals(facts[0].astype(np.float64) - facts[2]))
    return Losses(n, lost, won, mirrored, lost / n, np.where(lost > 0, p, 1.0))
