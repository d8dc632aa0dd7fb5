"""Fusion of rankings, by hand."""

import pytest

from benchwright.errors import CutoffError
from benchwright.retrieval import build_index
from benchwright.retrieval.errors import ParameterError
from benchwright.retrieval.fusion import (
    FusedSearcher,
    Fusion,
    fused_runs,
    min_max,
    reciprocal_rank_fusion,
    weighted_sum,
    z_scores,
)

A = [("x", 12.0), ("y", 11.0), ("z", 2.0)]
B = [("z", 0.9), ("w", 0.5), ("x", 0.1)]


def test_reciprocal_ranks_are_summed():
    fused = reciprocal_rank_fusion([A, B])

    assert fused == [
        ("z", pytest.approx(1 / 63 + 1 / 61)),
        ("x", pytest.approx(1 / 61 + 1 / 63)),
        ("y", pytest.approx(1 / 62)),
        ("w", pytest.approx(1 / 62)),
    ]
    # Equal sums to the last bit, whatever came first: ids decide.
    assert fused[0][1] == fused[1][1]


def test_same_ranks_in_another_order_are_a_tie():
    """1/61 + 1/62 + 1/63 is not the same number in every order of addition."""
    rankings = [
        [("a", 0), ("b", 0), ("c", 0)],
        [("b", 0), ("c", 0), ("a", 0)],
        [("c", 0), ("a", 0), ("b", 0)],
    ]

    fused = reciprocal_rank_fusion(rankings)

    assert [docid for docid, _ in fused] == ["c", "b", "a"]
    assert len({score for _, score in fused}) == 1


def test_scores_by_document_are_a_ranking_in_their_order():
    runs = [{"q1": dict(reversed(A))}, {"q1": dict(B)}]

    assert reciprocal_rank_fusion([dict(reversed(A)), dict(B)]) == reciprocal_rank_fusion([A, B])
    assert weighted_sum([dict(A), dict(B)]) == weighted_sum([A, B])
    assert list(fused_runs(runs, Fusion())) == [("q1", reciprocal_rank_fusion([A, B]))]


@pytest.mark.parametrize("normalisation", ["minmax", "z", "none"])
@pytest.mark.parametrize("score", [float("inf"), float("nan"), -1e308])
def test_scores_that_cannot_be_summed_are_refused_by_document(score, normalisation):
    with pytest.raises(ParameterError, match=r"the score of 'x' is .*; expected a number from"):
        weighted_sum([[("y", 1e149), ("x", score)], B], normalisation=normalisation)


@pytest.mark.parametrize("fused", [reciprocal_rank_fusion, weighted_sum])
def test_document_twice_in_a_ranking_is_refused(fused):
    with pytest.raises(ParameterError, match="'x' of a ranking is there twice; expected once"):
        fused([[*A, ("x", 1.0)], B])


def test_constant_below_0_is_refused():
    with pytest.raises(ParameterError, match="rrf k is -1"):
        reciprocal_rank_fusion([A, B], k=-1)


def test_constant_and_weights_of_reciprocal_ranks():
    fused = dict(reciprocal_rank_fusion([A, B], k=0, weights=[2, 1]))

    assert fused == pytest.approx({"x": 2 + 1 / 3, "y": 1.0, "z": 2 / 3 + 1, "w": 0.5})


def test_min_max_sum_by_hand():
    fused = weighted_sum([A, B], weights=[1, 2])

    # A: x 1, y 0.9, z 0; B: z 1, w 0.5, x 0.
    assert fused == [("z", 2.0), ("x", 1.0), ("w", 1.0), ("y", pytest.approx(0.9))]


def test_z_sum_by_hand_where_missing_is_the_lowest():
    fused = dict(
        weighted_sum([[("x", 3.0), ("y", 1.0)], [("z", 5.0), ("x", 3.0)]], normalisation="z")
    )

    assert fused == {"x": 0.0, "y": -2.0, "z": 0.0}


def test_scores_as_they_are():
    assert weighted_sum([A, B], normalisation="none")[0] == ("x", 12.1)


def test_equal_scores_normalise_to_the_best_or_to_the_mean():
    assert min_max([2.0, 2.0]) == [1.0, 1.0]
    assert z_scores([2.0, 2.0]) == [0.0, 0.0]
    assert min_max([]) == z_scores([]) == []
    assert z_scores([1.0, 3.0]) == [-1.0, 1.0]


def test_ranking_without_documents_adds_nothing():
    assert weighted_sum([A, []]) == weighted_sum([A], weights=[1])
    assert reciprocal_rank_fusion([A, []]) == reciprocal_rank_fusion([A])
    assert Fusion()([]) == []


def test_runs_are_fused_query_by_query_and_cut():
    runs = [{"q1": A, "q2": B}, {"q1": B, "q3": A}]

    fused = dict(fused_runs(runs, Fusion(), depth=2))

    assert list(fused) == ["q1", "q2", "q3"]
    assert [docid for docid, _ in fused["q1"]] == ["z", "x"]
    assert [docid for docid, _ in fused["q2"]] == ["z", "w"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "borda"}, "method is 'borda'"),
        ({"normalisation": "max"}, "normalisation is 'max'"),
        ({"rrf_k": -1}, "rrf k is -1"),
        ({"rrf_k": float("nan")}, "rrf k is nan"),
        ({"weights": (1.0, -1.0)}, "a weight is -1"),
        ({"weights": (float("inf"),)}, "a weight is inf"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        Fusion(**options)


def test_number_of_weights_has_to_fit():
    with pytest.raises(ParameterError, match="one for each of 2 rankings"):
        Fusion(weights=(1.0,))([A, B])
    with pytest.raises(CutoffError):
        fused_runs([{}], Fusion(), depth=0)


def test_searchers_answer_as_one():
    documents = [("d1", "red fox"), ("d2", "red hen"), ("d3", "blue fox")]
    one, other = (build_index(name, documents) for name in ("bm25", "tfidf-char"))
    queries = [("q", "fox"), ("p", "hen red")]
    results = []

    fused = FusedSearcher([one, other]).search(queries, k=2, progress=lambda *n: results.append(n))

    expected = fused_runs(
        [dict(one.search(queries, k=1000)), dict(other.search(queries, k=1000))], Fusion(), depth=2
    )
    assert dict(fused) == dict(expected)
    assert results == [(1, 2), (2, 2)]
    with pytest.raises(CutoffError):
        FusedSearcher([one]).search(queries, k=0)


def test_method_in_words():
    assert Fusion().described == "reciprocal rank fusion (k = 60)"
    assert (
        Fusion("weighted", weights=(1.0, 2.5)).described == "weighted sum (minmax), weights 1, 2.5"
    )
