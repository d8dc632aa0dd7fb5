"""What to add to small slices, by plain sums over queries that stand for several."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.slices.oversampling import oversampling_plan

QUERIES = [f"q{n}" for n in range(30)]
MEMBERS = st.sets(st.sampled_from(QUERIES), min_size=1)
SLICES = st.dictionaries(st.sampled_from("abc"), st.tuples(MEMBERS, st.integers(1, 80)), min_size=1)
WEIGHTS = st.dictionaries(st.sampled_from(QUERIES), st.sampled_from([0.5, 1.0, 2.0, 7.0]))


@given(SLICES, WEIGHTS)
def test_plan_fills_every_slice_and_keeps_what_it_counts_for(slices, weights):
    members = {name: of for name, (of, _) in slices.items()}
    wanted = {name: n for name, (_, n) in slices.items()}

    plan = oversampling_plan(members, wanted, QUERIES, weights)

    copies = dict.fromkeys(QUERIES, 1.0)
    for addition in plan.additions:
        for query in members[addition.name]:
            copies[query] += addition.n_to_add / len(members[addition.name])
    weight = {query: weights.get(query, 1.0) for query in QUERIES}
    whole = sum(weight.values())
    assert plan.n_after == pytest.approx(sum(copies.values()))
    for name, of in members.items():
        assert sum(copies[query] for query in of) >= wanted[name] - 1e-6
    # A query that stands for several shares its weight among them.
    squares = sum(weight[query] ** 2 / copies[query] for query in QUERIES)
    assert plan.n_effective == pytest.approx(whole**2 / squares)
    for addition in plan.additions:
        of = members[addition.name]
        inside = sum(weight[query] for query in of)
        assert (addition.n_now, addition.share) == (len(of), pytest.approx(inside / whole))
        for n, n_all, mean in (
            (len(of), len(QUERIES), addition.weight_before),
            (sum(copies[query] for query in of), plan.n_after, addition.weight_after),
        ):
            assert mean * n / n_all == pytest.approx(inside / whole)


@pytest.mark.parametrize(
    ("slices", "added"),
    [
        # Of the six for "a" three are of "b" as well.
        ({"b": (2, 4), "a": (4, 10)}, [("a", 6)]),
        # Three queries that stand for 7/3 each are seven, though floats make it a little less.
        ({"a": (3, 7), "b": (3, 7)}, [("b", 4)]),
    ],
)
def test_largest_lack_is_filled_first_and_what_it_brings_counts(slices, added):
    members = {name: QUERIES[:n] for name, (n, _) in slices.items()}
    plan = oversampling_plan(members, {name: n for name, (_, n) in slices.items()}, QUERIES)

    assert [(addition.name, addition.n_to_add) for addition in plan.additions] == added
