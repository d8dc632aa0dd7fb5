"""Whole reports as people keep them: four decisions, letter by letter.

The reports stand in `golden/`, as they were read and found right. The numbers of the first are
worked out in `test_golden`, those of the others on 400 values half of which are .1 above the mean.
"""

from pathlib import Path

import numpy as np
import pytest

from benchwright.gates.evidence import Process, Wanted
from benchwright.gates.policy import GuardRails, Policy
from benchwright.gates.rehearsal.rehearsing import rehearsed
from benchwright.gates.reports import written
from benchwright.gates.verdict import decide
from tests.benchwright.gates import test_golden
from tests.benchwright.gates.making import RAILS, T, arm, evidence, policy, spread

GOLDEN = Path(__file__).parent / "golden"
N = 400
HALF = np.arange(N) < 200


def by_default():
    """The default policy, by sign flips, with its rehearsal and the files it rests on."""
    policy, arm = Policy(slices=tuple(test_golden.SLICES)), test_golden.evidence()
    files = {"qrels": {"file": "qrels.txt", "sha256": "0123456789abcdef"}}
    runs = [{"file": "a_b.run", "sha256": "fedcba9876543210"}]
    more = {
        "rehearsal": rehearsed(policy, [arm], n_made=40, seed=1),
        "provenance": {"files": files, "runs": runs},
    }
    return decide(policy, arm).as_dict() | more


def blocked():
    """A slice, a measure, the losses and exact matches fall; flags beside it."""
    rails = {"R@100": 0.5 + spread(-0.05), "RR@10": 0.5 + spread(-0.019)}
    policy_asked = policy(
        slices=("tail", "tiny", "head"),
        guard_rails=GuardRails(measures=RAILS, exact_slice="tail", worst_rule="share"),
    )
    result = evidence(
        np.where(HALF, spread(0.08), spread(-0.25)),
        slices={"tail": ~HALF, "tiny": np.arange(N) < 29, "head": HALF, "other": HALF},
        rails=rails,
        lexical=arm("bm25", np.full(N, 0.4)),
        registered=frozenset({"tail", "tiny"}),
        process=Process(
            seen_before_policy=True,
            prior_submissions=1,
            contaminated=41,
            stale_share=0.25,
            agreement=0.5,
        ),
    )
    return decide(policy_asked, result, T).as_dict()


def not_comparable():
    """Queries without an answer, a list too short, documents to judge."""
    documents = tuple((f"q{n}", f"d|{n}") for n in range(1_240))
    result = evidence(
        spread(0.02),
        missing=("q1",),
        depth=9,
        judged=(0.97, 0.91),
        wanted=Wanted(documents, needed=1_200),
        lexical=arm("bm25", np.full(N, 0.4), missing=("q1", "q2", "q3", "q4")),
    )
    return decide(Policy(), result, T).as_dict()


def strict():
    """Everything is shown; labels are sparse, and what is known of the process is in order."""
    policy_asked = policy(
        slices=("head", "tail"), labels="sparse", guard_rails=GuardRails(measures=RAILS)
    )
    arm = evidence(
        spread(0.03),
        slices={"head": HALF, "tail": ~HALF},
        judged=(0.05, 0.09),
        wanted=Wanted((("q1", "d1"),), needed=0),
        rails={name: 0.5 + spread(0.01) for name in RAILS},
        process=Process(
            seen_before_policy=False,
            prior_submissions=2,
            contaminated=1,
            stale_share=0.1,
            agreement=0.67,
        ),
    )
    return decide(policy_asked, arm, T).as_dict()


DECISIONS = {each.__name__: each for each in (by_default, blocked, not_comparable, strict)}


@pytest.fixture(scope="module", params=list(DECISIONS))
def decision(request):
    return request.param, DECISIONS[request.param]()


@pytest.mark.parametrize("suffix", [".md", ".xml"])
def test_the_report_is_as_it_was_letter_by_letter(decision, suffix):
    name, result = decision

    expected = (GOLDEN / f"{name}{suffix}").read_text("utf-8")

    assert written(result, suffix).splitlines() == expected.splitlines()
