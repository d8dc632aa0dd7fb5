"""The default policy from end to end, as people run it: every number of the report is fixed.

120 queries in 90 families made by a formula; three slices, both guard measures, sign flips. What
can be computed another way is: bounds by scipy, Holm and the losses by hand.
"""

import numpy as np
import pytest
from scipy import stats

from benchwright.gates.evidence import Arm, Evidence
from benchwright.gates.policy import Policy
from benchwright.gates.verdict import decide

N = 120
FAMILIES = np.minimum(np.arange(N), 89)
SLICES = {
    "head": np.arange(N) < 40,
    "tail": np.arange(N) >= 60,
    "few": np.arange(N) % 6 == 0,
}


def waves(phase, size, mean):
    return mean + size * np.sin(phase + 2.399963 * np.arange(N))


def evidence():
    base = 0.5 + 0.05 * np.cos(1.7 * np.arange(N))
    gain = waves(0.3, 0.2, 0.03) - 0.45 * (np.arange(N) % 12 == 5)
    values = {
        "old": {"nDCG@10": base, "R@100": base, "RR@10": base},
        "new": {
            "nDCG@10": base + gain,
            "R@100": base + waves(0.8, 0.1, -0.012),
            "RR@10": base + waves(1.9, 0.15, 0.04),
        },
    }
    arms = [Arm(name, {**of, "Judged@10": np.ones(N)}, depth=100) for name, of in values.items()]
    return Evidence([f"q{n}" for n in range(N)], *arms, slices=SLICES, families=FAMILIES)


@pytest.fixture(scope="module")
def result():
    return decide(Policy(slices=tuple(SLICES)), evidence()).as_dict()


KEYS = (
    *("n", "n_families", "difference", "lower", "upper"),
    *("p", "p_adjusted", "sigma", "more_queries"),
)
LOST = "Queries that lose more than 0.3"
# Outcome, then the numbers of KEYS. Six tests are one family: all queries, two slices of three, two
# measures, the losses. p of the losses is times 6, that of R@100 times 5.
GOLDEN = {
    "nDCG@10": (
        *("inconclusive", 120, 90, -0.00662910892340107, -0.03133625588864012),
        *(0.018078038041837982, 0.3324667533246675, 1.0, 0.18772569547039666, 1520),
    ),
    "head": (
        *("not shown", 40, 40, -0.003851360092155942, -0.05246964531948305),
        *(0.04476692513517117, 0.44685531446855314, 1.0, 0.1824995992509189, 750),
    ),
    "tail": (
        *("not shown", 60, 30, -0.006593159503221289, -0.03622272361898991),
        *(0.023036404612547343, 0.36676332366763326, 1.0, 0.18889807797396987, 568),
    ),
    "few": (
        *("too few queries", 20, 16, 0.03562364376686725, -0.013515712416212827),
        *(0.08476299994994732, 0.8944105589441056, None, 0.1429041860298077, None),
    ),
    "R@100": (
        *("not shown", 120, 90, -0.011650551784013039, -0.020953687373050416),
        *(-0.0023474161949756673, 0.0337966203379662, 0.16898310168983102),
        *(0.07090959035625886, 214),
    ),
    "RR@10": (
        *("not regressed", 120, 90, 0.0398786890147088, 0.025939762864725116),
        *(0.05381761516469251, 0.9999000099990001, 1.0, 0.10703499916944732, None),
    ),
    LOST: ("an exchange", 120, None, None, None, None, 1 / 64, 6 / 64, None, None),
    "Exact match against a lexical run": ("not run", *[None] * 9),
}


def findings(result):
    return {
        finding["name"]: finding for check in result["checks"][1:4] for finding in check["findings"]
    }


def test_every_number_of_the_default_policy_is_as_before(result):
    seen = {
        name: (finding["outcome"], *(finding["numbers"].get(key) for key in KEYS))
        for name, finding in findings(result).items()
    }

    assert seen.keys() == GOLDEN.keys()
    for name, expected in GOLDEN.items():
        assert seen[name] == pytest.approx(expected, rel=1e-9), name


def test_the_verdict_and_what_it_rests_on_are_as_before(result):
    overall, lost = findings(result)["nDCG@10"]["numbers"], findings(result)[LOST]["numbers"]

    assert result["verdict"] == "inconclusive"
    assert result["changes"] == ["Label 1,520 more queries."]
    assert (overall["m"], overall["is_improved"], overall["is_kept"]) == (6, False, False)
    assert (overall["baseline"], overall["candidate"]) == pytest.approx(
        (0.5004493581114731, 0.49382024918807205)
    )
    assert (lost["n_lost"], lost["n_won"], lost["expected"]) == (7, 0, 0)
    assert lost["share"] == pytest.approx(7 / 120)
    assert [query["query"] for query in lost["queries"]] == WORST


WORST = ["q41", "q101", "q65", "q5", "q17", "q77", "q89"]


@pytest.mark.parametrize("name", ["nDCG@10", "R@100", "RR@10"])
def test_bounds_are_students_of_a_ratio_over_families(result, name):
    """One-sided at .95 with 89 degrees: 1.6622 errors, as scipy and a loop have it."""
    arm = evidence()
    differences = arm.candidate.of(name) - arm.baseline.of(name)
    mean = differences.mean()
    squares = [
        (differences[family == FAMILIES] - mean).sum() ** 2 for family in np.unique(FAMILIES)
    ]
    error = np.sqrt(90 / 89 * sum(squares)) / N
    reach = stats.t.ppf(0.95, 89) * error

    numbers = findings(result)[name]["numbers"]
    assert (numbers["lower"], numbers["upper"]) == pytest.approx((mean - reach, mean + reach))


def test_p_after_holm_is_worked_out_by_hand(result):
    """The six p in order, times 6, 5, 4 …, none below the one before."""
    rows = findings(result)
    tested = [name for name in rows if GOLDEN[name][0] not in ("too few queries", "not run")]
    order = sorted(tested, key=lambda name: rows[name]["numbers"]["p"])
    highest = 0.0
    for place, name in enumerate(order):
        highest = max(highest, min(1.0, (6 - place) * rows[name]["numbers"]["p"]))

        assert rows[name]["numbers"]["p_adjusted"] == pytest.approx(highest)
    assert len(tested) == 6
