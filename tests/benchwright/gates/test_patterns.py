"""What a gate's differences look like together: the rules of `compare` over its evidence."""

import numpy as np
import pytest

from benchwright.comparison.patterns import family_slices
from benchwright.gates.patterns import patterns
from benchwright.gates.policy import GuardRails
from tests.benchwright.gates.making import decided, evidence, policy, spread

N = 400
HALF = np.arange(N) < N // 2
CONDENSED = "nDCG(judged_only=True)@10"
RAILS = ("R@100", "RR@10")
SAID = policy(guard_rails=GuardRails(measures=RAILS, worst_share=1.0))


def arms(**of_candidate):
    """Rails of both: 0.5 for the baseline, so that the candidate's show the difference."""
    return {name: 0.5 + values for name, values in of_candidate.items()}


def codes(differences, *, rails=None, **more):
    """Names of the rules that hold; the baseline has 0.5 by every measure."""
    flat = {name: spread(0.0) for name in (*RAILS, CONDENSED)}
    arm = evidence(differences, rails=arms(**{**flat, **(rails or {})}), **more)
    arm.baseline.values[CONDENSED] = np.full(N, 0.5)
    return [pattern["code"] for pattern in patterns(SAID, arm)]


@pytest.mark.parametrize(
    ("gain", "rails", "expected"),
    [
        (0.05, {}, ["re-ordering"]),
        (0.05, {"R@100": spread(0.05)}, ["complete-sets"]),
        (0.0, {"RR@10": spread(0.05)}, ["first-hit"]),
        (-0.05, {"R@100": spread(0.05)}, ["coverage-for-ranking"]),
        (0.0, {CONDENSED: spread(0.05)}, ["unjudged", "inconclusive"]),
        (0.0, {}, ["inconclusive"]),
    ],
)
def test_measures_together_are_read_as_in_a_comparison(gain, rails, expected):
    assert codes(spread(gain), rails=rails) == expected


def test_slices_that_go_opposite_ways_are_told():
    apart = np.where(HALF, spread(0.05), spread(-0.05))

    assert codes(apart, slices={"head": HALF, "tail": ~HALF}) == ["head-over-fit"]


def test_slices_play_the_part_of_their_rule_and_not_of_their_name():
    apart = np.where(HALF, spread(0.05), spread(-0.05))
    slices = {"A": HALF, "B": ~HALF}

    assert codes(apart, slices=slices, parts={"head": "A", "tail": "B"}) == ["head-over-fit"]
    named = {"head": HALF, "tail": ~HALF}
    assert "head-over-fit" not in codes(apart, slices=named, parts={})


def test_a_first_hit_that_improves_for_wordings_alone_is_a_suspected_leak():
    """The first half are pairs of wordings, the second stand alone."""
    families = np.where(HALF, np.arange(N) // 2, np.arange(N))
    first = np.where(HALF, spread(0.2), spread(0.0))

    assert "leak-suspect" in codes(spread(0.0), rails={"RR@10": first}, families=families)
    assert set(family_slices("ab", {"a": 1, "b": 1})) == set()  # one part alone tells nothing


def test_evidence_says_measure_slice_number_interval_and_queries():
    decision = decided(spread(0.05), SAID)
    (pattern,) = decision.as_dict()["patterns"]

    assert pattern["code"] == "re-ordering"
    assert pattern["evidence"][0].startswith("nDCG@10 over all (400 queries): up, +0.0500 (+0.04")
