"""Head, torso and tail by hand, by a plain definition, and on a real log."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.slices.frequency import Band, FrequencyCuts, FrequencyError, frequency_cuts


def band_of(cuts: FrequencyCuts, count: int) -> Band:
    if count > cuts.head_above:
        return Band.HEAD
    return Band.TAIL if count < cuts.tail_below else Band.TORSO


def test_five_percent_are_head_and_half_are_tail():
    counts = list(range(1, 101))

    cuts = frequency_cuts(counts)

    bands = Counter(band_of(cuts, count) for count in counts)
    assert bands == {Band.HEAD: 5, Band.TORSO: 45, Band.TAIL: 50}
    assert cuts.head.n_traffic == 96 + 97 + 98 + 99 + 100
    assert cuts.n_traffic == sum(counts)


def test_ties_at_the_cut_go_to_torso():
    counts = [50] * 4 + [40] * 3 + [9] * 60 + [2] * 13 + [1] * 20

    cuts = frequency_cuts(counts)

    assert [part.n_queries for part in cuts.parts.values()] == [4, 63, 33]
    assert band_of(cuts, 40) is Band.TORSO
    # Five may be head; here the cut falls between counts, and five are.
    assert frequency_cuts([50] * 5 + [40] * 2 + counts[7:]).head.n_queries == 5


@pytest.mark.parametrize("counts", [[1] * 40, [7] * 40, [3]])
def test_queries_asked_equally_often_are_refused_with_the_reason(counts):
    with pytest.raises(FrequencyError, match=r"Every query was asked (once|. times), so none"):
        frequency_cuts(counts)


def test_no_counts_at_all_are_refused():
    with pytest.raises(FrequencyError, match="No query has a count"):
        frequency_cuts([])


@pytest.mark.parametrize(("head", "tail"), [(0, 0.5), (0.5, 0.5), (1.2, 0.1), (0.1, -0.2)])
def test_shares_that_leave_no_torso_are_refused(head, tail):
    with pytest.raises(FrequencyError, match=r"such as 0\.05 and 0\.5"):
        frequency_cuts([1, 2, 3], head_share=head, tail_share=tail)


def test_a_count_of_zero_is_refused():
    with pytest.raises(FrequencyError, match="asked 0 times"):
        frequency_cuts([0, 3])


def test_a_log_of_mostly_single_queries_has_no_tail_and_says_so():
    cuts = frequency_cuts([9] * 5 + [2] * 15 + [1] * 80)

    assert cuts.tail.n_queries == 0
    assert "asked only once" in cuts.notes[0]
    assert frequency_cuts([9] * 5 + [2] * 15 + [1] * 80, tail_share=0.8).tail.n_queries == 80


@given(st.lists(st.integers(1, 12), min_size=2, max_size=60).filter(lambda c: len(set(c)) > 1))
def test_bands_are_those_of_the_plain_definition(counts):
    cuts = frequency_cuts(counts)

    order = sorted(counts, reverse=True)
    n_head, n_tail = len(order) * 5 // 100, len(order) * 50 // 100
    split_head = set(order[:n_head]) & set(order[n_head:])
    split_tail = set(order[len(order) - n_tail :]) & set(order[: len(order) - n_tail])
    head = [c for c in order[:n_head] if c not in split_head]
    tail = [c for c in order[len(order) - n_tail :] if c not in split_tail]
    assert [c for c in order if band_of(cuts, c) is Band.HEAD] == head
    assert [c for c in order if band_of(cuts, c) is Band.TAIL] == tail
    assert (cuts.head.n_queries, cuts.tail.n_queries) == (len(head), len(tail))
    assert (cuts.head.n_traffic, cuts.tail.n_traffic) == (sum(head), sum(tail))
    assert cuts.n_queries == len(counts)
