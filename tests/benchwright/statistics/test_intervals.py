"""Intervals by Student's t: golden values of real runs, scipy, and what must hold of any."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright import evaluate, read_qrels, read_run
from benchwright.statistics.bootstrap import bootstrap_interval
from benchwright.statistics.intervals import (
    METHODS,
    mean_bounds,
    mean_interval,
    n_differing,
    warnings,
)
from tests.benchwright.realdata import data_folder

NAN = np.nan
MEASURE = "nDCG@10"
GOLDEN = {
    "rrf_bm25_minilm": (0.049196, 0.031734, 0.066657),
    "minilm_l6_int8": (0.014482, -0.012015, 0.040978),
    "lsa200": (0.020062, -0.003917, 0.044041),
    "ql_dirichlet": (-0.017288, -0.029925, -0.004650),
}
"""Cranfield, nDCG@10, run minus bm25_stem: difference and its 95 % interval."""


def skewed(n: int, columns: int = 1, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.gamma(0.5, 0.3, (n, columns)) * (rng.random((n, columns)) < 0.7)


@pytest.mark.data
def test_differences_on_cranfield_have_their_known_intervals():
    folder = data_folder("cranfield")
    qrels = read_qrels(folder / "qrels_derived.txt")

    def values(name):
        per_query = evaluate(qrels, read_run(folder / "runs" / f"{name}.gz"), [MEASURE]).per_query
        return np.array([of[MEASURE] for of in per_query.values()])

    baseline = values("bm25_stem")
    for name, (mean, low, high) in GOLDEN.items():
        difference = values(name) - baseline
        ours = mean_interval(difference[:, np.newaxis])[:, 0]
        theirs = stats.ttest_1samp(difference, 0).confidence_interval(0.95)
        assert difference.mean() == pytest.approx(mean, abs=5.1e-7), name
        assert ours == pytest.approx([low, high], abs=5.1e-7), name
        assert ours == pytest.approx([theirs.low, theirs.high], abs=1e-12), name


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("n", [2, 5, 200])
def test_interval_is_scipys(n, level):
    values = skewed(n, columns=3)

    theirs = stats.t.interval(level, n - 1, values.mean(axis=0), stats.sem(values, axis=0))

    assert mean_interval(values, level=level) == pytest.approx(np.array(theirs), rel=1e-12)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_bounds_are_one_sided(alpha):
    values = skewed(40)

    low, high = mean_bounds(values, alpha=alpha)[:, 0]

    below = stats.ttest_1samp(values[:, 0], 0, alternative="greater")
    above = stats.ttest_1samp(values[:, 0], 0, alternative="less")
    assert low == pytest.approx(below.confidence_interval(1 - alpha).low)
    assert high == pytest.approx(above.confidence_interval(1 - alpha).high)


def by_the_book(x, families, w, level=0.95):
    """The formula written out, one family after the other."""
    mean = sum(w * x) / sum(w)
    names = sorted(set(families))
    of = [sum(w[families == name] * (x[families == name] - mean)) for name in names]
    n = len(names)
    error = np.sqrt(n / (n - 1) * sum(part**2 for part in of)) / sum(w)
    reach = stats.t.ppf((1 + level) / 2, n - 1) * error
    return mean - reach, mean + reach


def test_families_and_weights_by_the_book():
    rng = np.random.default_rng(5)
    x, families, w = skewed(60)[:, 0], rng.integers(0, 17, 60), rng.uniform(0.1, 3, 60)

    plain = mean_interval(x[:, np.newaxis], families=families)[:, 0]
    weighted = mean_interval(x[:, np.newaxis], families=families, weights=w)[:, 0]

    assert plain == pytest.approx(by_the_book(x, families, np.ones(60)), rel=1e-12)
    assert weighted == pytest.approx(by_the_book(x, families, w), rel=1e-12)


def test_copies_in_a_family_tell_nothing_new():
    values = skewed(30)

    doubled = mean_interval(np.repeat(values, 2, axis=0), families=np.arange(60) // 2)

    assert doubled == pytest.approx(mean_interval(values), rel=1e-12)


def test_fewer_than_two_families_have_none_and_equal_values_are_the_point():
    values = np.array([[0.3, NAN, 0.1], [NAN, NAN, 0.1], [NAN, NAN, 0.1]])

    low, high = mean_interval(values)

    np.testing.assert_array_equal(np.isnan([low, high]), [[True, True, False]] * 2)
    assert low[2] == high[2] == pytest.approx(0.1, abs=1e-15)
    assert np.isnan(mean_interval(values[:, 2:], families=np.zeros(3, dtype=int))).all()


def test_undefined_queries_are_left_out_of_their_column_alone():
    values = skewed(30, columns=2)
    values[20:, 1] = NAN

    result = mean_interval(values)

    assert result[:, 0] == pytest.approx(mean_interval(values[:, :1])[:, 0])
    assert result[:, 1] == pytest.approx(mean_interval(values[:20, 1:])[:, 0])


def test_ends_stay_inside_the_span():
    values = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])

    low, high = mean_interval(values, span=(0, np.array([1.0, np.inf])))

    assert low.tolist() == [0, 0]
    assert high[0] == 1 < high[1]
    assert (mean_interval(-values, span=(-1, 1))[0] == -1).all()


@pytest.mark.parametrize("method", METHODS[1:])
def test_bootstraps_can_be_had_by_name(method):
    values = skewed(40)

    ours = mean_interval(values, method=method, n_draws=300, seed=2)

    assert (ours == bootstrap_interval(values, method=method, n_draws=300, seed=2)).all()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.floats(0.5, 0.99))
def test_mean_is_inside_and_a_higher_level_is_wider(values, level):
    column = np.array(values)[:, np.newaxis]

    low, high = mean_interval(column, level=level)[:, 0]
    wider = mean_interval(column, level=(1 + level) / 2)[:, 0]

    assert low <= column.mean() + 1e-12
    assert column.mean() - 1e-12 <= high
    assert wider[0] <= low + 1e-12
    assert high - 1e-12 <= wider[1]


def test_families_that_differ_are_counted():
    differences = np.array([[0.0, 0.2], [0.1, NAN], [-0.1, 0.0], [0.0, 0.0]])

    assert n_differing(differences).tolist() == [2, 1]
    # What cancels inside of a family differs all the same.
    assert n_differing(differences, np.array([0, 1, 1, 2])).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("n_families", "differing", "words"),
    [
        (30, None, []),
        (29, None, ["too short"]),
        (30, 15, []),
        (29, 14, ["too short", "no interval is right"]),
        (200, 14, ["no interval is right"]),
    ],
)
def test_warnings(n_families, differing, words):
    items = list(warnings(n_families, differing))

    assert len(items) == len(words)
    for sentence, word in zip(items, words, strict=True):
        assert word in sentence
