"""Comparisons as a whole: each number is the one of the module that makes it, in its place."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from benchwright import compare, compare_runs, evaluate
from benchwright.errors import (
    MethodMisfitError,
    MethodNumberError,
    UnknownMethodError,
    UnknownRunError,
)
from benchwright.statistics.corrections import benjamini_hochberg, holm
from benchwright.statistics.intervals import mean_interval
from benchwright.statistics.ranks import rank_intervals
from benchwright.statistics.signflip import sign_flip, sign_flip_max
from benchwright.statistics.tukey import randomised_tukey

NAN = np.nan
MEASURES = ("nDCG@10", "RR")
QUICK = {"n_flips": 400, "n_draws": 300, "seed": 3}


def made(n: int = 40, gains: tuple[float, ...] = (0.0, 0.02, 0.1), seed: int = 0) -> np.ndarray:
    """Queries x runs x measures, better from run to run."""
    rng = np.random.default_rng(seed)
    topics = rng.random((n, 1, len(MEASURES))) * 0.6
    noise = rng.normal(0, 0.1, (n, len(gains), len(MEASURES)))
    return np.clip(topics + noise + np.array(gains)[:, np.newaxis], 0, 1)


def as_runs(values: np.ndarray) -> dict[str, dict[str, dict[str, float]]]:
    return {
        "abcdefgh"[run]: {
            f"q{query}": dict(zip(MEASURES, row.tolist(), strict=True))
            for query, row in enumerate(values[:, run])
        }
        for run in range(values.shape[1])
    }


VALUES = made()
RUNS = as_runs(VALUES)
HEAD = {f"q{query}" for query in range(12)}
TAIL = {f"q{query}" for query in range(12, 40)}


def test_what_a_measure_is_that_is_no_mean_or_a_cost_is_told():
    values = {"AP": 0.5, "GMAP": 0.5, "NumRet": 9.0, "Hole@10": 0.2, "my own": 1.0}
    runs = {run: {f"q{n}": values for n in range(40)} for run in "ab"}

    assert compare(runs).notes == (
        "GMAP is compared by the plain mean of its values; over all queries it is a geometric one.",
        "NumRet is compared by the plain mean of its values; over all queries it is a sum.",
        "Of Hole@10 less is better; what is called better here has more of it.",
    )


def test_two_runs_by_hand():
    """Differences .2, .1, .3, 0: of 8 patterns of the three 2 reach .6; t = .15 / (.129/2)."""
    old = {"q1": 0.5, "q2": 0.4, "q3": 0.2, "q4": 0.7}
    new = {"q1": 0.7, "q2": 0.5, "q3": 0.5, "q4": 0.7}
    runs = {
        name: {q: {"AP": v} for q, v in run.items()}
        for name, run in {"old": old, "new": new}.items()
    }

    comparison = compare(runs, baseline="old")

    (pair,) = comparison.pairs
    assert (pair.run, pair.reference, pair.measure, pair.slice) == ("new", "old", "AP", "all")
    assert pair.n_queries == 4
    assert pair.difference == pytest.approx(0.15)
    assert pair.p == pair.p_adjusted == 0.25
    assert pair.p_t == pytest.approx(stats.ttest_rel(list(new.values()), list(old.values())).pvalue)
    assert pair.interval.low < 0.15 < pair.interval.high
    assert pair.effect.relative == pytest.approx(0.15 / 0.45)
    assert pair.effect.d_z == pytest.approx(0.15 / np.sqrt(0.05 / 3))
    assert (pair.effect.wins, pair.effect.ties, pair.effect.losses) == (3, 1, 0)
    assert (pair.effect.share_worse, pair.effect.superiority) == (0.0, 3.5 / 4)
    assert pair.power.sigma == pytest.approx(np.sqrt(0.05 / 3))
    assert pair.power.detectable == pytest.approx(2.8016 * np.sqrt(0.05 / 3) / 2, rel=1e-4)
    assert pair.power.queries_for_observed == 6  # (2.8016 * .1291 / .15)^2 = 5.8
    assert pair.power.queries_for_delta == 1309  # (2.8016 * .1291 / .01)^2 = 1308.2
    by_name = {summary.run: summary for summary in comparison.summaries}
    assert (by_name["old"].mean, by_name["old"].rank) == (pytest.approx(0.45), 2)
    assert (by_name["new"].mean, by_name["new"].rank) == (pytest.approx(0.60), 1)
    assert by_name["old"].tie_group == by_name["new"].tie_group == 1


@pytest.mark.parametrize("n_runs", [2, 3])
@pytest.mark.parametrize("options", [{}, {"baseline": "a", "correction": "maxt"}])
def test_values_that_rounding_alone_tells_apart_are_level(n_runs, options):
    """A sum of 0.1 and 0.2 against 0.3, in each of twenty queries."""
    values = dict(zip("abc", (0.3, 0.1 + 0.2, 0.3)[:n_runs], strict=False))
    runs = {name: {f"q{n}": {"AP": value} for n in range(20)} for name, value in values.items()}

    for pair in compare(runs, **options).pairs:
        assert (pair.difference, pair.p, pair.p_adjusted, pair.p_t) == (0, 1, 1, 1)
        assert (pair.interval.low, pair.interval.high) == (0, 0)
        assert pair.effect.ties == 20


def test_no_difference_is_detectable_that_is_more_than_a_measure_can_differ():
    better, worse = ({f"q{n}": {"RR": float(n % 2 == side)} for n in range(4)} for side in (0, 1))

    (pair,) = compare({"a": better, "b": worse}, n_flips=10, n_draws=10).pairs

    assert (pair.interval.low, pair.interval.high) == (-1, 1)
    assert np.isnan(pair.power.detectable)


def test_pairs_have_the_tests_of_their_columns():
    comparison = compare(RUNS, slices={"head": HEAD}, correction="none", **QUICK)

    pairs = comparison.pairs_of("RR", "head")

    assert [(pair.run, pair.reference) for pair in pairs] == [("b", "a"), ("c", "a"), ("c", "b")]
    values = VALUES[:12, :, 1]
    differences = values[:, [1, 2, 2]] - values[:, [0, 0, 1]]
    low, high = mean_interval(differences, span=(-1, 1))
    assert [pair.p for pair in pairs] == pytest.approx(sign_flip(differences, n_flips=400, seed=3))
    assert [pair.interval.low for pair in pairs] == pytest.approx(low)
    assert [pair.interval.high for pair in pairs] == pytest.approx(high)
    assert [pair.p_adjusted for pair in pairs] == [pair.p for pair in pairs]


def test_runs_have_the_intervals_and_ranks_of_their_columns():
    comparison = compare(RUNS, slices={"tail": TAIL}, **QUICK)

    summaries = comparison.summaries_of("nDCG@10", "tail")

    values = VALUES[12:, :, 0]
    low, high = mean_interval(values, span=(0, 1))
    best, worst = rank_intervals(values[:, :, np.newaxis], n_draws=300, seed=3)[:, :, 0]
    assert [summary.run for summary in summaries] == ["a", "b", "c"]
    assert [summary.mean for summary in summaries] == pytest.approx(values.mean(axis=0))
    assert [summary.interval.low for summary in summaries] == pytest.approx(low)
    assert [summary.interval.high for summary in summaries] == pytest.approx(high)
    assert [summary.rank_interval for summary in summaries] == list(zip(best, worst, strict=True))
    assert [summary.n_queries for summary in summaries] == [28, 28, 28]


def test_baseline_is_corrected_by_holm_and_all_pairs_by_tukey():
    against = compare(RUNS, baseline="a", **QUICK)
    among = compare(RUNS, **QUICK)

    assert (against.methods.correction, among.methods.correction) == ("holm", "tukey")
    assert compare(RUNS, alternative="less", **QUICK).methods.correction == "holm"
    pairs = against.pairs_of("RR")
    assert [(pair.run, pair.reference) for pair in pairs] == [("b", "a"), ("c", "a")]
    expected = holm(np.array([pair.p for pair in pairs]))
    assert [pair.p_adjusted for pair in pairs] == pytest.approx(expected)
    square = randomised_tukey(VALUES, n_draws=400, seed=3)[:, :, 1]
    expected = [square[0, 1], square[0, 2], square[1, 2]]
    assert [pair.p_adjusted for pair in among.pairs_of("RR")] == pytest.approx(expected)


def test_slices_are_corrected_together_and_all_queries_apart():
    comparison = compare(
        RUNS, baseline="a", slices={"head": HEAD, "tail": TAIL}, correction="bh", **QUICK
    )

    overall = comparison.pairs_of("RR")
    in_slices = comparison.pairs_of("RR", "head") + comparison.pairs_of("RR", "tail")

    for pairs in (overall, in_slices):
        expected = benjamini_hochberg(np.array([pair.p for pair in pairs]))
        assert [pair.p_adjusted for pair in pairs] == pytest.approx(expected)


def test_maxt_corrects_for_correlated_runs():
    comparison = compare(RUNS, baseline="c", correction="maxt", slices={"head": HEAD}, **QUICK)

    differences = VALUES[:12, :2, 0] - VALUES[:12, 2:, 0]
    expected = sign_flip_max(differences, n_flips=400, seed=3)
    pairs = comparison.pairs_of("nDCG@10", "head")
    assert [pair.p_adjusted for pair in pairs] == pytest.approx(expected)


@pytest.mark.parametrize("name", ["t", "wilcoxon"])
def test_other_tests_are_scipys(name):
    values = made(n=80)
    first, second = values[:, 0, 1], values[:, 1, 1]
    theirs = {
        "t": stats.ttest_rel(second, first, alternative="greater").pvalue,
        "wilcoxon": stats.wilcoxon(second - first, alternative="greater").pvalue,
    }[name]

    comparison = compare(
        as_runs(values),
        baseline="a",
        test=name,
        alternative="greater",
        measures=["RR"],
        **QUICK,
    )

    assert comparison.pairs[0].p == pytest.approx(theirs)


def test_families_are_flipped_and_resampled_whole():
    copies = {
        name: {f"{query}-{copy}": row for query, row in run.items() for copy in range(3)}
        for name, run in RUNS.items()
    }
    families = {query: query.partition("-")[0] for query in copies["a"]}

    once = compare(RUNS, **QUICK)
    thrice = compare(copies, families=families, **QUICK)

    assert thrice.slices[0].n_families == once.slices[0].n_queries == 40
    assert thrice.slices[0].n_queries == 120
    for ours, theirs in zip(thrice.pairs, once.pairs, strict=True):
        assert ours.difference == pytest.approx(theirs.difference)
        assert ours.interval == pytest.approx(theirs.interval)
        assert (ours.p, ours.p_adjusted) == (theirs.p, theirs.p_adjusted)
        assert ours.p_t == pytest.approx(theirs.p_t)
        assert ours.power.detectable == pytest.approx(theirs.power.detectable)
        assert ours.power.queries_for_delta == pytest.approx(
            3 * theirs.power.queries_for_delta, abs=3
        )
    for ours, theirs in zip(thrice.summaries, once.summaries, strict=True):
        assert ours.interval == pytest.approx(theirs.interval)
        assert ours.rank_interval == theirs.rank_interval


def test_too_few_families_are_told():
    tail = TAIL | {"q0", "q1"}  # thirty queries

    few = compare(RUNS, slices={"head": HEAD, "tail": tail}, **QUICK)

    assert few.notes == (
        "Intervals of fewer than 30 families or queries are too short, and tests of them may be "
        "too bold: head 12.",
    )
    in_pairs = {f"q{query}": query // 2 for query in range(40)}
    assert "too bold: all 20." in compare(RUNS, families=in_pairs, **QUICK).notes[0]


def test_undefined_values_leave_the_query_out_of_the_pair():
    values = VALUES.copy()
    values[:10, 1, 0] = NAN

    comparison = compare(as_runs(values), **QUICK)

    of_b = comparison.summaries_of("nDCG@10")[1]
    assert (of_b.n_queries, of_b.n_undefined) == (40, 10)
    assert of_b.mean == pytest.approx(values[10:, 1, 0].mean())
    assert [pair.n_queries for pair in comparison.pairs_of("nDCG@10")] == [30, 40, 30]
    assert [pair.n_queries for pair in comparison.pairs_of("RR")] == [40, 40, 40]


def test_small_and_empty_slices_are_listed_without_numbers_they_cannot_have():
    comparison = compare(RUNS, slices={"one": ["q1"], "none": []}, **QUICK)

    one, none = comparison.pairs_of("RR", "one")[0], comparison.pairs_of("RR", "none")[0]
    assert (one.n_queries, none.n_queries) == (1, 0)
    assert one.p == 1.0
    assert np.isnan([*one.interval, one.p_t, none.p, none.difference]).all()
    assert one.power.queries_for_observed is None
    summary = comparison.summaries_of("RR", "none")[0]
    assert (summary.rank, summary.rank_interval, summary.tie_group) == (None, None, None)


def test_equal_runs_share_rank_and_group():
    comparison = compare({"a": RUNS["c"], "b": RUNS["a"], "c": RUNS["c"]}, **QUICK)

    summaries = comparison.summaries_of("RR")

    assert [summary.rank for summary in summaries] == [1, 3, 1]
    assert [summary.tie_group for summary in summaries] == [1, 2, 1]
    equal = comparison.pairs_of("RR")[1]
    assert (equal.run, equal.reference, equal.p_adjusted) == ("c", "a", 1.0)
    assert equal.interval == (0.0, 0.0)


@pytest.mark.parametrize(
    "options", [{"baseline": "a"}, {"alternative": "less", "correction": "bh"}]
)
def test_tie_groups_are_the_same_whatever_is_asked_of_the_pairs(options):
    plain = compare(RUNS, **QUICK)
    other = compare(RUNS, **options, **QUICK)

    assert [s.tie_group for s in other.summaries] == [s.tie_group for s in plain.summaries]
    assert {s.tie_group for s in plain.summaries} == {1, 2}


def test_many_columns_are_done_in_blocks(monkeypatch):
    whole = compare(RUNS, slices={"head": HEAD}, **QUICK)
    monkeypatch.setattr(
        "benchwright.comparison.comparing.HELD", 100
    )  # two columns of forty queries

    parts = compare(RUNS, slices={"head": HEAD}, **QUICK)

    for ours, theirs in zip(parts.pairs, whole.pairs, strict=True):
        assert (ours.run, ours.measure, ours.slice) == (theirs.run, theirs.measure, theirs.slice)
        assert ours.p == theirs.p
        assert ours.interval == pytest.approx(theirs.interval)
        assert ours.effect == theirs.effect


def test_result_is_json_without_nan():
    comparison = compare(RUNS, slices={"none": []}, **QUICK)

    plain = json.loads(json.dumps(comparison.as_dict(), allow_nan=False))

    assert plain["methods"]["seed"] == 3
    assert plain["pairs"][0]["interval"] == comparison.pairs[0].interval._asdict()
    assert plain["pairs"][3]["slice"] == "none"
    assert plain["pairs"][3]["effect"]["d_z"] is None
    assert plain["summaries"][0]["rank_interval"]["best"] >= 1


def test_board_takes_fewer_draws():
    board = {f"run{n}": RUNS["a"] for n in range(11)}

    assert compare(board, measures=["RR"], n_flips=10).methods.n_draws == 2_000
    assert compare(board, measures=["RR"], n_flips=10, baseline="run3").methods.n_draws == 10_000


def test_same_seed_same_numbers():
    assert compare(RUNS, **QUICK).as_dict() == compare(RUNS, **QUICK).as_dict()
    assert compare(RUNS, **QUICK).pairs != compare(RUNS, **{**QUICK, "seed": 4}).pairs


@pytest.mark.parametrize(("level", "heading"), [(0.95, "95% interval"), (0.975, "97.5% interval")])
def test_comparison_in_a_notebook_names_the_level_of_its_intervals(level, heading):
    assert heading in compare(RUNS, **{**QUICK, "level": level})._repr_html_()


def test_runs_straight_from_the_engine():
    qrels = {b"q%d" % i: {b"d1": 1, b"d2": 0} for i in range(20)}
    good = evaluate(qrels, {qid: [(b"d1", 2.0), (b"d2", 1.0)] for qid in qrels}, ["RR", "P@1"])
    bad = evaluate(qrels, {qid: [(b"d1", 1.0), (b"d2", 2.0)] for qid in qrels}, ["RR", "P@1"])

    comparison = compare({"bad": bad, "good": good}, slices={"even": [b"q0", b"q2"]}, **QUICK)

    pair = comparison.pairs_of("P@1")[0]
    assert (pair.run, pair.difference, pair.p) == ("good", 1.0, 1 / 401)
    assert comparison.slices[1].n_queries == 2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"baseline": "bm25"}, UnknownRunError, "'bm25' is none of the runs; expected one of a, b"),
        ({"test": "z"}, UnknownMethodError, "'z' is no test; expected one of signflip, t"),
        ({"correction": "fdr"}, UnknownMethodError, "'fdr' is no correction"),
        ({"interval": "normal"}, UnknownMethodError, "'normal' is no interval"),
        ({"alternative": "up"}, UnknownMethodError, "'up' is no alternative"),
        (
            {"alternative": "less", "correction": "tukey"},
            MethodMisfitError,
            "Tukey's correction is two-sided",
        ),
        ({"level": 95}, MethodNumberError, "level is 95; expected a share between 0 and 1"),
        ({"n_flips": 0}, MethodNumberError, "n_flips is 0; expected a whole number of at least 1"),
        ({"n_draws": 0}, MethodNumberError, "n_draws is 0"),
        ({"delta": 0}, MethodNumberError, "delta is 0; expected a difference above 0, such as"),
        ({"delta": float("nan")}, MethodNumberError, "delta is nan"),
        ({"seed": -1}, MethodNumberError, "seed is -1; expected a whole number of at least 0"),
        ({"correction": "maxt"}, MethodMisfitError, "flips signs of differences to one baseline"),
        (
            {"correction": "maxt", "baseline": "a", "test": "t"},
            MethodMisfitError,
            "Choose another correction",
        ),
    ],
)
def test_methods_that_are_none_or_do_not_fit(options, error, message):
    with pytest.raises(error) as raised:
        compare(RUNS, **options)

    assert message in str(raised.value)


def test_one_measure_may_be_named_without_a_list():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {"good": {"q1": {"a": 2.0}, "q2": {"b": 2.0}}, "bad": {"q1": {"c": 1.0}, "q2": {"d": 1}}}
    evaluations = {name: evaluate(qrels, run, ["RR", "AP"]) for name, run in runs.items()}

    assert list(evaluate(qrels, runs["good"], "map").means) == ["AP"]
    assert compare(evaluations, measures="MRR").measures == ("RR",)
    assert compare_runs(qrels, runs, "MRR").measures == ("RR",)


def test_numpy_is_loaded_when_a_comparison_is_asked_for():
    code = "import sys, benchwright as core; print('numpy' in sys.modules);"
    code += "core.compare; print('numpy' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "True"]


def test_core_has_no_other_names():
    import benchwright

    with pytest.raises(AttributeError, match=r"'benchwright' has no attribute 'comparr'"):
        benchwright.comparr  # noqa: B018
