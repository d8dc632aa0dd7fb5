"""What an approximate index keeps of exact search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.retrieval.ann import Ranked, ann_recall


def rows(text):
    return [
        Ranked(name, float(score)) for name, score in (part.split(":") for part in text.split())
    ]


EXACT = {"q1": rows("a:9 b:8 c:7 d:6"), "q2": rows("e:3 f:2")}


def test_recall_is_the_share_of_the_exact_first_k():
    recall = ann_recall(EXACT, {"q1": rows("a:9 c:7 x:1"), "q2": rows("f:2 e:1")}, k=3)

    assert [(query.qid, query.recall) for query in recall.queries] == [("q1", 2 / 3), ("q2", 1.0)]
    assert recall.mean == pytest.approx(5 / 6)
    assert recall.queries[0].missed == ("b",)
    assert (recall.n_short, recall.n_perfect) == (1, 1)


def test_a_query_the_index_does_not_answer_has_recall_0():
    recall = ann_recall(EXACT, {"q1": rows("a:9 b:8"), "q9": rows("a:1")}, k=2)

    assert [query.recall for query in recall.queries] == [1.0, 0.0]
    assert (recall.n_missing, recall.n_extra) == (1, 1)
    assert [query.qid for query in recall.worst(1)] == ["q2"]


@pytest.mark.parametrize(
    ("approximate", "expected"),
    [
        ("a:3 c:2", 1.0),  # tied with rank 2 in the exact run
        ("a:3 n:2.0000001", 1.0),  # tied with it, and not that deep in the exact run
        ("a:3 n:1.9", 0.5),
        ("c:2 n:2", 0.5),  # two stand-ins for one place at the edge
        ("c:2 b:2", 0.5),  # the one that is missing was not at the edge
    ],
)
def test_ties_at_the_last_rank_count_as_found(approximate, expected):
    exact = {"q": rows("a:3 b:2 c:2")}

    assert ann_recall(exact, {"q": rows(approximate)}, k=2).mean == expected


def test_the_tolerance_is_in_units_of_the_scores():
    exact = {"q": rows("a:3 b:2")}

    approximate = {"q": rows("a:3 n:1.95")}

    assert ann_recall(exact, approximate, k=2, tolerance=0.1).mean == 1.0
    assert ann_recall(exact, approximate, k=2, tolerance=0.01).mean == 0.5


def test_better_documents_than_exact_search_has_are_told():
    recall = ann_recall(EXACT, {"q1": rows("z:9.5 a:9"), "q2": rows("e:3 f:2")}, k=2)

    assert recall.n_above == 1
    assert [query.n_above for query in recall.queries] == [1, 0]


def test_slices_are_means_of_their_queries():
    recall = ann_recall(EXACT, {"q1": rows("a:9 b:8")}, k=2)

    assert [query.qid for query in recall.of({"q2", "q7"})] == ["q2"]


scored = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 999), min_size=1).map(
    lambda of: [Ranked(d, float(s)) for d, s in sorted(of.items(), key=lambda row: -row[1])]
)


@given(scored, st.integers(1, 8))
def test_exact_search_keeps_all_of_itself(exact, k):
    recall = ann_recall({"q": exact}, {"q": exact}, k=k)

    assert (recall.mean, recall.n_above) == (1.0, 0)


@given(scored, scored, st.integers(1, 8))
def test_without_ties_recall_is_the_overlap_of_two_sets(exact, approximate, k):
    apart = [Ranked(row.docid, 1000.0 - place) for place, row in enumerate(exact)]
    elsewhere = [Ranked(row.docid, -1.0 - place) for place, row in enumerate(approximate)]

    mean = ann_recall({"q": apart}, {"q": elsewhere}, k=k).mean

    wanted = {row.docid for row in exact[:k]}
    assert mean == len(wanted & {row.docid for row in approximate[:k]}) / len(wanted)
