"""The learned estimate of a pool: from grades, scores and words by id to values of runs.

`learned_estimate` is the door for who has dictionaries; the arithmetic is that of `learned`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchwright.estimation.errors import ArraysError
from benchwright.estimation.learned import (
    Learned,
    estimated_ndcg,
    estimated_precision,
    estimated_reciprocal_rank,
    features,
    learned,
    text_features,
)
from benchwright.statistics.families import Floats

MeasureName = Literal["nDCG", "P", "RR"]
Scores = Mapping[str, Mapping[str, float]]
"""Scores of a ranking function, by query and document."""


@dataclass(frozen=True)
class LearnedEstimate:
    """Of every pooled document what its grade is expected to be; never a label.

    `place` says in which row of `estimates` a query's document is.
    """

    place: Mapping[str, Mapping[str, int]]
    estimates: Learned
    relevant_from: int

    def expected(self, query: str, document: str) -> float:
        """The expected grade; 0 of a document that is not in the pool."""
        at = self.place.get(query, {}).get(document)
        return 0.0 if at is None else float(self.estimates.expected[at])

    def doubt(self, query: str, document: str) -> float:
        """How unsure it is whether a document is relevant: from 0 to 1, 1 at one half."""
        at = self.place.get(query, {}).get(document)
        p = 0.0 if at is None else float(self.estimates.relevant(self.relevant_from)[at])
        return 4 * p * (1 - p)

    def values(
        self, run: Mapping[str, Sequence[str]], *, measure: MeasureName = "nDCG", cutoff: int = 10
    ) -> dict[str, float]:
        """What a run (documents of each query, best first) is worth by the estimate, by query.

        These are the machine's values of `corrected.corrected_mean`. Documents outside of the pool
        count 0, as unjudged ones do; a query that the run lacks is worth 0.
        """
        grades = self.estimates.expected
        relevant = self.estimates.relevant(self.relevant_from)
        values = {}
        for query, place in self.place.items():
            rows = [place.get(document, -1) for document in run.get(query, ())[:cutoff]]
            of = grades if measure == "nDCG" else relevant
            ranked = np.array([of[row] if row >= 0 else 0.0 for row in rows])
            if measure == "nDCG":
                everything = grades[list(place.values())]
                values[query] = estimated_ndcg(ranked, everything, cutoff=cutoff)
            elif measure == "P":
                values[query] = estimated_precision(ranked, cutoff=cutoff)
            else:
                values[query] = estimated_reciprocal_rank(ranked, cutoff=cutoff)
        return values


def learned_estimate(
    pool: Mapping[str, Sequence[str]],
    grades: Mapping[str, Mapping[str, int]],
    *,
    scale: Sequence[int],
    relevant_from: int = 1,
    scores: Mapping[str, Scores],
    families: Mapping[str, str] | None = None,
    query_words: Mapping[str, Sequence[str]] | None = None,
    document_words: Mapping[str, Sequence[str]] | None = None,
    idf: Mapping[str, float] | None = None,
    seed: int = 0,
) -> LearnedEstimate:
    """Learn from people's grades what every pooled document's grade may be.

    Parameters
    ----------
    pool
        Documents of each query.
    grades
        People's grades: of some documents of some queries.
    scale, relevant_from
        The grades, and the lowest that counts as relevant.
    scores
        {ranking function: {query: {document: score}}}: BM25, TF-IDF and the like, never a run that
        is to be compared, for it would favour that run.
    families
        {query: family}; no estimate of a query sees labels of its family.
    query_words, document_words, idf
        Words of texts, and how rare each is: with them overlaps and lengths are learned from too.

    Raises
    ------
    ArraysError
        If the pool is empty, or there is neither score nor word.
    LearningError
        If labels are of too few families.
    """
    queries = [query for query in pool if pool[query]]
    if not queries:
        raise ArraysError(what="The pool is empty", expected="documents of some queries")
    pairs = [(at, query, document) for at, query in enumerate(queries) for document in pool[query]]
    of_query = np.array([at for at, _, _ in pairs], dtype=np.int64)
    columns: dict[str, Floats] = {
        name: np.array([of.get(query, {}).get(document, np.nan) for _, query, document in pairs])
        for name, of in scores.items()
    }
    overlaps: Sequence[Floats] = ()
    if query_words is not None and document_words is not None:
        words_of_queries = [query_words.get(query, ()) for query in queries]
        words_of_documents = [document_words.get(document, ()) for _, _, document in pairs]
        overlaps = text_features(words_of_queries, words_of_documents, of_query, idf or {})
    grades_known = [grades.get(query, {}).get(document, np.nan) for _, query, document in pairs]
    of = families or {}
    estimates = learned(
        features(columns, of_query, overlaps),
        np.array(grades_known, dtype=np.float64),
        of_query,
        [of.get(query, query) for query in queries],
        scale=scale,
        seed=seed,
    )
    place: dict[str, dict[str, int]] = {query: {} for query in queries}
    for row, (_, query, document) in enumerate(pairs):
        place[query][document] = row
    return LearnedEstimate(place, estimates, relevant_from)
