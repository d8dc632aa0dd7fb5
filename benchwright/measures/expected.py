"""Measures where results tie: the mean over every order in which they could stand.

A tie leaves its documents in any order, each order as probable as another. The mean is exact for
every measure, found in one of three ways:

- where a measure adds up what each document counts at its rank (P, R, R_cap, F, Rprec, DCG, nDCG,
  Rndcg, RBP and residuals, SDCG, INSQ, Judged, Hole, unj), by the mean weight of its ranks; for AP,
  RR, Success, bpref and binG by closed forms; for ERR, nERR, Compat and infAP by adding up over how
  many documents of each kind stand above; for IPrec and 11pt_avg by how probable it is that no
  precision is higher (McSherry & Najork, ECIR 2008, for P, R, AP, RR, DCG and F);
- counts, SetP, SetR, SetF, SetAP and utility do not depend on order;
- G, ndcg_rel, yaap, INST, BPM, NERR8 to NERR11 and Accuracy go through all orders that differ.

The last ones, infAP, IPrec and 11pt_avg refuse a query whose ties would take too long.
GMAP and GMbpref take the geometric mean of these means.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, combinations, product
from math import comb, log2, nan, prod
from types import MappingProxyType
from typing import Any, NamedTuple

from benchwright.errors import TooManyOrdersError
from benchwright.files.encodings import as_shown
from benchwright.measures.average_precision import inferred_precision, n_needed
from benchwright.measures.columns import Columns
from benchwright.measures.families import FAMILIES, AnyHits, Measure
from benchwright.measures.gain import Gain, Gains, gain_of, ideal_gain, level_ranks
from benchwright.measures.rank_biased import overlap_weights
from benchwright.measures.reciprocal_rank import ideal_err, satisfaction
from benchwright.measures.sets import multiple_of
from benchwright.measures.user_models import gains_by_grade, insq_weights, sdcg_weights
from benchwright.reading.hits import Hit

MOST_ORDERS = 20_000
"""Different orders of one query that are gone through, or terms of infAP, at most."""

MOST_STEPS = 2_000_000
"""Steps in which the highest of the precisions of one query is worked out, at most."""


class Block(NamedTuple):
    """Results of one score: the first rank, how many they are, and the grades of those with one."""

    first: int
    size: int
    grades: tuple[int, ...]

    def n_from(self, rel: int) -> int:
        """Documents of grade `rel` or more."""
        return sum([grade >= rel for grade in self.grades])

    def n_within(self, cutoff: int | None) -> int:
        """How many of the ranks are not beyond the cutoff."""
        return self.size if cutoff is None else min(max(cutoff - self.first + 1, 0), self.size)

    def ranks(self, cutoff: int | None = None) -> range:
        """The ranks that are not beyond the cutoff."""
        return range(self.first, self.first + self.n_within(cutoff))


def expected_values(
    measure: Measure, columns: Columns, rows: Sequence[int], *, top_grade: int
) -> list[float]:
    """The mean of the measure over the orders of its ties, for the queries of these rows.

    Raises
    ------
    TooManyOrdersError
        If the orders of a query's ties are too many to go through, for a measure that needs it.
    """
    needs = FAMILIES[measure.family].needs
    need = next((need for need in needs if need in ("hits", "judged_hits")), "")
    columns_taken = [columns.get(need, measure.option) for need in needs]
    if not need or measure.family in UNORDERED:
        return [
            measure.bound(top_grade)(*(column[row] for column in columns_taken)) for row in rows
        ]
    parameters = measure.parameters(top_grade)
    function = EXPECTED.get(measure.family) or _over_orders(measure)
    place = needs.index(need)
    values = []
    for row in rows:
        cells = [column[row] for column in columns_taken]
        query = columns.seen(row, need, measure.option("judged_only"))
        cells[place] = blocks_of(query)
        try:
            values.append(function(*cells, **parameters))
        except _TooManyError as error:
            qid = as_shown(query.qid)
            raise TooManyOrdersError(measure=str(measure), qid=qid) from error
    return values


class _TooManyError(Exception):
    """More orders, or terms, than are gone through."""


def blocks_of(query: AnyHits) -> list[Block]:
    """The ties that hold a hit, and each other hit as a block of its own; by rank.

    Examples
    --------
    >>> from benchwright.reading.hits import QueryHits, TieGroup
    >>> blocks_of(QueryHits("q", (Hit(1, 0), Hit(3, 2)), 4, (TieGroup(2, 3),)))
    [Block(first=1, size=1, grades=(0,)), Block(first=2, size=3, grades=(2,))]
    """
    tie_of = {rank: tie for tie in query.ties for rank in range(tie.first, tie.first + tie.size)}
    grades: dict[tuple[int, int], list[int]] = {}
    for rank, grade in query.hits:
        grades.setdefault(tie_of.get(rank, (rank, 1)), []).append(grade)
    return [Block(first, size, tuple(of)) for (first, size), of in grades.items()]


# --- what each document counts at its rank, added up ---------------------------------------------


def _n_relevant(blocks: Iterable[Block], rel: int, cutoff: int | None) -> float:
    """Relevant documents expected down to the cutoff."""
    return sum([b.n_from(rel) * b.n_within(cutoff) / b.size for b in blocks])


def _precision(blocks: Sequence[Block], *, cutoff: int, rel: int) -> float:
    return _n_relevant(blocks, rel, cutoff) / cutoff


def _recall(blocks: Sequence[Block], n_relevant: int, *, cutoff: int, rel: int) -> float:
    return _n_relevant(blocks, rel, cutoff) / n_relevant if n_relevant else 0.0


def _capped_recall(blocks: Sequence[Block], n_relevant: int, *, cutoff: int, rel: int) -> float:
    return _n_relevant(blocks, rel, cutoff) / min(cutoff, n_relevant) if n_relevant else 0.0


def _f(blocks: Sequence[Block], n_relevant: int, *, cutoff: int, beta: float, rel: int) -> float:
    return (1 + beta) * _n_relevant(blocks, rel, cutoff) / (beta * n_relevant + cutoff)


def _r_precision(
    blocks: Sequence[Block], n_relevant: int, *, multiple: float = 1.0, rel: int
) -> float:
    depth = multiple_of(n_relevant, multiple)
    return _n_relevant(blocks, rel, depth) / depth if depth else 0.0


def _dcg(
    blocks: Sequence[Block],
    *,
    cutoff: int | None = None,
    dcg: Gain = "log2",
    gains: Gains | None = None,
) -> float:
    gain = gain_of(dcg, gains)
    return sum(
        [
            sum(map(gain, b.grades))
            * sum([1 / log2(rank + 1) for rank in b.ranks(cutoff)])
            / b.size
            for b in blocks
        ],
        start=0.0,
    )


def _ndcg(
    blocks: Sequence[Block],
    ideal: Sequence[int],
    *,
    cutoff: int | None = None,
    dcg: Gain = "log2",
    gains: Gains | None = None,
) -> float:
    best = ideal_gain(ideal, cutoff=cutoff, dcg=dcg, gains=gains)
    return _dcg(blocks, cutoff=cutoff, dcg=dcg, gains=gains) / best if best else 0.0


def _ndcg_at_levels(
    blocks: Sequence[Block],
    ideal: Sequence[int],
    n_retrieved: int,
    n_relevant: int,
    *,
    gains: Gains | None,
    rel: int,
) -> float:
    ranks = level_ranks(ideal, n_retrieved, gains=gains) if n_relevant else []
    values = [_ndcg(blocks, ideal, cutoff=rank, gains=gains) for rank in ranks]
    return sum(values) / len(values) if values else 0.0


def _mean_weight(block: Block, p: float, cutoff: int | None) -> float:
    return sum([p ** (rank - 1) for rank in block.ranks(cutoff)]) / block.size


def _rbp(
    blocks: Sequence[Block], *, top_grade: int, p: float, rel: int | None, cutoff: int | None
) -> float:
    def worth(grade: int) -> float:
        return max(grade, 0) / top_grade if rel is None else float(grade >= rel)

    counted = (sum(map(worth, b.grades)) * _mean_weight(b, p, cutoff) for b in blocks)
    return (1 - p) * sum(counted)


def _scaled_gain(
    blocks: Sequence[Block], weights: Sequence[float], *, top_grade: int, min_rel: int
) -> float:
    """The gain of a document read where rank i is read in proportion to a weight."""
    gain_of = gains_by_grade(top_grade, min_rel)
    gain = 0.0
    for block in blocks:
        mean = sum(weights[block.first - 1 : block.first - 1 + block.size]) / block.size
        gain += sum(map(gain_of, block.grades)) * mean
    return gain / sum(weights)


def _sdcg(blocks: Sequence[Block], *, top_grade: int, cutoff: int, min_rel: int) -> float:
    return _scaled_gain(blocks, sdcg_weights(cutoff), top_grade=top_grade, min_rel=min_rel)


def _insq(blocks: Sequence[Block], *, top_grade: int, T: float, min_rel: int) -> float:
    return _scaled_gain(blocks, insq_weights(T), top_grade=top_grade, min_rel=min_rel)


def _trec_rbp(blocks: Sequence[Block], top_of_query: int, *, p: float) -> float:
    return _rbp(blocks, top_grade=max(top_of_query, 1), p=p, rel=None, cutoff=None)


def _residual(blocks: Sequence[Block], *, p: float, cutoff: int | None = None) -> float:
    judged = sum([b.n_from(0) * _mean_weight(b, p, cutoff) for b in blocks])
    return max(1 - (1 - p) * judged, 0.0)


def _trec_residual(blocks: Sequence[Block], n_retrieved: int, *, p: float) -> float:
    n_judged = sum([b.n_from(0) for b in blocks])
    return _residual(blocks, p=p) if n_judged < n_retrieved else 0.0


def _judged(blocks: Sequence[Block], n_retrieved: int, *, cutoff: int | None) -> float:
    n_seen = n_retrieved if cutoff is None else min(cutoff, n_retrieved)
    return _n_relevant(blocks, 0, cutoff) / n_seen if n_seen else nan


def _hole(blocks: Sequence[Block], n_retrieved: int, *, cutoff: int | None) -> float:
    return 1 - _judged(blocks, n_retrieved, cutoff=cutoff)


def _unjudged(blocks: Sequence[Block], n_retrieved: int, *, cutoff: int) -> float:
    return (min(cutoff, n_retrieved) - _n_relevant(blocks, 0, cutoff)) / cutoff


# --- closed forms --------------------------------------------------------------------------------


def _average_precision(
    blocks: Sequence[Block], n_relevant: int, *, rel: int, cutoff: int | None = None
) -> float:
    total, n_above = 0.0, 0
    for b in blocks:
        n_tied = b.n_from(rel)
        # Of the others in the tie, each is above with the same probability.
        share = (n_tied - 1) / max(b.size - 1, 1)
        precisions = sum(
            [(n_above + 1 + i * share) / rank for i, rank in enumerate(b.ranks(cutoff))]
        )
        total += n_tied / b.size * precisions
        n_above += n_tied
    return total / n_relevant if n_relevant else 0.0


def _reciprocal_rank(blocks: Sequence[Block], *, rel: int, cutoff: int | None) -> float:
    for b in blocks:
        if n_tied := b.n_from(rel):
            return _first_of(b, n_tied, cutoff)
    return 0.0


def _first_of(block: Block, n_tied: int, cutoff: int | None) -> float:
    """1 / rank of the first of `n_tied` documents of the block, expected."""
    expected, none_so_far = 0.0, 1.0
    for i, rank in enumerate(block.ranks(cutoff)):
        here = n_tied / (block.size - i)
        expected += none_so_far * here / rank
        none_so_far *= 1 - here
        if none_so_far <= 0:
            break
    return expected


def _success(blocks: Sequence[Block], *, rel: int, cutoff: int) -> float:
    missed = 1.0
    for b in blocks:
        n_tied = b.n_from(rel)
        missed *= comb(b.size - b.n_within(cutoff), n_tied) / comb(b.size, n_tied)
    return 1.0 - missed


def _bpref(blocks: Sequence[Block], n_relevant: int, n_nonrelevant: int, *, rel: int) -> float:
    if not n_relevant:
        return 0.0
    most, preferred, n_above = min(n_relevant, n_nonrelevant), 0.0, 0
    for b in blocks:
        n_tied, n_other = b.n_from(rel), b.n_from(0) - b.n_from(rel)
        # A relevant document has from none to all of the others above it, each as probable.
        lost = [min(n_above + n, n_relevant) / most for n in range(n_other + 1) if n_above + n]
        preferred += n_tied * (1 - sum(lost) / (n_other + 1))
        n_above += n_other
    return preferred / n_relevant


def _binary_g(blocks: Sequence[Block], n_relevant: int, *, rel: int) -> float:
    worth, n_found = 0.0, 0
    for b in blocks:
        n_tied, n_above = b.n_from(rel), b.first - 1 - n_found
        n_other = b.size - n_tied
        discounts = [1 / log2(2 + n_above + n) for n in range(n_other + 1)]
        worth += n_tied * sum(discounts) / (n_other + 1)
        n_found += n_tied
    return worth / n_relevant if n_relevant else 0.0


# --- added up over what may stand above ----------------------------------------------------------


def drawn(size: int, n_special: int) -> Iterator[list[float]]:
    """For 0, 1, … documents drawn of `size`: how probable 0, 1, … of the special ones are drawn."""
    probable = [1.0, *[0.0] * n_special]
    for i in range(size):
        yield probable
        n_left = size - i
        probable = [
            here * (1 - (n_special - n) / n_left)
            + (probable[n - 1] * (n_special - n + 1) / n_left if n else 0.0)
            for n, here in enumerate(probable)
        ]
    yield probable


def _err(blocks: Sequence[Block], *, top_grade: int, cutoff: int | None) -> float:
    expected, still_reading = 0.0, 1.0
    for b in blocks:
        satisfied = [satisfaction(grade, top_grade) for grade in b.grades if grade > 0]
        unmoved = _mean_products([1 - share for share in satisfied])
        # How probable a reader of the block is still reading after each of its ranks.
        after = (_dot(probable, unmoved) for probable in drawn(b.size, len(satisfied)))
        before = next(after)
        for rank, now in zip(b.ranks(cutoff), after, strict=False):
            expected += still_reading * (before - now) / rank
            before = now
        still_reading *= unmoved[-1]
    return expected


def _mean_products(values: Sequence[float]) -> list[float]:
    """The mean product of 0, 1, … of the values, over every choice of so many."""
    sums = [1.0]
    for value in values:
        sums = [a + b * value for a, b in zip([*sums, 0.0], [0.0, *sums], strict=True)]
    return [total / comb(len(values), n) for n, total in enumerate(sums)]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum([a * b for a, b in zip(left, right, strict=True)])


def _nerr(
    blocks: Sequence[Block], ideal: Sequence[int], *, top_grade: int, cutoff: int | None
) -> float:
    best = ideal_err(ideal, top_grade=top_grade, cutoff=cutoff)
    return _err(blocks, top_grade=top_grade, cutoff=cutoff) / best if best else 0.0


def _compatibility(
    blocks: Sequence[Block], ideal: Sequence[int], n_retrieved: int, *, p: float, normalize: bool
) -> float:
    if not ideal:
        return 0.0
    depth = max(n_retrieved, len(ideal))
    weights = overlap_weights(depth, p)
    place = {grade: ideal.index(grade) for grade in set(ideal)}
    overlap = 0.0
    for b in blocks:
        for grade, n_tied in Counter(grade for grade in b.grades if grade > 0).items():
            overlap += _overlap_of_tie(b, n_tied, place[grade], weights)
            place[grade] += n_tied
    if normalize:
        return overlap / sum([weights[depth] - weights[i] for i in range(len(ideal))])
    return overlap / ((1 - p**depth) / (1 - p))


def _overlap_of_tie(block: Block, n_tied: int, place: int, weights: Sequence[float]) -> float:
    """The overlap of `n_tied` documents of one grade with their places in the ideal ranking."""
    overlap = 0.0
    for rank, probable in zip(block.ranks(), drawn(block.size, n_tied), strict=False):
        n_left = block.size - (rank - block.first)
        for n, share in enumerate(probable[:n_tied]):
            meeting = max(rank, place + n + 1)
            overlap += share * (n_tied - n) / n_left * (weights[-1] - weights[meeting - 1])
    return overlap


def _inferred_ap(blocks: Sequence[Block], n_relevant: int, *, rel: int) -> float:
    inferred, n_pooled, n_judged, n_found = 0.0, 0, 0, 0
    for b in blocks:
        if b.n_from(rel):
            inferred += _inferred_of_tie(b, rel, n_pooled, n_judged, n_found)
        n_pooled += len(b.grades)
        n_judged += b.n_from(0)
        n_found += b.n_from(rel)
    return inferred / n_relevant if n_relevant else 0.0


def _inferred_of_tie(block: Block, rel: int, n_pooled: int, n_judged: int, n_found: int) -> float:
    n_tied = block.n_from(rel)
    n_other = block.n_from(0) - n_tied
    n_open = block.size - n_tied - n_other  # in the pool and not drawn, or in no pool
    pooled_share = (len(block.grades) - n_tied - n_other) / max(n_open, 1)
    if block.size * n_tied * (n_other + 1) > MOST_ORDERS:
        raise _TooManyError
    inferred = 0.0
    for i, rank in enumerate(block.ranks()):
        for n_above, other in product(range(n_tied), range(n_other + 1)):
            n_rest = i - n_above - other
            if 0 <= n_rest <= n_open:
                ways = comb(n_tied - 1, n_above) * comb(n_other, other) * comb(n_open, n_rest)
                pooled = n_pooled + n_above + other + n_rest * pooled_share
                above = (pooled, n_found + n_above, n_judged + n_above + other)
                share = ways / comb(block.size - 1, i)
                inferred += n_tied / block.size * share * inferred_precision(rank, *above)
    return inferred


# --- the highest of several precisions ------------------------------------------------------------


def _interpolated(blocks: Sequence[Block], n_relevant: int, *, recall: float, rel: int) -> float:
    return _highest_precision(blocks, n_needed(n_relevant, recall), rel)


def _mean_interpolated(
    blocks: Sequence[Block], n_relevant: int, *, at: Sequence[float], rel: int
) -> float:
    times = Counter(n_needed(n_relevant, recall) for recall in at)
    values = [n * _highest_precision(blocks, needed, rel) for needed, n in times.items()]
    return sum(values) / len(at)


class _Tie(NamedTuple):
    """A block, the relevant documents in it and above it, and how many are needed to count."""

    block: Block
    n_tied: int
    n_above: int
    n_needed: int

    def precisions(self) -> list[list[float]]:
        """For each relevant document that counts, the precision at every rank it can have."""
        counted = range(max(self.n_needed - self.n_above, 1), self.n_tied + 1)
        n_other = self.block.size - self.n_tied
        return [
            [(self.n_above + n) / rank for rank in self.block.ranks()[n - 1 : n_other + n]]
            for n in counted
        ]

    def share_up_to(self, highest: float) -> float:
        """How probable it is that none of its precisions is above this."""
        probable = [1.0, *[0.0] * self.n_tied]
        for i, rank in enumerate(self.block.ranks()):
            n_left = self.block.size - i
            for n in range(self.n_tied, -1, -1):
                n_found = self.n_above + n
                may_stand = n > 0 and (n_found < self.n_needed or n_found / rank <= highest)
                here = probable[n - 1] * (self.n_tied - n + 1) / n_left if may_stand else 0.0
                probable[n] = probable[n] * (1 - (self.n_tied - n) / n_left) + here
        return probable[-1]


def _highest_precision(blocks: Sequence[Block], needed: int, rel: int) -> float:
    """The highest precision from the document that is needed on."""
    n_above = accumulate((b.n_from(rel) for b in blocks), initial=0)
    ties = [_Tie(b, b.n_from(rel), n, needed) for b, n in zip(blocks, n_above, strict=False)]
    possible = [(tie, n_found) for tie in ties if (n_found := tie.precisions())]
    # At the last rank that it can have, a document still has this precision.
    surely = max((of[-1] for _, n_found in possible for of in n_found), default=0.0)
    open_ties = [
        (tie, n_found) for tie, n_found in possible if max(of[0] for of in n_found) > surely
    ]
    steps = sorted({p for _, n_found in open_ties for of in n_found for p in of if p > surely})
    if len(steps) * sum(t.block.size * (t.n_tied + 1) for t, _ in open_ties) > MOST_STEPS:
        raise _TooManyError
    expected, below = 0.0, 0.0
    for highest in [surely, *steps]:
        up_to = prod(tie.share_up_to(highest) for tie, _ in open_ties)
        expected += highest * (up_to - below)
        below = up_to
    return expected


# --- through every order -------------------------------------------------------------------------


def _over_orders(measure: Measure) -> Callable[..., float]:
    """The mean of the measure's own function over the different orders."""
    function = FAMILIES[measure.family].function

    def alike(grade: int) -> int | None:
        """One grade for all that the measure does not tell apart; None for no grade."""
        if measure.option("rel"):
            return measure.rel if grade >= measure.rel else None
        return grade if grade > 0 or (grade == 0 and measure.option("gains")) else None

    def mean(blocks: Sequence[Block], *others: Any, **parameters: Any) -> float:
        values = [function(hits, *others, **parameters) for hits in orders(blocks, alike)]
        return sum(values) / len(values)

    return mean


def orders(blocks: Sequence[Block], alike: Callable[[int], int | None]) -> Iterator[list[Hit]]:
    """The different rankings, each as probable, of what `alike` leaves of the grades."""
    blocks_kept = [
        b._replace(grades=tuple(kind for grade in b.grades if (kind := alike(grade)) is not None))
        for b in blocks
    ]
    if prod(_n_orders(block) for block in blocks_kept) > MOST_ORDERS:
        raise _TooManyError
    for chosen in product(*(list(_orders_of(block)) for block in blocks_kept)):
        yield [hit for hits in chosen for hit in sorted(hits)]


def _n_orders(block: Block) -> int:
    counts = Counter(block.grades).values()
    sizes_left = accumulate(counts, lambda size, n: size - n, initial=block.size)
    return prod(comb(size, n) for size, n in zip(sizes_left, counts, strict=False))


def _orders_of(block: Block) -> Iterator[list[Hit]]:
    """Each way to give the block's ranks to its grades."""

    def placed(counts: list[tuple[int, int]], free: tuple[int, ...]) -> Iterator[list[Hit]]:
        if not counts:
            yield []
            return
        (grade, n), rest = counts[0], counts[1:]
        for ranks in combinations(free, n):
            ranks_left = tuple(rank for rank in free if rank not in ranks)
            for others in placed(rest, ranks_left):
                yield [*(Hit(rank, grade) for rank in ranks), *others]

    return placed(list(Counter(block.grades).items()), tuple(block.ranks()))


UNORDERED = frozenset(
    (
        *("SetP", "SetR", "SetF", "SetAP", "utility"),
        *("NumRet", "NumRel", "NumRelRet", "NumNonrelRet", "NumUnjudgedRet", "NumQ"),
    )
)
"""Families whose value is the same in every order."""

EXPECTED: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        "nDCG": _ndcg,
        "DCG": _dcg,
        "AP": _average_precision,
        "GMAP": _average_precision,
        "RR": _reciprocal_rank,
        "P": _precision,
        "R": _recall,
        "R_cap": _capped_recall,
        "F": _f,
        "Success": _success,
        "Rprec": _r_precision,
        "Rprec_mult": _r_precision,
        "bpref": _bpref,
        "GMbpref": _bpref,
        "infAP": _inferred_ap,
        "RBP": _rbp,
        "RBP_res": _residual,
        "rbp": _trec_rbp,
        "rbp_resid": _trec_residual,
        "SDCG": _sdcg,
        "INSQ": _insq,
        "ERR": _err,
        "nERR": _nerr,
        "Compat": _compatibility,
        "binG": _binary_g,
        "IPrec": _interpolated,
        "11pt_avg": _mean_interpolated,
        "Rndcg": _ndcg_at_levels,
        "Judged": _judged,
        "Hole": _hole,
        "unj": _unjudged,
    }
)
"""Families whose mean is worked out; the others go through the orders."""
