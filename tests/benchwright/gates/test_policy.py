"""A policy is read strictly, and has one digest however it was written down."""

import hashlib
import json
from dataclasses import replace

import pytest

from benchwright.gates.errors import PolicyFormatError
from benchwright.gates.policy import DEFAULTS, Limits, Policy, policy_from, read_policy

WRITTEN = {"goal": "not_worse", "slices": ["head", "tail"], "margin": 0.03}


def test_the_digest_is_the_sha_256_of_sorted_json_without_spaces():
    content = json.dumps(DEFAULTS.as_dict(), sort_keys=True, separators=(",", ":"))

    assert hashlib.sha256(content.encode()).hexdigest() == DEFAULTS.digest


def test_what_is_left_out_is_as_usual_and_makes_no_other_digest():
    whole = policy_from({**policy_from({}).as_dict(), **WRITTEN})

    assert policy_from(WRITTEN) == whole
    assert policy_from(WRITTEN).digest == whole.digest


def test_the_order_of_fields_and_the_way_numbers_are_written_make_no_difference(tmp_path):
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text('{"margin": 0.020, "alpha": 5e-2, "measure": "ndcg_cut_10"}')
    second.write_text('{"measure": "nDCG@10", "alpha": 0.05, "margin": 2e-2}')

    assert read_policy(first).digest == read_policy(second).digest == policy_from({}).digest


BEFORE_THE_RULE = [
    ({}, "7dbf4419cbf235eb1351fd057b03ab40a5f53ceb94c3cab7ecd3c432e8c804d9"),
    (
        {
            "baseline": "bm25",
            "split": "test",
            "slices": ["head"],
            "guard_rails": {"measures": ["R@100"], "worst_loss": 0.25, "worst_share": 0.1},
            "limits": {"submissions": 5},
        },
        "72dfc86459558b8ad5ecb1c5399ec7dc1395a26c796718ed32315269df1a18c8",
    ),
]
"""Policies as they were written before `worst_rule`, with the digests they were given then."""


@pytest.mark.parametrize(("content", "digest"), BEFORE_THE_RULE, ids=("empty", "written"))
def test_a_policy_from_before_the_rule_keeps_digest_and_hard_limit(tmp_path, content, digest):
    (tmp_path / "p.json").write_text(json.dumps(content))

    for policy in (policy_from(content), read_policy(tmp_path / "p.json")):
        assert (policy.digest, policy.guard_rails.worst_rule) == (digest, "share")
        again = policy_from(policy.frozen())
        assert (again, again.digest) == (policy, digest)
    assert DEFAULTS.guard_rails.worst_rule == "tested"
    assert policy_from(DEFAULTS.frozen()) == DEFAULTS


CHANGES = [
    *({"baseline": "b"}, {"measure": "AP"}, {"goal": "not_worse"}, {"slices": ["a"]}),
    *({"margin": 0.03}, {"delta_min": 0.02}, {"alpha": 0.01}, {"labels": "sparse"}),
    *({"guard_rails": {"worst_loss": 0.2}}, {"limits": {"agreement": 0.5}}, {"smallest_slice": 40}),
    *({"split": "test"}, {"guard_rails": {"worst_rule": "tested"}}),
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_every_field_is_in_the_digest(change):
    assert policy_from(change).digest != policy_from({}).digest


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_policy_survives_its_json(change):
    policy = policy_from(change)

    assert policy_from(json.loads(json.dumps(policy.as_dict()))) == policy


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "p.json: the policy is []; expected a JSON object"),
        ({"gaol": "improve"}, "the policy is given a field 'gaol'; expected only baseline"),
        ({"goal": "win"}, "goal is 'win'; expected improve or not-worse"),
        ({"limits": {"stale_share": 2}}, "stale_share is 2; expected a number from 0 to 1"),
        ({"limits": {"agreement": "1"}}, "agreement is '1'; expected a number from -1 to 1"),
        ({"labels": None}, "labels is None; expected pooled or sparse"),
        ({"margin": 0}, "margin is 0; expected a number between 0 and 1"),
        ({"margin": True}, "margin is True; expected a number"),
        ({"margin": "0.02"}, "margin is '0.02'; expected a number"),
        ({"margin": None}, "margin is None; expected a number"),
        ({"smallest_slice": "30"}, "smallest_slice is '30'; expected a whole number"),
        ({"slices": [3]}, "slices is [3]; expected a list of names"),
        ({"slices": {"a": 1}}, "expected a list of names"),
        ({"alpha": 0.5}, "alpha is 0.5; expected a number between 0 and 0.5"),
        ({"alpha": float("nan")}, "alpha is nan; expected a number"),
        ({"slices": "head"}, "slices is 'head'; expected a list of names"),
        ({"slices": [""]}, "slices is ['']; expected a list of names"),
        ({"measure": "nope@3"}, "measure is 'nope@3'; expected a measure"),
        ({"baseline": "\ud800"}, "a text is given U+0000 or half a character; expected neither"),
        ({"guard_rails": {"exact_slice": "a\0"}}, "a text is given U+0000 or half a character"),
        ({"\0": 1}, "a text is given U+0000 or half a character"),
        ({"measure": "GMAP"}, "measure is 'GMAP'; expected a measure whose mean"),
        (
            {"measure": "Hole@10"},
            "measure is 'Hole@10'; expected a measure of which more is better",
        ),
        ({"guard_rails": {"measures": ["unj_10"]}}, "of which more is better"),
        ({"guard_rails": []}, "guard_rails is []; expected a JSON object"),
        ({"guard_rails": {"measures": ["x"]}}, "guard_rails.measures is 'x'; expected a measure"),
        ({"limits": {"submissions": -1}}, "submissions is -1; expected a whole number"),
        ({"limits": {"many": 1}}, "limits is given a field 'many'"),
        ({"smallest_slice": 1}, "smallest_slice is 1; expected a whole number from 2"),
        ({"baseline": 3}, "baseline is 3; expected a text"),
    ],
)
def test_what_is_wrong_is_named_with_its_field(content, message):
    with pytest.raises(PolicyFormatError) as raised:
        policy_from(content, where="p.json")

    assert message in str(raised.value)
    assert str(raised.value).endswith("Correct it.")


@pytest.mark.parametrize("content", ["goal: improve", "[" * 100_000], ids=["yaml", "deep"])
def test_a_file_that_is_no_json_is_told(tmp_path, content):
    (tmp_path / "p.json").write_text(content)

    with pytest.raises(PolicyFormatError, match=r"p\.json: the file is no JSON"):
        read_policy(tmp_path / "p.json")


def test_measures_are_known_by_one_name_each():
    policy = policy_from({"measure": "ndcg_cut_20", "guard_rails": {"measures": ["recall_100"]}})

    assert policy.measures == ("nDCG@20", "R@100", "Judged@20")
    assert replace(policy, measure="AP").judged == "Judged@10"


# By field: what is just inside, and what is just outside.
EDGES = {
    "margin": ([1e-9, 0.999], [0, 1, -0.01]),
    "delta_min": ([1e-9, 0.999], [0, 1]),
    "alpha": ([1e-9, 0.499], [0, 0.5]),
    "smallest_slice": ([2, 10_000], [1, 2.0, True]),
    "guard_rails.worst_loss": ([1e-9, 0.999], [0, 1]),
    "guard_rails.worst_share": ([0, 1], [-1e-9, 1 + 1e-9]),
    "limits.submissions": ([0, 1], [-1, 0.5, False]),
    "limits.contaminated_share": ([0, 1], [-1e-9, 1 + 1e-9]),
    "limits.stale_share": ([0, 1], [-1e-9, 1 + 1e-9]),
    "limits.agreement": ([-1, 1], [-1 - 1e-9, 1 + 1e-9]),
}


def written(field, value):
    part, _, name = field.rpartition(".")
    return {part: {name: value}} if part else {name: value}


@pytest.mark.parametrize("field", EDGES)
def test_numbers_are_taken_up_to_their_edges_and_not_beyond(field):
    part, _, name = field.rpartition(".")
    inside, outside = EDGES[field]

    for value in inside:
        policy = policy_from(written(field, value))
        assert getattr(getattr(policy, part) if part else policy, name) == value
    for value in outside:
        with pytest.raises(PolicyFormatError, match=f"{name} is {value!r}; expected"):
            policy_from(written(field, value))


def test_names_are_stripped_and_stand_once():
    policy = policy_from({"baseline": " bm25 ", "slices": [" head", "tail", "head "]})

    assert (policy.baseline, policy.slices) == ("bm25", ("head", "tail"))
    rails = policy_from({"guard_rails": {"measures": ["R@100", "recall_100", "RR@10"]}}).guard_rails
    assert rails.measures == ("R@100", "RR@10")
    with pytest.raises(PolicyFormatError, match=r"slices is \[' '\]; expected a list of names"):
        policy_from({"slices": [" "]})


def test_what_is_scored_is_the_gain_without_unjudged_documents_as_well():
    assert policy_from({}).measures == ("nDCG@10", "R@100", "RR@10", "Judged@10")
    assert policy_from({}).scored == (*policy_from({}).measures, "nDCG(judged_only=True)@10")
    assert policy_from({"measure": "P@5"}).scored == ("P@5", "R@100", "RR@10", "Judged@5")


def test_limits_can_be_written_in_part():
    assert policy_from({"limits": {"submissions": 3}}).limits == Limits(submissions=3)
    assert Policy().limits == Limits()
