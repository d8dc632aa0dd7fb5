"""Allocation, draws and weights: by hand, as properties, and that weighted means are unbiased."""

from math import isclose, sqrt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.logs.drawing import sampled
from benchwright.logs.errors import SampleTooLargeError, SamplingError
from benchwright.logs.sampling import Design, allocated, drawn_families, parse_given, planned
from benchwright.logs.strata import LogFamilies, read_families, strata_of
from benchwright.recipes.sampling import Allocation, By, Weighting, Wordings

pytestmark = pytest.mark.in_thirds

sizes = st.lists(st.integers(1, 60), min_size=1, max_size=8)


def families(rows):
    """Families of one query each, from pairs of name and count."""
    table = pl.DataFrame(
        {
            "name": [name for name, _ in rows],
            "n_queries": [1] * len(rows),
            "traffic": [count for _, count in rows],
            "top": [count for _, count in rows],
            "lang": [""] * len(rows),
            "month": [""] * len(rows),
            "n_words": [1] * len(rows),
        }
    ).sort("name")
    return LogFamilies(table, np.sort(np.array([count for _, count in rows]))[::-1])


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log of 600 queries, some families of two and three, counts that fall as in real logs."""
    rows = []
    for number in range(600):
        family = f"q-{number - number % 3 if number % 7 == 0 else number:04}"
        rows.append(
            {
                "qid": f"q-{number:04}",
                "key": f"query {number}" + " word" * (number % 5),
                "text": f"Query {number}",
                "count": 1 + 20_000 // (number + 1) ** 2 + (number % 4),
                "n_spellings": 1,
                "first_seen": None,
                "last_seen": None,
                "clicks": "",
                "lang": ("en", "de", "")[number % 3],
                "family": family,
            }
        )
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    schema = {"first_seen": pl.Date, "last_seen": pl.Date}
    pl.DataFrame(rows, schema_overrides=schema).sort(
        ["count", "key"], descending=[True, False]
    ).write_parquet(path)
    return path


# --- allocation ------------------------------------------------------------------------------


@given(sizes, st.data())
def test_allocation_adds_up_and_stays_within_each_stratum(found, data):
    n = data.draw(st.integers(len(found), sum(found)))
    shares = data.draw(st.lists(st.floats(0.01, 1e6), min_size=len(found), max_size=len(found)))

    drawn = allocated(found, shares, n)

    assert sum(drawn) == n
    assert all(1 <= n_drawn <= size for n_drawn, size in zip(drawn, found, strict=True))


@given(
    st.lists(st.tuples(st.integers(1, 8), st.floats(0.1, 50)), min_size=1, max_size=3), st.data()
)
def test_optimal_allocation_has_the_least_variance_of_all(found, data):
    """Neyman's: of every allocation in whole numbers, by trying them all."""
    counts, spreads = zip(*found, strict=True)
    n = data.draw(st.integers(len(counts), sum(counts)))

    def variance(drawn):
        parts = zip(counts, spreads, drawn, strict=True)
        return sum((size * spread) ** 2 * (1 / k - 1 / size) for size, spread, k in parts)

    best = min(variance(drawn) for drawn in every(counts, n))
    found_variance = variance(allocated(counts, [size * spread for size, spread in found], n))

    assert isclose(found_variance, best, rel_tol=1e-9, abs_tol=1e-9)


def every(counts, n):
    """Every way to draw n, at least one of each and no more than there are."""
    if len(counts) == 1:
        return [(n,)] if 1 <= n <= counts[0] else []
    return [
        (k, *rest) for k in range(1, min(counts[0], n) + 1) for rest in every(counts[1:], n - k)
    ]


def test_more_than_there_are_and_fewer_than_strata_are_refused():
    with pytest.raises(SampleTooLargeError, match=r"12 families are asked for.*has 11"):
        allocated([5, 6], [1, 1], 12)
    with pytest.raises(SamplingError, match="1 families cannot come from 2 strata"):
        allocated([5, 6], [1, 1], 1)


@pytest.mark.parametrize("text", ["head", "head=x", "head=1, head=2", "=4", "head=-1"])
def test_numbers_that_are_none_are_refused(text):
    with pytest.raises(SamplingError, match="Write each once"):
        parse_given(text)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"neck": 4}, "no stratum 'neck' here. There are: head, torso, tail"),
        ({"head": 10_000}, "10,000 families are asked for, and stratum 'head' has"),
        ({}, "No family is to be drawn"),
        ({"head": -2}, "-2 families of 'head' cannot be drawn"),
    ],
)
def test_given_numbers_that_do_not_fit_are_refused(log, given, why):
    design = Design(allocation=Allocation.GIVEN, given=given)

    with pytest.raises(SamplingError, match=why):
        planned(read_families(log), design)


def test_given_numbers_are_drawn_as_given(log):
    design = Design(allocation=Allocation.GIVEN, given={"head": 3, "tail": 7})

    plan, _ = planned(read_families(log), design)

    assert [(stratum.name, stratum.n_drawn) for stratum in plan.strata] == [
        ("head", 3), ("torso", 0), ("tail", 7),
    ]  # fmt: skip
    assert "Nothing is drawn from torso" in plan.notes[0]


def test_a_log_without_days_or_languages_has_no_such_strata(log):
    with pytest.raises(SamplingError, match="no days, so there are no months"):
        strata_of(read_families(log), By.MONTH)
    with pytest.raises(SamplingError, match="no column of languages"):
        strata_of(families([("a", 1), ("b", 2)]), By.LANGUAGE)


@pytest.mark.parametrize(("n", "last"), [(60, "2023-12"), (61, "2024")])
def test_strata_are_by_year_beyond_60_months(n, last):
    months = [f"{2019 + month // 12}-{month % 12 + 1:02}" for month in range(n)] + [""]
    log = families([(f"f{place:02}", 1) for place in range(n + 1)])
    table = log.table.with_columns(pl.Series("month", months))

    names = strata_of(LogFamilies(table, log.counts), By.MONTH).names

    assert sorted(names)[-2:] == [last, "unknown"]


def test_strata_by_length_and_language_hold_every_family(log):
    families = read_families(log)

    by_length, by_language = strata_of(families, By.LENGTH), strata_of(families, By.LANGUAGE)

    assert by_length.names == ("2 words", "3-4 words", "5-7 words")
    assert by_language.names == ("de", "en", "unknown")
    assert len(by_length.of) == len(families)


# --- draws -----------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [By.FREQUENCY, By.LENGTH])
def test_every_family_is_as_likely_to_be_drawn_as_it_says(log, by):
    """Over 200 seeds; six standard errors of a binomial share."""
    families = read_families(log)
    plan, strata = planned(families, Design(n_families=90, by=by))
    times = dict.fromkeys(families.table["name"].to_list(), 0)
    probability = {}
    for seed in range(200):
        for drawn_family in drawn_families(families, plan, strata, seed=seed):
            times[drawn_family.family] += 1
            probability[drawn_family.family] = drawn_family.inclusion_probability

    for name, p in probability.items():
        assert abs(times[name] / 200 - p) <= 6 * sqrt(p * (1 - p) / 200) + 1e-9


def test_more_of_a_stratum_adds_to_what_fewer_drew(log):
    families = read_families(log)

    few, many = (
        {
            drawn_family.family
            for drawn_family in drawn_families(
                families, *planned(families, Design(n_families=n)), seed=3
            )
        }
        for n in (60, 120)
    )

    assert few < many


@pytest.mark.parametrize("weighting", list(Weighting))
@pytest.mark.parametrize("wordings", list(Wordings))
def test_sum_of_weights_estimates_what_there_is_without_bias(log, weighting, wordings):
    """Horvitz-Thompson: over many draws, weights add up to the searches (or queries) of the log."""
    design = Design(n_families=80, weighting=weighting, wordings=wordings)
    families = read_families(log)
    truth = families.n_traffic if weighting is Weighting.TRAFFIC else families.n_queries
    error = 0.0
    plan, _ = planned(families, design)
    for stratum in plan.strata:
        is_traffic = weighting is Weighting.TRAFFIC
        square = stratum.square_traffic if is_traffic else stratum.square_queries
        total = stratum.n_traffic if is_traffic else stratum.n_queries
        error += stratum.variance(square - (total / stratum.n_families) ** 2)
    totals = [
        sum(query.weight for query in sampled(log, design, seed=seed)[1]) for seed in range(30)
    ]

    # Four standard errors of the mean of 30 estimates, with the finite-population variance.
    assert abs(np.mean(totals) - truth) <= 4.5 * sqrt(error / 30) + 1e-6 * truth


@pytest.mark.parametrize("allocation", [Allocation.EQUAL, Allocation.OPTIMAL])
def test_weighted_mean_of_the_sample_estimates_the_mean_over_searches(log, allocation):
    """Values that fall with frequency, so that the plain mean of a sample is far off."""
    design = Design(n_families=150, allocation=allocation)
    rows = pl.read_parquet(log)
    value = {qid: 1 / (1 + place / 200) for place, qid in enumerate(rows["qid"].to_list())}
    truth = np.average([value[qid] for qid in rows["qid"]], weights=rows["count"])
    estimates, plain = [], []
    for seed in range(50):
        _, queries = sampled(log, design, seed=seed)
        values = [value[query.qid] for query in queries]
        estimates.append(np.average(values, weights=[query.weight for query in queries]))
        plain.append(np.mean(values))

    error = np.std(estimates, ddof=1) / sqrt(len(estimates))
    # The ratio of two unbiased sums is off by a share of its variance, which is below its error.
    assert abs(np.mean(estimates) - truth) <= 5 * error
    assert abs(np.mean(plain) - truth) > 10 * abs(np.mean(estimates) - truth)


def test_expected_error_is_that_of_many_draws():
    """Values drawn anew beside fixed counts: the preview's error is what is seen."""
    rng = np.random.default_rng(5)
    counts = np.round(5_000 / np.arange(1, 801) ** 0.8).astype(int)
    result = families([(f"q{n:04}", int(count)) for n, count in enumerate(counts)])
    plan, strata = planned(result, Design(n_families=120, deviation=0.3))
    weight = dict(zip(result.table["name"], result.table["traffic"], strict=True))
    names = list(weight)
    errors = []
    for seed in range(100):
        values = dict(zip(names, rng.normal(0.5, 0.3, len(names)), strict=True))
        truth = np.average([values[name] for name in names], weights=[weight[n] for n in names])
        drawn = drawn_families(result, plan, strata, seed=seed)
        estimate = np.average(
            [values[query.family] for query in drawn],
            weights=[weight[query.family] / query.inclusion_probability for query in drawn],
        )
        errors.append(estimate - truth)

    assert np.std(errors) == pytest.approx(plan.traffic_error, rel=0.25)


def test_everything_drawn_has_no_error_and_counts_as_itself(log):
    families = read_families(log)

    plan, queries = sampled(log, Design(n_families=len(families)), seed=1)

    assert (plan.traffic_error, plan.queries_error) == (0.0, 0.0)
    assert {query.inclusion_probability for query in queries} == {1.0}
    assert sum(query.weight for query in queries) == families.n_traffic
