"""What a budget of labels shows, and what it costs to show a difference."""

from math import ceil, inf, isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.pools.planning import (
    Growth,
    Pilot,
    assumed_growth,
    best_plan,
    cheapest_plan,
    depths_allowed,
    plan_for_budget,
    plan_for_difference,
    plan_of,
    pool_growth,
    slice_plan,
)
from benchwright.pools.reusability import treatment_of

DOCIDS = "uvwxyz"


def pilot(sigma=0.2, effect=1.0, seconds=30, overlap=0.0, growth=None):
    return Pilot(sigma, effect, growth or assumed_growth(), seconds, overlap)


# --- growth --------------------------------------------------------------------------------------


rankings = st.dictionaries(
    st.sampled_from(["q1", "q2"]), st.permutations(DOCIDS).map(lambda order: order[:5]), min_size=1
)


@given(st.fixed_dictionaries({"a": rankings, "b": rankings, "c": rankings}), st.integers(1, 6))
def test_growth_is_that_of_pools_made_one_by_one(runs, cutoff):
    growth = pool_growth(runs, deepest=6, cutoff=cutoff)

    qids = {qid for of in runs.values() for qid in of}
    for depth in range(1, 7):
        pools = {q: {d for of in runs.values() for d in of.get(q, ())[:depth]} for q in qids}
        expected = sum(map(len, pools.values())) / len(qids)
        assert growth.documents_at(depth) == pytest.approx(expected)
        grades = {qid: dict.fromkeys(docids, 1) for qid, docids in pools.items()}
        judged = treatment_of(runs, grades, pooled=dict.fromkeys(runs, depth), cutoff=cutoff)
        expected = judged.by_group.mean_judged
        assert growth.judged_at(depth) == pytest.approx(expected, nan_ok=True)


def test_copies_and_team_mates_are_one_system_of_the_growth():
    a, b = {"q": list("uvwx")}, {"q": list("yzuv")}
    alone = pool_growth({"a": a, "b": b}, deepest=4, cutoff=4)

    with_copy = pool_growth({"a": a, "b": b, "copy of a": a}, deepest=4, cutoff=4)
    one_team = pool_growth({"a": a, "b": b}, teams=dict.fromkeys("ab", "X"), deepest=4)

    assert alone == with_copy
    assert alone.n_runs == 2
    assert alone.judged_of_new == (0.0 + 1 / 8, 2 / 8, 3 / 8, 4 / 8)
    assert isnan(one_team.judged_at(1))


@given(st.fixed_dictionaries({"a": rankings, "b": rankings}))
def test_deeper_pools_are_never_smaller_nor_worse_for_new_systems(runs):
    growth = pool_growth(runs, deepest=6)

    assert list(growth.documents) == sorted(growth.documents)
    assert list(growth.judged_of_new) == sorted(growth.judged_of_new)


def test_one_run_says_nothing_of_new_systems():
    assert isnan(pool_growth({"a": {"q": ["x"]}}, deepest=1).judged_at(1))


def test_beyond_what_is_known_growth_goes_on_in_proportion():
    result = Growth((2.0, 4.0), (0.5, 0.6), n_runs=2, n_queries=1)

    assert result.documents_at(4) == 8.0
    assert result.judged_at(4) == 0.6


# --- plans ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sigma", "for_hundredth", "for_two"),
    [
        (0.05, 197, 50),
        (0.10, 785, 197),
        (0.15, 1766, 442),
        (0.20, 3140, 785),
        (0.25, 4906, 1227),
        (0.30, 7064, 1766),
    ],
)
def test_queries_for_a_difference_are_those_of_the_table(sigma, for_hundredth, for_two):
    plans = [plan_for_difference(pilot(sigma), delta=d, depth=10) for d in (0.01, 0.02)]

    assert [plan.n_queries for plan in plans] == [for_hundredth, for_two]


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (50, (0.020, 0.040, 0.059, 0.079, 0.099, 0.119)),
        (200, (0.010, 0.020, 0.030, 0.040, 0.050, 0.059)),
        (500, (0.006, 0.013, 0.019, 0.025, 0.031, 0.038)),
        (1000, (0.004, 0.009, 0.013, 0.018, 0.022, 0.027)),
        (3000, (0.003, 0.005, 0.008, 0.010, 0.013, 0.015)),
        (5000, (0.002, 0.004, 0.006, 0.008, 0.010, 0.012)),
    ],
)
def test_visible_differences_are_those_of_the_table(n, expected):
    sigmas = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30)

    detectables = [plan_of(pilot(sigma), n_queries=n, depth=10).detectable for sigma in sigmas]

    assert tuple(round(detectable, 3) for detectable in detectables) == expected


def test_a_plan_costs_its_documents_and_the_labels_given_twice():
    growth = Growth((4.0, 6.0), (0.5, 0.7), n_runs=3, n_queries=9)

    plan = plan_of(pilot(seconds=36, overlap=0.25, growth=growth), n_queries=100, depth=2)

    assert (plan.labels, plan.hours) == (750, 7.5)
    assert (plan.documents_per_query, plan.judged_of_new, plan.has_holes) == (6.0, 0.7, True)


def test_families_make_a_benchmark_dearer():
    one, two = (
        plan_for_difference(pilot(effect=effect), delta=0.02, depth=10) for effect in (1.0, 2.0)
    )

    assert (one.n_queries, two.n_queries) == (785, 1570)
    assert two.detectable == pytest.approx(one.detectable)


def test_a_budget_of_whole_queries_is_used_up():
    """Seven documents, every tenth labelled twice, are a little more than 7.7 labels."""
    growth = Growth((7.0,), (nan,), n_runs=2, n_queries=1)

    plan = plan_for_budget(pilot(overlap=0.1, growth=growth), labels=770, depth=1)

    assert (plan.n_queries, plan.labels) == (100, 770)


def test_no_budget_shows_nothing():
    plan = plan_for_budget(pilot(), labels=3, depth=10)

    assert (plan.n_queries, plan.labels, plan.detectable) == (0, 0, inf)


@given(
    st.floats(0.01, 0.5),
    st.floats(1, 3),
    st.floats(1, 300),
    st.floats(0, 1),
    st.integers(1, 100),
    st.floats(10, 1e6),
)
def test_a_budget_is_kept_and_one_more_query_would_break_it(
    sigma, effect, seconds, overlap, depth, labels
):
    asked = pilot(sigma, effect, seconds, overlap)

    plan = plan_for_budget(asked, labels=labels, depth=depth)

    assert plan.labels <= ceil(labels)
    assert (plan.n_queries + 1) * asked.labels_per_query(depth) > labels - 1e-6
    assert asked.labels_in(asked.hours(plan.labels)) == pytest.approx(plan.labels)


@given(st.floats(0.02, 0.5), st.floats(1, 9), st.floats(0.005, 0.2))
def test_one_query_fewer_would_not_show_the_difference(sigma, effect, delta):
    asked = pilot(sigma, effect)

    plan = plan_for_difference(asked, delta=delta, depth=10)
    of_slice = slice_plan("s", n_queries=1, share=1.0, sigma=sigma, effect=effect, delta=delta)

    assert plan.n_queries == of_slice.n_for_delta
    assert plan.detectable <= delta * (1 + 1e-9)
    fewer = plan_of(asked, n_queries=plan.n_queries - 1, depth=10)
    assert plan.n_queries == 2 or fewer.detectable >= delta * (1 - 1e-9)


@given(st.floats(0.02, 0.5), st.floats(1, 3), st.floats(0.005, 0.2), st.floats(1.01, 4))
def test_smaller_differences_and_deeper_pools_cost_more(sigma, effect, delta, factor):
    asked = pilot(sigma, effect)

    fine = plan_for_difference(asked, delta=delta / factor, depth=10)
    coarse = plan_for_difference(asked, delta=delta, depth=10)
    deep = plan_for_difference(asked, delta=delta, depth=20)

    assert fine.labels >= coarse.labels
    assert deep.labels >= coarse.labels
    assert fine.detectable <= delta / factor + 1e-12
    assert coarse.detectable <= delta + 1e-12


@given(st.floats(100, 1e5), st.floats(1.01, 5), st.integers(1, 100))
def test_a_larger_budget_never_shows_less(labels, factor, depth):
    small = plan_for_budget(pilot(), labels=labels, depth=depth)
    large = plan_for_budget(pilot(), labels=labels * factor, depth=depth)

    assert large.detectable <= small.detectable


def test_the_cheapest_plan_is_the_cheapest_of_all_that_are_allowed():
    depths = [10, 20, 50]

    result = cheapest_plan(pilot(), delta=0.02, depths=depths)

    every = [plan_for_difference(pilot(), delta=0.02, depth=depth) for depth in depths]
    assert result.labels == min(plan.labels for plan in every)
    assert result.depth == 10
    assert cheapest_plan(pilot(), delta=0.02, depths=[]) is None


def test_of_plans_that_show_the_same_the_deeper_is_best():
    """Runs that agree: pools of any depth hold the same five documents."""
    growth = Growth((5.0,) * 30, (nan,) * 30, n_runs=2, n_queries=1)

    result = best_plan(pilot(growth=growth), labels=1000, depths=[10, 20, 30])

    assert (result.depth, result.n_queries) == (30, 200)


def test_where_no_plan_shows_anything_the_most_queries_are_best():
    result = best_plan(pilot(sigma=1.0), labels=60, depths=[10, 20, 100])

    assert (result.depth, result.n_queries) == (10, 2)


def test_depths_at_which_new_systems_have_holes_are_turned_down():
    growth = Growth((1.0, 2.0, 3.0), (0.5, 0.8, 0.95), n_runs=3, n_queries=1)

    allowed = depths_allowed(pilot(growth=growth), shallowest=1, judged=0.8, deepest=3)

    assert allowed == [2, 3]
    assert depths_allowed(pilot(), shallowest=10, judged=0.99)[0] == 10


@pytest.mark.parametrize(("judged", "shallowest"), [(0.8, 8), (0.9, 9), (1.0, 10)])
def test_pool_that_holds_just_what_is_asked_of_it_is_deep_enough(judged, shallowest):
    """Of ten documents turned round a pool of the first d of either holds d of the other."""
    order = [f"d{n}" for n in range(10)]
    growth = pool_growth({"a": {"q": order}, "b": {"q": order[::-1]}}, deepest=10)

    allowed = depths_allowed(pilot(growth=growth), shallowest=1, judged=judged, deepest=10)

    assert allowed == list(range(shallowest, 11))


def test_pool_as_deep_as_its_measure_has_no_holes_of_its_own():
    plans = [plan_of(pilot(), n_queries=5, depth=depth) for depth in (9, 10)]

    assert [plan.has_holes for plan in plans] == [True, False]


def test_pool_that_holds_all_of_a_new_system_has_no_holes():
    growth = pool_growth(
        {"a": {"q": list("uvwxyz")}, "b": {"q": list("zyxwvu")}}, deepest=6, cutoff=6
    )

    assert [plan_of(pilot(growth=growth), n_queries=9, depth=d).has_holes for d in (5, 6)] == [
        True,
        False,
    ]


@pytest.mark.parametrize(("sigma", "n"), [(0.10, 155), (0.15, 348), (0.20, 619), (0.25, 967)])
def test_slices_for_a_gate_are_those_of_the_table(sigma, n):
    plan = slice_plan("s", n_queries=1000, share=0.1, sigma=sigma, effect=1.0, delta=0.01)

    assert plan.n_for_gate == n
    assert (plan.n_queries, plan.n_lacking_for_gate) == (100, n - 100)


def test_a_slice_of_more_than_enough_lacks_none():
    plan = slice_plan("s", n_queries=9000, share=0.5, sigma=0.2, effect=1.0, delta=0.02)

    assert (plan.n_lacking, plan.n_lacking_for_gate) == (0, 0)


def test_a_slice_has_its_share_of_the_queries():
    """0.29 of 100 are computed as a little less than 29."""
    plan = slice_plan("s", n_queries=100, share=0.29, sigma=0.2, effect=1.0, delta=0.02)

    assert plan.n_queries == 29


def test_a_slice_without_queries_shows_nothing():
    plan = slice_plan("s", n_queries=100, share=0.0, sigma=0.2, effect=1.0, delta=0.02)

    assert (plan.detectable, plan.n_lacking) == (inf, 785)
