"""A dense model beside four lexical systems on real collections: quality, fusion, and the pool."""

from functools import cache

import pytest

from benchwright.retrieval import SYSTEMS, build_index
from benchwright.retrieval.dense import wordllama
from benchwright.retrieval.evaluating import evaluate_retrieval
from benchwright.retrieval.fusion import Fusion, fused_runs
from tests.benchwright.retrieval.real_collections import COLLECTIONS

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not wordllama.is_installed(), reason="wordllama is not installed"),
]

WORDLLAMA = "wordllama"
collection = cache(lambda name: COLLECTIONS[name]())


@cache
def results(name: str, system: str) -> dict:
    documents, queries, _ = collection(name)
    is_dense = system == WORDLLAMA
    index = wordllama.build(documents) if is_dense else build_index(system, documents)
    return dict(index.search(queries, k=100))


def ndcg(name: str, found: dict) -> float:
    return evaluate_retrieval(found, collection(name).grades, [10], gain="linear")["nDCG@10"]


def test_ndcg_of_wordllama_and_of_its_fusion_with_bm25():
    """Measured once with wordllama 0.4.0; bm25-stem alone has 0.3678, so fusion helps here."""
    dense, sparse = results("cranfield", WORDLLAMA), results("cranfield", "bm25-stem")

    by_ranks = dict(fused_runs([sparse, dense], Fusion(), depth=100))
    by_scores = dict(fused_runs([sparse, dense], Fusion("weighted"), depth=100))

    assert ndcg("cranfield", dense) == pytest.approx(0.3266, abs=0.002)
    assert ndcg("cranfield", by_ranks) == pytest.approx(0.3819, abs=0.002)
    assert ndcg("cranfield", by_scores) == pytest.approx(0.3779, abs=0.002)


def test_judged_share_is_lower_for_who_was_not_pooled():
    """Of a pool of the first ten documents of some systems, the share of ten that each has."""
    result = {system: results("cranfield", system) for system in (*SYSTEMS, WORDLLAMA)}

    of_four = judged_shares(result, list(SYSTEMS))
    of_five = judged_shares(result, list(result))

    assert [of_four[system] for system in SYSTEMS] == [1.0] * 4
    assert of_four[WORDLLAMA] == pytest.approx(0.5364, abs=0.005)
    assert of_five[WORDLLAMA] == 1.0


def judged_shares(found: dict, pooled: list[str], depth: int = 10) -> dict[str, float]:
    pool = {
        (qid, docid)
        for system in pooled
        for qid, ranked in found[system].items()
        for docid, _ in ranked[:depth]
    }
    return {
        system: sum(
            (qid, docid) in pool for qid, ranked in runs.items() for docid, _ in ranked[:depth]
        )
        / sum(len(ranked[:depth]) for ranked in runs.values())
        for system, runs in found.items()
    }
