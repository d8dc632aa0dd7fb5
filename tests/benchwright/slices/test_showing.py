"""Slices of a hidden split: what may be shown side by side, and what would tell too much."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.slices.showing import _basis, _least_spread, is_safe, showable_slices
from tests.examples import examples

HUNDRED = range(100)


def test_a_slice_below_the_smallest_is_not_shown():
    assert showable_slices({"few": range(29), "enough": range(30)}, HUNDRED) == ["enough"]


def test_a_slice_that_leaves_few_of_all_queries_is_not_shown():
    """All minus the slice would be the mean of 29 queries."""
    assert showable_slices({"most": range(71)}, HUNDRED) == []
    assert showable_slices({"most": range(70)}, HUNDRED) == ["most"]


def test_two_slices_that_differ_by_few_are_not_both_shown():
    inside = {"wide": range(60), "narrow": range(40)}

    assert showable_slices(inside, HUNDRED) == ["wide"]


def test_overlapping_slices_that_differ_in_few_queries_are_not_both_shown():
    sideways = {"a": range(50), "b": range(10, 60)}

    assert showable_slices(sideways, HUNDRED) == ["a"]


def test_slices_that_cover_all_but_a_few_are_not_all_shown():
    """No pair tells of fewer than 30, but all minus the three leaves 10."""
    thirds = {"a": range(30), "b": range(30, 60), "c": range(60, 90)}

    assert showable_slices(thirds, HUNDRED) == ["a", "b"]


def test_a_difference_of_two_sums_is_found():
    """(a and b together) minus (c): 10 queries, though every pair differs in 30 or more."""
    sets = [range(200), range(40), range(40, 80), [*range(70), *range(80, 80)]]

    assert not is_safe(sets)


def test_equal_slices_and_those_without_hidden_queries_tell_nothing():
    known = {"a": range(40), "same": range(40), "public": range(500, 510)}

    assert showable_slices(known, HUNDRED) == ["a", "same", "public"]


def test_public_queries_do_not_make_a_slice_larger():
    assert showable_slices({"a": [*range(20), *range(500, 600)]}, HUNDRED) == []


def test_without_hidden_queries_everything_may_be_shown():
    assert showable_slices({"a": range(3)}, []) == ["a"]


def test_queries_of_one_family_count_once():
    pairs = {query: query // 2 for query in range(200)}

    assert showable_slices({"few": range(58), "enough": range(60)}, range(200), families=pairs) == [
        "enough"
    ]
    assert showable_slices({"most": range(142)}, range(200), families=pairs) == []
    assert showable_slices({"most": range(140)}, range(200), families=pairs) == ["most"]


def test_no_combination_tells_of_few_families():
    """Whole less three thirds is 40 queries: of twenty families too few, of forty enough."""
    thirds = {name: range(n * 60, n * 60 + 60) for n, name in enumerate("abc")}
    by_two = {query: query // 2 for query in range(180, 220)}

    assert showable_slices(thirds, range(220)) == ["a", "b", "c"]
    assert showable_slices(thirds, range(220), families=by_two) == ["a", "b"]


N = 9
SETS = st.lists(st.sets(st.integers(0, N - 1)), min_size=1, max_size=4)
WEIGHTS = st.none() | st.lists(st.sampled_from([0.0, 1.0, 1.5, 4.0]), min_size=N, max_size=N)


def is_told_of_few(matrix, family_of, smallest) -> bool:
    """By brute force: whether some combination of rows is 0 outside of few families.

    It is where leaving out their columns leaves fewer independent rows.
    """
    rank = np.linalg.matrix_rank(matrix)
    families = sorted(set(family_of))
    return any(
        np.linalg.matrix_rank(matrix[:, ~np.isin(family_of, few)]) < rank
        for n in range(1, smallest)
        for few in combinations(families, n)
    )


def is_of_few_by_kish(plain, weights, family_of, smallest) -> bool:
    """By brute force: the weights less plain rows, 0 in as many queries as fix that, or less none.

    Where no more is left of the weights, they tell nothing.
    """
    rank = np.linalg.matrix_rank(plain)
    if np.linalg.matrix_rank(np.vstack([plain, weights])) == rank:
        return False
    left = [weights]
    for zeros in map(list, combinations(range(N), rank)):
        if np.linalg.matrix_rank(plain[:, zeros]) == rank:
            left.append(weights - np.linalg.pinv(plain[:, zeros].T) @ weights[zeros] @ plain)
    sizes = [np.bincount(family_of, np.abs(combination)) for combination in left]
    return any(size.sum() ** 2 / (size**2).sum() < smallest - 1e-6 for size in sizes)


@settings(max_examples=examples(300))
@given(SETS, WEIGHTS, st.lists(st.integers(0, 5), min_size=N, max_size=N), st.integers(2, 4))
def test_what_is_safe_is_what_brute_force_finds_to_be(sets, weights, family_of, smallest):
    plain = np.array([np.isin(np.arange(N), list(of)) for of in sets], dtype=float)
    weighted = dict(enumerate(weights)) if weights and any(weights) else None
    matrix = np.vstack([plain, weights]) if weighted else plain

    safe = is_safe(sets, families=dict(enumerate(family_of)), smallest=smallest, weights=weighted)

    family_of, tells = np.array(family_of), False
    if weighted:
        tells = is_of_few_by_kish(plain, np.array(weights), family_of, smallest)
    assert safe != (tells or is_told_of_few(matrix, family_of, smallest))


@pytest.mark.parametrize("seed", range(5))
def test_no_combination_is_about_fewer_than_what_bounds_them_all(seed):
    rng = np.random.default_rng(seed)
    family = np.sort(rng.integers(0, 40, 60))
    rows = np.vstack([rng.random((2, 60)) < 0.4, np.exp(rng.normal(size=60))])

    least = _least_spread(_basis(rows), np.unique(family, return_inverse=True)[1])

    sizes = [
        np.bincount(family, np.abs(combination))
        for combination in rng.normal(size=(5_000, 3)) @ rows
    ]
    assert 1 < least <= min(size.sum() ** 2 / (size**2).sum() for size in sizes)


def test_a_combination_that_counts_a_sum_twice_is_found():
    """Neither sum nor difference of two is of few; a + b + c - 2 all is of the ten of none."""
    groups = {"ab": range(30), "ac": range(30, 60), "bc": range(60, 90), "none": range(90, 100)}
    hidden = range(100)
    slices = {name: {q for of, qs in groups.items() if name in of for q in qs} for name in "abc"}

    assert len(showable_slices(slices, hidden)) == 2


def test_a_slice_is_held_against_each_split_and_other_releases():
    split, other = range(100), range(100, 200)

    assert showable_slices({"a": range(105)}, range(200)) == ["a"]
    assert showable_slices({"a": range(105)}, range(200), beside=[split, other]) == []


def test_a_weighted_mean_beside_the_plain_one_tells_of_what_weighs_otherwise():
    for n, is_told in ((20, True), (40, False)):
        weights = {query: 3.0 if query < n else 1.0 for query in range(100)}
        assert is_safe([range(100)], weights=weights) != is_told


def test_a_slice_that_is_safe_beside_the_plain_mean_may_not_be_beside_the_weighted_one():
    weights = {query: 3.0 if query < 50 else 1.0 for query in range(200)}

    assert showable_slices({"a": range(60)}, range(200)) == ["a"]
    assert showable_slices({"a": range(60)}, range(200), weights=weights) == []


@pytest.mark.parametrize("n", [150, 400])
def test_slices_are_shown_beside_weights_that_all_differ(n):
    weights = dict(enumerate(1 + np.random.default_rng(n).random(n)))
    places = np.random.default_rng(n + 1).permutation(n).tolist()
    slices = {"half": places[: n // 2], "third": places[n // 3 : 2 * n // 3]}
    splits = [range(n), range(n // 2), range(n // 2, n)]

    assert is_safe(splits, weights=weights)
    assert showable_slices(slices, range(n), weights=weights) == ["half", "third"]


@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_a_query_that_weighs_otherwise_than_its_split_is_found_beside_the_splits(noise):
    """The weighted sum less that of the one split and three times that of the other is its own."""
    both, one, other = range(120), range(60), range(60, 120)
    level = np.where(np.arange(120) < 60, 1.0, 3.0)
    weights = level + noise * np.random.default_rng(1).random(120)
    weights[7] = 2.0

    assert not is_safe([both, one, other], weights=dict(enumerate(weights.tolist())))
    assert is_safe([both, one, other], weights=dict(enumerate(level.tolist())))


@settings(max_examples=30)
@given(st.lists(st.sets(st.integers(0, 11)), max_size=4))
def test_nothing_small_lies_in_the_span_of_what_is_shown(slices):
    """Every 0/1 group of fewer than 3 queries, one by one, against the sums that are shown."""
    hidden, smallest = range(12), 3
    named = {str(place): members for place, members in enumerate(slices)}

    page_shown = showable_slices(named, hidden, smallest=smallest)

    rows = [np.ones(12), *(np.isin(np.arange(12), list(named[name])) for name in page_shown)]
    matrix = np.array(rows, dtype=float)
    rank = np.linalg.matrix_rank(matrix)
    groups = [{a, b} for a in hidden for b in hidden]
    for group in groups:
        result = np.vstack([matrix, np.isin(np.arange(12), list(group))])
        assert np.linalg.matrix_rank(result) > rank


def test_forty_slices_of_many_queries_are_decided_at_once():
    rng = np.random.default_rng(3)
    slices = {f"s{n}": set(np.flatnonzero(rng.random(2_000) < 0.3)) for n in range(40)}

    assert 1 <= len(showable_slices(slices, range(2_000))) <= 40
