"""The dashboard's scores of pooled runs are the scorer's, though neither app knows the other."""

import random

import numpy as np
import pytest

from benchwright import evaluate
from benchwright.progress.stability import LabelledEntry, ranking_stability


def test_scores_are_those_of_the_scorer():
    rng = random.Random(4)
    queries = range(30)
    runs = {
        name: {query: rng.sample([f"d{n}" for n in range(40)], 10) for query in queries}
        for name in ("bm25", "dense", "hybrid")
    }
    qrels = {
        f"q{query}": {
            docid: rng.choice([0, 0, 0, 1, 2, 3])
            for docid in sorted({docid for ranked in runs.values() for docid in ranked[query]})
        }
        for query in queries
    }
    entries = [
        LabelledEntry(
            int(qid[1:]),
            grade,
            {
                name: ranked[int(qid[1:])].index(docid) + 1
                for name, ranked in runs.items()
                if docid in ranked[int(qid[1:])]
            },
        )
        for qid, grades in qrels.items()
        for docid, grade in grades.items()
    ]

    result = ranking_stability(entries, list(runs), rng=np.random.default_rng(0), draws=2)

    for name, ranked in runs.items():
        run = {
            f"q{query}": {docid: 10.0 - place for place, docid in enumerate(docids)}
            for query, docids in ranked.items()
        }
        scored = evaluate(qrels, run, measures=["nDCG@10"])
        assert result.scores[name] == pytest.approx(scored.means["nDCG@10"], abs=1e-12)
