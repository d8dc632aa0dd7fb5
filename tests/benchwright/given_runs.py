"""The runs that come with the data, query by query: what tables of real pairs are made of."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from benchwright.evaluation.scorecards import Files, Rules, Scorer
from tests.benchwright.realdata import data_folder

MEASURES = ("nDCG@10", "R@100", "RR@10")
COLLECTIONS = {"trec_covid_round1": "qrels.covid-round1.txt", "cranfield": "qrels_derived.txt"}


@dataclass(frozen=True, eq=False)
class GivenRuns:
    """Values by measure (queries x runs), in the order of the queries' bytes and the runs' names.

    A query that a run does not answer is 0.
    """

    names: tuple[str, ...]
    queries: tuple[str, ...]
    values: dict[str, np.ndarray]

    def of(self, run: str, measure: str = "nDCG@10") -> np.ndarray:
        return self.values[measure][:, self.names.index(run)]


@cache
def given_runs(collection: str) -> GivenRuns:
    folder = data_folder(collection)
    scorer = Scorer(Files(folder / COLLECTIONS[collection]), Rules(measures=MEASURES))
    paths = sorted((folder / "runs").glob("*.gz"))
    cards = [scorer.score(path, path.stem) for path in paths]
    queries = sorted(scorer.judged)
    rows = [card.overall.per_query for card in cards]
    return GivenRuns(
        names=tuple(path.stem for path in paths),
        queries=tuple(query.decode() for query in queries),
        values={
            name: np.array([[of[query][name] for of in rows] for query in queries])
            for name in MEASURES
        },
    )
