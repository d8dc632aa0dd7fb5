"""What holds of every gate, whatever the numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.gates.bounds import Method
from benchwright.gates.deciding import Verdict
from benchwright.gates.evidence import Process
from benchwright.gates.policy import GuardRails
from benchwright.gates.verdict import decide
from benchwright.statistics.corrections import holm
from tests.benchwright.gates.making import RAILS, evidence, policy

MERIT = [
    Verdict.BLOCK,
    Verdict.INCONCLUSIVE,
    Verdict.HOLD,
    Verdict.PASS,
    Verdict.PASS_STRICT,
]
HELD_MERIT = [Verdict.BLOCK, Verdict.HOLD]


def verdict(differences, rails, goal, test, process):
    n = len(differences)
    policy_asked = policy(goal=goal, slices=("a", "b"), guard_rails=GuardRails(worst_share=0.2))
    slices = {"a": np.arange(n) % 3 == 0, "b": np.arange(n) % 3 > 0}
    arm = evidence(differences, slices=slices, rails=rails, process=process)
    return decide(policy_asked, arm, Method(test, n_draws=200)).verdict


@pytest.mark.parametrize("test", ["t", "signflip"])
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    mean=st.floats(-0.06, 0.06),
    better=st.floats(0, 0.08),
    sigma=st.floats(0.02, 0.3),
    goal=st.sampled_from(["improve", "not_worse"]),
    is_flagged=st.booleans(),
)
def test_a_better_candidate_of_the_same_scatter_never_gets_a_worse_verdict(
    test, seed, mean, better, sigma, goal, is_flagged
):
    rng = np.random.default_rng(seed)
    differences = rng.normal(mean, sigma, 120)
    rails = {name: 0.5 + rng.normal(mean, sigma, 120) for name in RAILS}
    raised = {name: values + better for name, values in rails.items()}
    process = Process(seen_before_policy=is_flagged)

    before = verdict(differences, rails, goal, test, process)
    after = verdict(differences + better, raised, goal, test, process)

    order = HELD_MERIT if is_flagged else MERIT
    assert order.index(after) >= order.index(before)


@given(
    p=st.lists(st.floats(0, 1), min_size=1, max_size=8),
    place=st.integers(0, 7),
    share=st.floats(0, 1),
)
def test_a_smaller_p_value_makes_none_larger_after_holm(p, place, share):
    lowered = list(p)
    lowered[place % len(p)] *= share

    assert (holm(np.array(lowered)) <= holm(np.array(p)) + 1e-12).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), mean=st.floats(-0.05, 0.05))
def test_the_order_of_queries_changes_nothing(seed, mean):
    rng = np.random.default_rng(seed)
    differences = rng.normal(mean, 0.1, 80)
    order = rng.permutation(80)
    mask = np.arange(80) < 40
    policy_asked = policy(slices=("s",))

    decision = decide(policy_asked, evidence(differences, slices={"s": mask}), Method("t"))
    other = decide(
        policy_asked, evidence(differences[order], slices={"s": mask[order]}), Method("t")
    )

    assert decision.verdict == other.verdict
    assert decision.checks["slices"].findings[0].numbers["lower"] == pytest.approx(
        other.checks["slices"].findings[0].numbers["lower"]
    )
