"""What a comparison comes back with: its tables, and what JSON holds of it."""

import json
from dataclasses import fields, replace

import pytest
from statsmodels.stats.multitest import multipletests

from benchwright.comparison.outcome import (
    Comparison,
    Effect,
    Interval,
    Methods,
    Pair,
    Power,
    RankInterval,
    RunSummary,
    SliceSize,
    slice_p_values,
)

NAN, INF = float("nan"), float("inf")
PAIR = Pair(
    run="b",
    reference="a",
    measure="RR",
    slice="all",
    n_queries=40,
    difference=0.1,
    interval=Interval(0.02, 0.18),
    p=0.01,
    p_adjusted=0.02,
    p_t=0.015,
    effect=Effect(0.25, INF, 20, 5, 15, NAN, 0.5),
    power=Power(0.2, 0.0886, None, 785, 0.02),
    decision="better",
    reason="",
    n_differing=35,
)
SUMMARY = RunSummary("a", "RR", "all", 40, 0, NAN, Interval(NAN, 0.5), 1, RankInterval(1, 2), 1)


def in_place(one, measure, name):
    return replace(one, measure=measure, slice=name)


TABLES = [("RR", "all"), ("RR", "head"), ("nDCG@10", "all"), ("nDCG@10", "head")]
COMPARISON = Comparison(
    runs=("a", "b"),
    baseline=None,
    measures=("RR", "nDCG@10"),
    slices=(SliceSize("all", 40, 30), SliceSize("head", 10, 9)),
    methods=Methods("signflip", "two-sided", "holm", "t", 0.95, 10_000, 10_000, 0),
    summaries=tuple(in_place(SUMMARY, *table) for table in TABLES),
    pairs=tuple(in_place(PAIR, *table) for table in TABLES),
    notes=("one", "two"),
)


@pytest.mark.parametrize(("measure", "name"), TABLES)
def test_a_table_holds_one_measure_over_one_slice(measure, name):
    assert COMPARISON.pairs_of(measure, name) == [in_place(PAIR, measure, name)]
    assert COMPARISON.summaries_of(measure, name) == [in_place(SUMMARY, measure, name)]


def test_without_a_slice_the_table_is_of_all_queries():
    assert COMPARISON.pairs_of("RR") == [PAIR]
    assert COMPARISON.summaries_of("RR") == [SUMMARY]


def test_json_holds_every_field_and_no_undefined_number():
    written = json.loads(json.dumps(COMPARISON.as_dict(), allow_nan=False))

    assert list(written) == [field.name for field in fields(Comparison)]
    assert written["slices"][1] == {"name": "head", "n_queries": 10, "n_families": 9}
    first, summary = written["pairs"][0], written["summaries"][0]
    assert first["interval"] == {"low": 0.02, "high": 0.18}
    assert first["effect"] == {
        "relative": 0.25,
        "d_z": None,
        "wins": 20,
        "ties": 5,
        "losses": 15,
        "share_worse": None,
        "superiority": 0.5,
    }
    assert first["power"]["queries_for_delta"] == 785
    assert (summary["mean"], summary["interval"]) == (None, {"low": None, "high": 0.5})
    assert (summary["rank"], summary["rank_interval"]) == (1, {"best": 1, "worst": 2})
    assert written["notes"] == ["one", "two"]


# --- slices that are explored --------------------------------------------------------------------

P = {"RR": [0.004, 0.03, 0.2], "nDCG@10": [0.01, 0.5, 0.02]}
SLICES = ("head", "tail", "long")


def explored(without=()):
    pairs = [
        replace(in_place(PAIR, measure, name), p=p)
        for measure, of in P.items()
        for name, p in zip(SLICES, of, strict=True)
    ]
    # Neither all queries nor a slice that is left out counts as a test.
    pairs += [in_place(PAIR, measure, name) for measure in P for name in ("all", *without)]
    return slice_p_values(pairs, without=without)


@pytest.mark.parametrize("without", [(), ("own",), ("own", "other")])
def test_slices_of_one_measure_are_corrected_together_as_statsmodels_has_it(without):
    result = explored(without)

    assert len(result) == 6
    for measure, of in P.items():
        expected = multipletests(of, method="fdr_bh")[1]
        seen = [result[measure, name, "b", "a"] for name in SLICES]
        assert seen == pytest.approx(expected)
