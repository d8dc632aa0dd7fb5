"""What an estimate is of: the documents that runs rank within a cutoff, over all queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchwright.estimation.documents import DocumentDraw, Ints, discounts, draw_documents
from benchwright.statistics.families import Floats

if TYPE_CHECKING:
    import polars as pl

PAIR = ["qid", "docid"]


@dataclass(frozen=True)
class Population:
    """Documents of queries, with the rank that each run gives them (0: none within the cutoff).

    `pairs` are query and document, by the bytes of their ids; `of_query` is where in `queries` the
    query of each stands. Queries without a document count as well.
    """

    measure: str
    cutoff: int
    queries: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    of_query: Ints
    ranks: Mapping[str, Ints]

    def amounts(self, run: str) -> Floats:
        """What each document counts in the value of a run."""
        return discounts(self.ranks[run], measure=self.measure, cutoff=self.cutoff)

    @property
    def amounts_of_all(self) -> Floats:
        """What each counts for the draw: the sum over the runs."""
        total: Floats = np.sum([self.amounts(run) for run in sorted(self.ranks)], axis=0)
        return total

    def drawn(self, *, budget: float, seed: int) -> DocumentDraw:
        """Draw about so many of the documents, each with its probability.

        Raises
        ------
        BudgetError
            If the budget is below .02 of the documents.
        """
        queries = [qid for qid, _ in self.pairs]
        documents = [docid for _, docid in self.pairs]
        return draw_documents(queries, documents, self.amounts_of_all, budget=budget, seed=seed)

    def pairs_of(self, draw: DocumentDraw) -> dict[tuple[str, str], float]:
        """{query and document: probability} of those that were drawn."""
        rows = zip(self.pairs, draw.is_drawn, draw.probabilities.tolist(), strict=True)
        return {pair: probability for pair, is_drawn, probability in rows if is_drawn}


def population_of(
    runs: Mapping[str, pl.DataFrame],
    *,
    measure: str,
    cutoff: int,
    queries: Collection[str] | None = None,
) -> Population:
    """The documents that runs (qid, docid, rank) have within the cutoff.

    `queries` are those that an estimate is over; where None, all that a run answers.
    """
    import polars as pl

    answers = {run: _within(frame, cutoff, queries) for run, frame in sorted(runs.items())}
    pairs = pl.concat([rows.select(PAIR) for rows in answers.values()]).unique().sort(PAIR)
    ranks = {
        run: pairs.join(rows, on=PAIR, how="left", maintain_order="left")["rank"]
        for run, rows in answers.items()
    }
    names = sorted(set(pairs["qid"]) if queries is None else queries, key=str.encode)
    place = {qid: at for at, qid in enumerate(names)}
    return Population(
        measure,
        cutoff,
        tuple(names),
        tuple(pairs.iter_rows()),
        np.array([place[qid] for qid in pairs["qid"]], dtype=np.int64),
        {run: of.fill_null(0).to_numpy().astype(np.int64) for run, of in ranks.items()},
    )


def _within(frame: pl.DataFrame, cutoff: int, queries: Collection[str] | None) -> pl.DataFrame:
    import polars as pl

    rows = frame.filter(pl.col("rank").is_between(1, cutoff))
    if queries is not None:
        rows = rows.filter(pl.col("qid").is_in(list(queries)))
    return rows.group_by(PAIR).agg(pl.col("rank").min())
