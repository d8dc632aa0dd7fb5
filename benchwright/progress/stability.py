"""Whether more labels would still turn the order of the pooled runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchwright.statistics.descriptive import ROUNDING, kendall_tau

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CUTOFF = 10
DRAWS = 200


@dataclass(frozen=True, slots=True)
class LabelledEntry:
    """A document of a query with its grade, and its rank in each pooled run that has it."""

    query: int
    grade: int
    ranks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Stability:
    """`scores` are mean nDCG@10 on all labels; tau is that of the draws' orders with this one.

    `tau`, `low` and `high` are the mean and the bounds of the middle 95 % of the draws.
    """

    scores: Mapping[str, float]
    tau: float
    low: float
    high: float
    n_draws: int


def ranking_stability(
    entries: Sequence[LabelledEntry],
    runs: Sequence[str],
    *,
    rng: "np.random.Generator",
    draws: int = DRAWS,
) -> Stability | None:
    """How far the order of the runs depends on which documents happen to be labelled.

    A draw takes, of each query's labels, as many with replacement as there are: about 37 % of its
    documents lose their label and count as unjudged, which is as not relevant. The runs are scored
    again on what is left, and Kendall's tau compares their order with that on all labels. None for
    fewer than two runs, without labels, or where all runs score the same.

    Notes
    -----
    nDCG@10 as trec_eval has it: the gain is the grade, the discount log2(rank + 1), a query without
    a relevant label scores 0. Only ranks within a run's part of the pool are known; deeper ones
    count as unjudged. Tau is 0 for a draw in which all runs score the same.
    """
    import numpy as np

    if len(runs) < 2 or not entries:
        return None
    table = _Table.of(entries, runs)
    everything = np.ones(len(entries), dtype=bool)
    scores = table.scores(everything)
    if np.ptp(scores) < ROUNDING:
        return None
    drawn = [kendall_tau(scores, table.scores(table.drawn(rng))) for _ in range(draws)]
    taus = np.nan_to_num(drawn)
    low, high = np.quantile(taus, [0.025, 0.975])
    named = {run: float(score) for run, score in zip(runs, scores, strict=True)}
    return Stability(named, float(taus.mean()), float(low), float(high), draws)


@dataclass(frozen=True)
class _Table:
    """The labels as arrays, those of a query next to each other, its best grades first."""

    gains: "Floats"
    starts: "NDArray[np.int64]"  # by entry: where the labels of its query begin
    sizes: "NDArray[np.int64]"  # by entry: how many its query has
    queries: "NDArray[np.int64]"
    n_queries: int
    hits: "NDArray[np.int64]"  # (run, entry) of every rank within the cutoff
    discounts: "Floats"
    n_runs: int

    @classmethod
    def of(cls, entries: Sequence[LabelledEntry], runs: Sequence[str]) -> "_Table":
        import numpy as np

        ordered = sorted(entries, key=lambda entry: (entry.query, -entry.grade))
        _, starts, queries, counts = np.unique(
            [entry.query for entry in ordered],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        places = {run: place for place, run in enumerate(runs)}
        hits = [
            (places[run], place, rank)
            for place, entry in enumerate(ordered)
            for run, rank in entry.ranks.items()
            if rank <= CUTOFF and run in places
        ]
        cells = np.array(hits, dtype=np.int64).reshape(-1, 3)
        return cls(
            gains=np.array([max(entry.grade, 0) for entry in ordered], dtype=float),
            starts=starts[queries],
            sizes=counts[queries],
            queries=queries,
            n_queries=len(counts),
            hits=cells[:, :2],
            discounts=1 / np.log2(cells[:, 2] + 1),
            n_runs=len(runs),
        )

    def drawn(self, rng: "np.random.Generator") -> "NDArray[np.bool_]":
        """Which labels a draw with replacement inside each query has at least once."""
        import numpy as np

        chosen = self.starts + (rng.random(len(self.gains)) * self.sizes).astype(np.int64)
        is_kept = np.zeros(len(self.gains), dtype=bool)
        is_kept[chosen] = True
        return is_kept

    def scores(self, is_kept: "NDArray[np.bool_]") -> "Floats":
        """Mean nDCG of each run, where only the kept labels are there."""
        import numpy as np

        gains = np.where(is_kept, self.gains, 0.0)
        before: NDArray[np.int64] = np.cumsum(is_kept) - is_kept
        rank = before - before[self.starts] + 1
        within = is_kept & (rank <= CUTOFF)
        ideal = _sums(self.queries, np.where(within, gains / np.log2(rank + 1), 0), self.n_queries)
        run, entry = self.hits[:, 0], self.hits[:, 1]
        cells = run * self.n_queries + self.queries[entry]
        sums = _sums(cells, gains[entry] * self.discounts, self.n_runs * self.n_queries)
        shares = sums.reshape(self.n_runs, -1) / np.where(ideal > 0, ideal, 1.0)
        means: Floats = shares.mean(axis=1)
        return means


def _sums(cells: "NDArray[np.int64]", values: "Floats", n: int) -> Any:
    import numpy as np

    return np.bincount(cells, weights=values, minlength=n)
