"""What a pool would be like: its runs, how alike they are, and how a new system would fare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchwright.pools.columns import PoolTable
from benchwright.pools.recipe import CUTOFF, DEEPEST

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Floats = npt.NDArray[np.float64]

PERSISTENCE = 0.9
TOO_ALIKE = 0.7
FEW_RUNS = 3
# Eight of ten shares of 1/10 sum up to a little less than 0.8.
ROUNDING = 1e-9
# What names of systems say that rank by words; nothing else tells.
LEXICAL = ("bm25", "tfidf", "tf-idf", "lexical", "lucene", "anserini", "indri", "dirichlet", "dfr")
# Robust 2003, 17 systems: systems x depth, documents a query, Judged@10 of systems left out.
MEASURED_ELSEWHERE = (
    (2, 10, 16, 0.50),
    (3, 10, 22, 0.57),
    (3, 20, 41, 0.70),
    (5, 10, 29, 0.64),
    (5, 20, 56, 0.76),
    (5, 50, 132, 0.86),
    (8, 20, 75, 0.82),
    (12, 50, 217, 0.92),
)


@dataclass(frozen=True, slots=True)
class RunShare:
    """A run in a pool: its documents, those that no other run has, and what it would lack alone.

    `judged_left_out` is the share of its first ten documents, however deep the pool is, that would
    be in the pool without it, averaged over its queries: NaN where it retrieved nothing.
    """

    run: str
    n: int
    n_unique: int
    judged_left_out: float


@dataclass(frozen=True, slots=True)
class Alike:
    """How alike two runs are.

    `rbo` is the mean RBO at 10 over the queries that both answer, NaN without one; `n_shared`
    counts the pool's documents that both have, `jaccard` is their share of what either has.
    """

    run_a: str
    run_b: str
    rbo: float
    n_shared: int
    jaccard: float


@dataclass(frozen=True, slots=True)
class Preview:
    """A pool before it is built; shares are NaN where there is nothing to take them of."""

    n_entries: int
    n_queries: int
    smallest_query: int
    median_query: float
    largest_query: int
    n_by_origin: dict[str, int]
    runs: tuple[RunShare, ...]
    alike: tuple[Alike, ...]
    mean_rbo: float
    judged_new: float
    judged_new_least: float

    @property
    def warnings(self) -> list[str]:
        return list(_warnings(self))


class RunWatcher:
    """Takes the rows of a pool's runs as it is built, for what a preview says of them."""

    def __init__(self, run_keys: Sequence[str]) -> None:
        import numpy as np

        n_runs = len(run_keys)
        self.run_keys = sorted(run_keys)
        self.n = np.zeros(n_runs, np.int64)
        self.n_unique = np.zeros(n_runs, np.int64)
        self.judged: Floats = np.zeros(n_runs)
        self.n_answered = np.zeros(n_runs, np.int64)
        self.rbo: Floats = np.zeros((n_runs, n_runs))
        self.n_compared = np.zeros((n_runs, n_runs), np.int64)
        self.n_shared = np.zeros((n_runs, n_runs), np.int64)

    def __call__(self, rows: pl.DataFrame) -> None:
        import numpy as np
        import polars as pl

        n_runs = len(self.run_keys)
        is_member = pl.col("n_runs").is_not_null()
        members = rows.filter(is_member & pl.col("is_reached"))
        self.n += np.bincount(members["run"], minlength=n_runs)
        alone = members.filter(pl.col("n_runs") == 1)
        self.n_unique += np.bincount(alone["run"], minlength=n_runs)
        top = rows.filter(pl.col("rank") <= CUTOFF)
        # A member stays without a run that others reach too, or none did: a random document.
        n_others = pl.col("n_runs") - pl.col("is_reached").cast(pl.Int32)
        is_kept = (n_others > 0) | (pl.col("n_runs") == 0) | pl.col("stays")
        shares = top.group_by("run", "qid").agg(share=is_kept.fill_null(False).mean())
        self.n_answered += np.bincount(shares["run"], minlength=n_runs)
        self.judged += np.bincount(shares["run"], shares["share"], minlength=n_runs)
        for _, of_query in top.sort("qid", "docid").group_by("qid", maintain_order=True):
            self._compare(of_query)
        for _, of_query in members.sort("qid").group_by("qid", maintain_order=True):
            self._count_shared(of_query)

    def _compare(self, top: pl.DataFrame) -> None:
        import numpy as np

        documents = top["docid"].rank("dense").to_numpy().astype(np.int64) - 1
        ranks = np.full((documents.max() + 1, len(self.run_keys)), CUTOFF + 1, np.int8)
        ranks[documents, top["run"].to_numpy()] = top["rank"].to_numpy()
        rbo = rbo_matrix(ranks)
        self.rbo += np.nan_to_num(rbo)
        self.n_compared += ~np.isnan(rbo)

    def _count_shared(self, members: pl.DataFrame) -> None:
        import numpy as np

        documents = members["docid"].rank("dense").to_numpy().astype(np.int64) - 1
        is_in = np.zeros((documents.max() + 1, len(self.run_keys)), np.float32)
        is_in[documents, members["run"].to_numpy()] = 1.0
        self.n_shared += (is_in.T @ is_in).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Depths:
    """What a depth pool of the same runs would be at each depth, from 1 on.

    `n_documents[d - 1]` counts what the first d of the runs bring in, without what is in the pool
    at any depth: judged before, added by hand, drawn at random. `judged[run][d - 1]` is the share
    of the run's first ten that the pool of the others has: NaN where it retrieved nothing.
    """

    n_documents: tuple[int, ...]
    judged: dict[str, tuple[float, ...]]

    @property
    def judged_new(self) -> tuple[float, ...]:
        """The share of a new system's first ten at each depth: the mean over the runs."""
        return tuple(map(_mean, zip(*self.judged.values(), strict=True)))

    def least_alike(self, depth: int) -> str | None:
        """The run that fares worst without itself at this depth, the first by name of several."""
        shares = {run: of[depth - 1] for run, of in self.judged.items() if of[0] == of[0]}
        return min(shares, key=lambda run: (shares[run], run), default=None)


class DepthWatcher:
    """Takes the rows of a pool's runs as it is built, for what it would be at other depths."""

    def __init__(self, run_keys: Sequence[str], deepest: int = DEEPEST) -> None:
        import numpy as np

        self.run_keys = sorted(run_keys)
        self.deepest = deepest
        self.n_documents = np.zeros(deepest, np.int64)
        self.judged: Floats = np.zeros((len(self.run_keys), deepest))
        self.n_answered = np.zeros(len(self.run_keys), np.int64)

    def __call__(self, rows: pl.DataFrame) -> None:
        import numpy as np
        import polars as pl

        pair = ["qid", "docid"]
        is_held = pl.col("stays").fill_null(False) | (pl.col("n_runs") == 0).fill_null(False)
        rows = rows.filter(pl.col("rank") <= self.deepest).sort("rank", "run")
        # The two best ranks of a document: the second is what is left of it without the first run.
        best = rows.group_by(pair, maintain_order=True).agg(
            first="rank",
            owner=pl.col("run").first(),
            is_held=is_held.first(),
        )
        best = best.with_columns(
            pl.col("first").list.first(), second=pl.col("first").list.get(1, null_on_oob=True)
        )
        brought = best.filter(~pl.col("is_held"))["first"]
        self.n_documents += np.bincount(brought - 1, minlength=self.deepest)
        top = rows.filter(pl.col("rank") <= CUTOFF).join(best, on=pair)
        is_own = pl.col("run") == pl.col("owner")
        of_others = pl.when(is_own).then(pl.col("second")).otherwise(pl.col("first"))
        top = top.with_columns(
            n_top=pl.len().over("run", "qid"),
            depth=pl.when("is_held").then(1).otherwise(of_others),
        )
        self.n_answered += np.bincount(
            top.select("run", "qid").unique()["run"], minlength=len(self.run_keys)
        )
        judged_rows = top.filter(pl.col("depth").is_not_null())
        np.add.at(
            self.judged,
            (judged_rows["run"].to_numpy(), judged_rows["depth"] - 1),
            1 / judged_rows["n_top"].to_numpy(),
        )

    def depths(self) -> Depths:
        """Return what was seen so far."""
        import numpy as np

        with np.errstate(invalid="ignore"):
            shares = self.judged.cumsum(axis=1) / self.n_answered[:, None]
        return Depths(
            tuple(self.n_documents.cumsum().tolist()),
            dict(zip(self.run_keys, map(tuple, shares.tolist()), strict=True)),
        )


def shallowest(shares: Sequence[float], enough: float) -> int | None:
    """Return the first depth whose share is enough, None where none is.

    >>> shallowest([0.2, 0.5, 0.8, 0.9], 0.8), shallowest([0.2], 0.8)
    (3, None)
    """
    least = enough - ROUNDING
    return next((depth for depth, share in enumerate(shares, start=1) if share >= least), None)


def rbo_matrix(ranks: npt.NDArray[np.int8]) -> Floats:
    """Return the rank-biased overlap at 10 of each two runs for one query; NaN where one is empty.

    Parameters
    ----------
    ranks
        Documents x runs, from 1; above 10 where a run does not have the document that high.

    Notes
    -----
    RBO_ext of Webber, Moffat & Zobel, TOIS 28(4), 2010, with p = 0.9, cut at rank 10; agreement at
    a depth is 2 |A and B| / (|A| + |B|), so that a short list is held against what it has.
    """
    import numpy as np

    overlap = np.zeros((ranks.shape[1], ranks.shape[1]))
    for depth in range(1, CUTOFF + 1):
        is_in = (ranks <= depth).astype(np.float64)
        sizes = is_in.sum(axis=0)
        with np.errstate(invalid="ignore"):
            agreement = 2 * (is_in.T @ is_in) / (sizes[:, None] + sizes[None, :])
        weight = (1 - PERSISTENCE) * PERSISTENCE ** (depth - 1)
        if depth == CUTOFF:
            weight += PERSISTENCE**CUTOFF
        overlap += weight * agreement
    is_empty = (ranks <= CUTOFF).sum(axis=0) == 0
    overlap[is_empty, :] = overlap[:, is_empty] = np.nan
    return overlap


def preview(table: PoolTable, watcher: RunWatcher) -> Preview:
    """Return what to know of a pool that was built under the watcher's eyes."""
    sizes = table.frame.group_by("qid").len()["len"]
    origins = dict(table.frame.group_by("origin").len().sort("origin").iter_rows())
    runs = tuple(_run_shares(watcher))
    alike = tuple(_alike(watcher))
    left_out = [run.judged_left_out for run in runs]
    return Preview(
        n_entries=len(table.frame),
        n_queries=len(sizes),
        smallest_query=_whole(sizes.min()),
        median_query=sorted_median(sizes.to_list()),
        largest_query=_whole(sizes.max()),
        n_by_origin=origins,
        runs=runs,
        alike=alike,
        mean_rbo=_mean([pair.rbo for pair in alike]),
        judged_new=_mean(left_out),
        judged_new_least=min((share for share in left_out if share == share), default=_NAN),
    )


_NAN = float("nan")


def _run_shares(watcher: RunWatcher) -> Iterator[RunShare]:
    for number, run in enumerate(watcher.run_keys):
        n_answered = int(watcher.n_answered[number])
        share = float(watcher.judged[number]) / n_answered if n_answered else _NAN
        yield RunShare(run, int(watcher.n[number]), int(watcher.n_unique[number]), share)


def _alike(watcher: RunWatcher) -> Iterator[Alike]:
    for a, run_a in enumerate(watcher.run_keys):
        for b in range(a + 1, len(watcher.run_keys)):
            n_compared, n_shared = int(watcher.n_compared[a, b]), int(watcher.n_shared[a, b])
            n_either = int(watcher.n[a] + watcher.n[b]) - n_shared
            yield Alike(
                run_a,
                watcher.run_keys[b],
                rbo=float(watcher.rbo[a, b]) / n_compared if n_compared else _NAN,
                n_shared=n_shared,
                jaccard=n_shared / n_either if n_either else 0.0,
            )


def _mean(values: Sequence[float]) -> float:
    known_values = [value for value in values if value == value]
    return sum(known_values) / len(known_values) if known_values else _NAN


def sorted_median(values: list[int]) -> float:
    from statistics import median

    return float(median(values))


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def measured_elsewhere(n_runs: int, depth: int) -> tuple[int, int, int, float]:
    """Return the line of Robust 2003 that is nearest: systems, depth, documents, Judged@10."""
    return min(
        MEASURED_ELSEWHERE,
        key=lambda line: abs(line[0] - n_runs) / n_runs + abs(line[1] - depth) / max(depth, 1),
    )


def looks_lexical(run: str) -> bool:
    """Return whether a run's name says that it ranks by words.

    >>> looks_lexical("BM25-title"), looks_lexical("dense")
    (True, False)
    """
    return any(word in run.lower() for word in LEXICAL)


def _warnings(preview: Preview) -> Iterator[str]:
    names = [run.run for run in preview.runs]
    if not names:
        return
    same = [pair for pair in preview.alike if pair.rbo >= 1 - 1e-9]
    for pair in same:
        yield (
            f"{pair.run_a} and {pair.run_b} have the same first ten: the same ranking under two "
            "names counts as one system, and each left out alone looks harmless."
        )
    # Of runs that are the same all but the first have an earlier one.
    n_systems = len(names) - len({pair.run_b for pair in same})
    if n_systems < FEW_RUNS:
        noun = "system" if same else "run"
        yield (
            f"{f'One {noun}' if n_systems == 1 else f'Two {noun}s'}: a new system would find more "
            "than a third of its first ten documents unjudged. Three different systems are the "
            "least."
        )
    if preview.mean_rbo >= TOO_ALIKE:
        yield (
            f"The runs are much alike (mean RBO@10 {preview.mean_rbo:.2f}, {TOO_ALIKE} or more): "
            "another of their kind adds little to the pool. Add a system that works otherwise."
        )
    if not any(map(looks_lexical, names)):
        yield (
            "No run's name says that it ranks by words (BM25 or the like). Without one, what words "
            "find stays unjudged."
        )
