"""Two submissions laid on each other: counted by hand, and properties of the counting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.leaks.probing import (
    FEW_QUERIES,
    NEAR_IDENTICAL,
    SINGLE_QUERY,
    Likeness,
    likeness,
    most_alike,
    suspicion,
)

QIDS = [f"q{number}" for number in range(20)]
PLAIN = {qid: [f"{qid}-d{rank}" for rank in range(10)] for qid in QIDS}


def changed(n_queries: int, *, ranks: int = 1) -> dict[str, list[str]]:
    """`PLAIN` with other documents at the first ranks of the first queries."""
    other = {qid: [*(f"x{r}" for r in range(ranks)), *PLAIN[qid][ranks:]] for qid in QIDS}
    return PLAIN | {qid: other[qid] for qid in QIDS[:n_queries]}


@pytest.mark.parametrize(
    ("mine", "kind", "n_differing", "share"),
    [
        (PLAIN, NEAR_IDENTICAL, 0, 1.0),
        (changed(1), SINGLE_QUERY, 1, 199 / 200),
        (changed(1, ranks=10), SINGLE_QUERY, 1, 190 / 200),
        (changed(FEW_QUERIES), SINGLE_QUERY, 3, 197 / 200),
        (changed(4), NEAR_IDENTICAL, 4, 196 / 200),
        (changed(10), NEAR_IDENTICAL, 10, 0.95),
        (changed(11), "", 11, 189 / 200),
        (changed(20, ranks=10), "", 20, 0.0),
        ({qid: PLAIN[qid] for qid in QIDS[1:]}, SINGLE_QUERY, 1, 190 / 200),
    ],
)
def test_likeness_to_a_plain_run_is_as_counted_by_hand(mine, kind, n_differing, share):
    result = likeness(mine, PLAIN, QIDS)

    assert (result.n_queries, result.n_places) == (20, 200)
    assert len(result.differing) == n_differing
    assert result.share == pytest.approx(share)
    assert suspicion(result) == kind


def test_runs_that_answer_one_query_each_differ_in_these_alone():
    share = likeness({"q1": ["a"]}, {"q2": ["a"]}, QIDS)

    assert share.differing == ("q1", "q2")
    assert suspicion(share) == SINGLE_QUERY


@pytest.mark.parametrize("found", [Likeness(9, 90, 90, ()), Likeness(50, 0, 0, ())])
def test_few_queries_or_empty_runs_say_nothing(found):
    assert suspicion(found) == ""


def test_most_alike_is_the_one_that_differs_in_fewest_queries():
    earlier = {"near": changed(8), "few": changed(3), "one": changed(1), "far": changed(20)}

    key, share = most_alike(PLAIN, earlier, QIDS)

    assert (key, share.differing) == ("one", ("q0",))
    assert most_alike(PLAIN, {"far": changed(20)}, QIDS) is None


RANKINGS = st.dictionaries(
    st.sampled_from(QIDS), st.lists(st.sampled_from("abcdef"), max_size=5, unique=True)
)


@given(RANKINGS, RANKINGS)
def test_likeness_is_the_same_both_ways_and_whole_where_nothing_differs(one, other):
    there, back = likeness(one, other, QIDS), likeness(other, one, QIDS)

    assert there == back
    assert 0 <= there.share <= 1
    assert (there.share == 1) == (not there.differing)
    assert likeness(one, one, QIDS).differing == ()


@given(RANKINGS, st.sets(st.sampled_from(QIDS)))
def test_exactly_the_changed_queries_differ(one, touched):
    other = {**one, **{qid: [*one.get(qid, ()), "new"] for qid in touched}}

    assert set(likeness(one, other, QIDS).differing) == touched
