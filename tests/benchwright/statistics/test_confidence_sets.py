"""Tie groups: known groups of real runs, a second way to compute them, what must change nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchwright import evaluate, read_qrels, read_run
from benchwright.evaluation.uncertainty import ranked
from benchwright.statistics import confidence_sets
from benchwright.statistics.confidence_sets import tie_groups
from benchwright.statistics.signflip import flipped_sums, sign_flip
from tests.benchwright.realdata import data_folder

NAN = np.nan
MEASURE = "nDCG@10"
GOLDEN = [1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6]
"""Groups of the 24 runs of TREC-COVID, first round, in the order of their means."""

BEST = ["run1", "OHSU_RUN2", "sheikh_bm25_manual", "uogTrDPH_QE", "T5R1", "UIowaS_Run2"]


@pytest.fixture(scope="module")
def covid():
    """Names, and nDCG@10 (queries x runs), best first."""
    folder = data_folder("trec_covid_round1")
    qrels = read_qrels(folder / "qrels.covid-round1.txt")
    results = {
        path.name.removesuffix(".gz"): evaluate(qrels, read_run(path), [MEASURE], ties="trec9")
        for path in sorted((folder / "runs").iterdir())
    }
    names = sorted(results, key=lambda name: -results[name].means[MEASURE])
    values = [[of[MEASURE] for of in results[name].per_query.values()] for name in names]
    return names, np.array(values).T


def zeros(values: np.ndarray, n: int) -> np.ndarray:
    return np.hstack([values, np.zeros((len(values), n))])


@pytest.mark.data
@pytest.mark.parametrize(("n_flips", "seed"), [(2_000, 0), (10_000, 1), (20_000, 2)])
def test_groups_of_real_runs_are_known(covid, n_flips, seed):
    names, values = covid
    assert names[:6] == BEST

    assert tie_groups(values, n_flips=n_flips, seed=seed).of.tolist() == GOLDEN


@pytest.mark.data
def test_p_values_of_real_runs_are_known(covid):
    names, values = covid
    n_flips = 20_000

    first = dict(zip(names, tie_groups(values, n_flips=n_flips).p, strict=True))
    second = dict(zip(names[1:], tie_groups(values[:, 1:], n_flips=n_flips).p, strict=True))
    last = tie_groups(values[:, 22:], n_flips=n_flips).p[1]

    for groups, p in (
        (first["OHSU_RUN2"], 0.0245),
        (first["sheikh_bm25_manual"], 0.0114),
        (second["Technion-MEDMM"], 0.0262),
        (second["UIowaS_Run2"], 0.1408),
        (last, 0.061005),
    ):
        assert groups == pytest.approx(p, abs=4 * (p * (1 - p) / n_flips) ** 0.5)


@pytest.mark.data
def test_weak_runs_copies_and_order_change_nothing(covid):
    names, values = covid
    place = names.index("uogTrDPH_QE")

    assert tie_groups(zeros(values, 3), n_flips=2_000).of.tolist() == [*GOLDEN, *[7] * 3]
    assert tie_groups(zeros(values, 50), n_flips=2_000).of.tolist() == [*GOLDEN, *[7] * 50]
    best = values[:, :1]
    assert tie_groups(np.hstack([values, best]), n_flips=2_000).of.tolist() == [*GOLDEN, 1]
    copies = np.repeat(values[:, [place]], 5, axis=1)
    assert tie_groups(np.hstack([copies, values])).of.tolist() == [*[2] * 5, *GOLDEN]
    assert tie_groups(values[:, :13]).of.tolist() == GOLDEN[:13]
    assert tie_groups(zeros(values[:, :13], 6)).of.tolist() == [*GOLDEN[:13], *[4] * 6]
    order = np.random.default_rng(4).permutation(24)
    assert tie_groups(values[:, order]).of.tolist() == np.array(GOLDEN)[order].tolist()


@pytest.mark.data
def test_a_run_far_behind_is_in_no_group_with_the_best(covid):
    """.689 and .493 were one group by the range of all runs, which weak ones widen."""
    _, values = covid
    means = values.mean(axis=0)

    first = means[np.array(GOLDEN) == 1]

    assert means.max() == pytest.approx(0.6844, abs=0.01)
    assert first.min() > means.max() - 0.05


# --- a second way ----------------------------------------------------------------------------


def t_of(difference: np.ndarray) -> float:
    """One-sample t, written out."""
    n, squares, total = len(difference), (difference**2).sum(), difference.sum()
    if squares <= 1e-12:
        return 0.0
    variance = max(squares - total**2 / n, 0) * n / (n - 1)
    return total / variance**0.5 if variance else np.inf * np.sign(total)


def by_the_book(values: np.ndarray, signs: np.ndarray) -> dict[int, float]:
    """p of each run of the first set, pair by pair and flip by flip, without a screen."""
    n_flips, k = len(signs), values.shape[1]
    left, out, distance = list(range(k)), [], []
    while len(left) > 1:
        behind = {i: max(t_of(values[:, j] - values[:, i]) for j in left if j != i) for i in left}
        worst = max(behind, key=behind.get)
        out.append(worst)
        distance.append(behind[worst])
        left.remove(worst)
    p, largest = {left[0]: 1.0}, 0.0
    for at, run in enumerate(out):
        inside = [*out[at:], left[0]]
        pairs = [(i, j) for i in inside for j in inside if i < j]
        n_reached = 0
        for row in signs:
            result = max(abs(t_of(row * (values[:, i] - values[:, j]))) for i, j in pairs)
            n_reached += result >= distance[at] * (1 - 1e-6)
        largest = max(largest, (n_reached + 1) / (n_flips + 1))
        p[run] = largest
    return p


@pytest.mark.parametrize("seed", range(4))
def test_p_values_are_those_of_the_book(seed):
    """Of the very flips, which are those of the unit vectors."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 0.2, (14, 4)) + np.array([0.0, 0.05, 0.1, 0.1])
    signs = np.concatenate(list(flipped_sums(np.eye(14), 500, seed)))

    ours = tie_groups(values, n_flips=500, seed=seed).p

    for run, p in by_the_book(values, signs).items():
        assert ours[run] == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize(("alpha", "groups"), [(1 / 16, [1, 1]), (0.0626, [1, 2])])
def test_a_p_of_exactly_alpha_stays_in_the_group(alpha, groups):
    """Five of ten queries are worse: p = 2 / 32."""
    worse = np.array([0.25] * 5 + [0.0] * 5)

    result = tie_groups(np.column_stack([worse * 0, -worse]), alpha=alpha)

    assert (result.of.tolist(), result.p.tolist()) == (groups, [1, 1 / 16])


def test_two_runs_have_the_p_of_sign_flips():
    rng = np.random.default_rng(2)
    values = rng.random((12, 2))
    values[3:, 1] = values[3:, 0]  # three queries differ: exact

    p = tie_groups(values).p

    assert p.min() == sign_flip(values[:, :1] - values[:, 1:])[0]
    assert p.max() == 1


# --- how often it is right -------------------------------------------------------------------


@pytest.mark.data
def test_equal_runs_are_all_kept_as_often_as_claimed(covid):
    """20 runs, centred by their means, 200 queries drawn for all: true rate .94 to .96."""
    _, values = covid
    equal = values[:, :20] - values[:, :20].mean(axis=0)
    kept = 0
    for seed in range(50):
        drawn = np.random.default_rng(seed).integers(0, len(equal), 200)
        kept += tie_groups(equal[drawn], n_flips=2_000, seed=seed).of.max() == 1

    assert kept >= 0.86 * 50


@pytest.mark.data
@pytest.mark.parametrize(("n", "put_out", "size"), [(50, 0.80, 4.7), (200, 0.95, 1.9)])
def test_worse_runs_are_put_out_of_group_one_as_often_as_published(covid, n, put_out, size):
    """20 runs .02 apart, 60 boards: within three standard errors of theirs and of ours."""
    _, values = covid
    centred = values[:, :20] - values[:, :20].mean(axis=0) - 0.02 * np.arange(20)
    first = []
    for seed in range(60):
        drawn = np.random.default_rng(seed).integers(0, len(centred), n)
        first.append(tie_groups(centred[drawn], n_flips=2_000, seed=seed).of == 1)

    sizes = np.sum(first, axis=1)
    error = sizes.std() * (1 / 60 + 1 / 200) ** 0.5
    assert np.all(first, axis=0)[0]
    assert sizes.mean() == pytest.approx(size, abs=3 * error)
    assert 1 - (sizes.mean() - 1) / 19 == pytest.approx(put_out, abs=3 * error / 19 + 0.005)


@pytest.mark.parametrize(("n", "fewest"), [(40, 0.80), (120, 0.82)])
def test_families_are_flipped_whole(n, fewest):
    """12 equal runs on families of one to four copies: by query the set would be far too small."""
    n_boards, kept, ignored = 60, 0, 0
    for seed in range(n_boards):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 5, n)
        of = np.repeat(np.arange(n), sizes)
        rows = rng.normal(0, 0.2, (n, 12))[of]
        is_copy = rng.random(len(of)) < 0.7
        rows = np.where(is_copy[:, np.newaxis], rows, rng.normal(0, 0.2, rows.shape))
        kept += tie_groups(rows, families=of, n_flips=1_000).of.max() == 1
        ignored += tie_groups(rows, n_flips=1_000).of.max() == 1

    assert kept >= fewest * n_boards
    assert ignored <= kept - 0.15 * n_boards


# --- cases -----------------------------------------------------------------------------------


def test_a_group_need_not_be_contiguous():
    """A run of much scatter is not put out, though a steadier one of a better mean is."""
    rng = np.random.default_rng(0)
    query = rng.random(60)
    best = query + 0.02
    steady = query + rng.normal(0, 0.001, 60) - 0.01
    moody = query + rng.normal(0, 0.5, 60)
    moody += steady.mean() - moody.mean() - 0.02

    assert tie_groups(np.column_stack([best, steady, moody])).of.tolist() == [1, 2, 1]


@pytest.mark.parametrize(("n", "n_families"), [(9, 9), (20, 9)])
def test_too_few_queries_or_families_are_one_group(n, n_families):
    values = np.column_stack([np.ones(n), np.zeros(n)])
    families = None if n == n_families else np.arange(n) % n_families

    groups = tie_groups(values, families=families)

    assert (groups.of.tolist(), groups.too_few) == ([1, 1], True)
    assert "too few" in next(groups.notes())


def test_ten_are_enough():
    groups = tie_groups(np.column_stack([np.ones(10), np.zeros(10)]))

    assert (groups.of.tolist(), groups.too_few) == ([1, 2], False)


def test_what_is_lost_is_told_of_too_few_as_well():
    values = np.random.default_rng(1).random((12, 2))
    values[:3, 0] = NAN

    groups = tie_groups(values)

    assert (groups.too_few, groups.n_lost) == (True, 3)
    assert np.isnan(groups.p).all()


def test_flips_that_reach_the_very_same_distance_count():
    """The third is behind on each of ten queries: of 1,024 patterns two are as far out."""
    behind = np.array([1, 2, 1, 3, 2, 1, 6, 2, 1, 5]) / 60
    first = np.random.default_rng(4).random(10)
    second = first + np.array([0.02, -0.02, 0.021, *[0.0] * 7])

    p = tie_groups(np.column_stack([first, second, first - behind])).p

    assert p[2] > 0.05 / 50
    assert p[2] == pytest.approx(2 / 1024, abs=0.0013)


def test_only_whole_rows_count_and_the_lost_are_told():
    rng = np.random.default_rng(1)
    values = rng.random((40, 3))
    values[:4, 1] = NAN

    groups = tie_groups(values)

    assert groups.n_lost == 4
    assert groups.of.tolist() == tie_groups(values[4:]).of.tolist()
    assert "4 queries" in " ".join(groups.notes())


def test_a_run_that_is_defined_nowhere_takes_no_query_from_the_others():
    values = np.column_stack([np.ones(12), np.zeros(12), np.full(12, NAN)])

    groups = tie_groups(values)

    assert (groups.of.tolist(), groups.n_lost) == ([1, 2, 3], 0)


def test_more_than_a_hundred_and_fifty_close_runs_stay_together(monkeypatch):
    monkeypatch.setattr(confidence_sets, "MOST", 5)
    values = np.random.default_rng(3).normal(0, 1, (50, 9))
    far = values.mean(axis=1, keepdims=True) - 40

    groups = tie_groups(np.hstack([values, far]), n_flips=500)

    assert groups.too_many
    assert (groups.of[:9] == 1).sum() >= 4
    assert groups.of[9] > 1
    assert "too many" in " ".join(groups.notes())


@pytest.mark.parametrize(("k", "too_many"), [(150, False), (151, True)])
def test_a_hundred_and_fifty_are_told_apart(k, too_many):
    values = np.random.default_rng(3).normal(0, 1, (12, k))

    groups = tie_groups(values, n_flips=20)

    assert groups.too_many == too_many
    assert np.isnan(groups.p).any() == too_many
    assert any("More than 150" in note for note in groups.notes()) == too_many


def test_of_too_many_the_worst_means_stay_in_the_group(monkeypatch):
    monkeypatch.setattr(confidence_sets, "MOST", 5)
    values = np.random.default_rng(3).normal(0, 1, (50, 9))

    groups = tie_groups(values, n_flips=500)

    order = np.argsort(-values.mean(axis=0))
    assert np.isnan(groups.p[order[5:]]).all()
    assert not np.isnan(groups.p[order[:5]]).any()
    assert (groups.of[order[5:]] == 1).all()


@pytest.mark.parametrize("place", range(4))
def test_runs_that_differ_by_rounding_are_copies(place):
    rng = np.random.default_rng(6)
    values = rng.normal(0, 0.2, (40, 4)) + np.array([0.0, 0.02, 0.05, 0.2])
    nearly = values[:, [place]] + rng.normal(0, 1e-10, (40, 1))

    alone, beside = tie_groups(values), tie_groups(np.hstack([values, nearly]))

    assert beside.of.tolist() == [*alone.of.tolist(), alone.of[place]]
    known = np.append(alone.p, alone.p[place])
    assert beside.p == pytest.approx(known, abs=0.03, nan_ok=True)


def test_runs_behind_by_the_same_everywhere_are_told_apart():
    values = np.random.default_rng(5).random((30, 1)) + np.array([0.3, 0.2, 0.1])

    assert tie_groups(values).of.tolist() == [1, 2, 3]


@pytest.mark.parametrize("seed", range(5))
def test_parts_in_which_runs_are_looked_at_change_nothing(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    values = rng.beta(0.8, 1.2, (60, 1)) + rng.normal(0, 0.2, (60, 40)) + np.linspace(0, 0.5, 40)
    whole = tie_groups(values, n_flips=500)
    for name, size in (("FIRST_HELD", 1), ("MOST_HELD", 3), ("LOT", 7)):
        monkeypatch.setattr(confidence_sets, name, size)

    parts = tie_groups(values, n_flips=500)

    assert parts.of.tolist() == whole.of.tolist()
    np.testing.assert_array_equal(parts.p, whole.p)
    assert len(set(parts.of)) > 2


def test_screen_is_at_its_place():
    """Two runs of one t: above the screen p is alpha / 50, below it is worked out."""
    n = 40
    noise = np.random.default_rng(8).normal(0, 1, n)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    limit = stats.t.ppf(1 - 0.05 / (50 * 2**2), n - 1)
    for factor, is_out in ((1.001, True), (0.999, False)):
        difference = noise + limit * factor / n**0.5
        p = tie_groups(np.column_stack([difference, np.zeros(n)]), n_flips=500).p.min()
        assert (p == 0.05 / 50) == is_out


small = st.integers(0, 2**32 - 1)


@settings(max_examples=40, deadline=None)
@given(small, st.integers(2, 7), st.integers(8, 40))
def test_order_copies_and_zero_runs_change_no_group(seed, k, n):
    rng = np.random.default_rng(seed)
    values = np.round(rng.random((n, k)) + rng.random(k) * 0.3, 3)
    groups = tie_groups(values, n_flips=300).of

    order = rng.permutation(k)
    assert (tie_groups(values[:, order], n_flips=300).of == groups[order]).all()
    copied = tie_groups(np.hstack([values, values[:, order[:1]]]), n_flips=300).of
    assert copied.tolist() == [*groups.tolist(), groups[order[0]]]
    if n >= 10:
        with_zero = tie_groups(zeros(values + 9, 2), n_flips=300).of
        assert with_zero.tolist() == [*groups.tolist(), *[groups.max() + 1] * 2]


@settings(max_examples=40, deadline=None)
@given(small, st.integers(2, 7), st.integers(2, 40))
def test_a_run_may_be_the_first_exactly_in_group_one(seed, k, n):
    """And a run of group g is behind at least g - 1 others, but not surely behind more than the
    groups before hold."""
    rng = np.random.default_rng(seed)
    values = rng.random((n, k)) * rng.uniform(0.1, 1, k) + rng.random(k) * 0.5
    means = values.mean(axis=0)
    qids = [str(place) for place in range(n)]

    standings = ranked(values.T.tolist(), qids, {}).standings

    for place, one in enumerate(standings):
        before = sum(other.tie_group < one.tie_group for other in standings)
        rank = 1 + (means > means[place]).sum()
        assert (one.best == 1) == (one.tie_group == 1)
        assert one.tie_group <= one.best <= before + 1
        assert one.best <= rank <= one.worst <= k
    assert {standing.tie_group for standing in standings} == set(
        range(1, max(o.tie_group for o in standings) + 1)
    )


def test_runs_that_are_undefined_everywhere_are_one_group():
    groups = tie_groups(np.full((20, 3), np.nan))

    assert groups.of.tolist() == [1, 1, 1]
    assert not list(groups.notes())
