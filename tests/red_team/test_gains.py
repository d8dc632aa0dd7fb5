"""One run and gains of one's own: every grade of a hidden query by means at growing cutoffs.

Candidates stand at ranks of their own, so the mean of `DCG(gains=…)@k` grows from one cutoff to the
next by what the grade at rank k is worth, which no rounding hides where the gains are large.
"""

from itertools import pairwise
from math import log2
from urllib.parse import urlencode

import pytest
from django.test import Client

from scoring.models import Score
from tests.scoring.hiding import HIDDEN

pytestmark = pytest.mark.django_db
TARGET = HIDDEN[0]
CANDIDATES = [*(f"{TARGET}-x{n}" for n in range(5)), f"{TARGET}-good"]
GAINS = {0: 4e8, 1: 1e8, 2: 2e8, 3: 3e8}
WRITTEN = ",".join(f"{grade}:{gain:.0f}" for grade, gain in GAINS.items())
BOARD = "/api/v1/benchmarks/hiding/releases/1.0.0/leaderboard/"
DOORS = (
    BOARD,
    "/api/v1/benchmarks/hiding/releases/1.0.0/leaderboard/history/",
    "/api/v1/benchmarks/hiding/runs/{run}/queries/",
    "/api/v1/benchmarks/hiding/comparisons/?runs={run},{other}",
    "/b/hiding/v/1.0.0/leaderboard/",
    "/b/hiding/v/1.0.0/leaderboard.csv",
    "/b/hiding/v/1.0.0/leaderboard.json",
    "/b/hiding/v/1.0.0/leaderboard/slices/",
    "/b/hiding/v/1.0.0/leaderboard/history/",
    "/b/hiding/runs/{run}/scores/",
    "/b/hiding/runs/{run}/slices/",
    "/b/hiding/runs/{run}/queries/",
    "/b/hiding/compare/?runs={run},{other}",
    "/b/hiding/compare/robustness/?runs={run},{other}",
)


@pytest.fixture
def attacker(attack_with) -> tuple[Client, list[int]]:
    return attack_with(
        "\n".join(
            f"{TARGET} Q0 {docid} {rank} {50 - rank} s" for rank, docid in enumerate(CANDIDATES, 1)
        )
    )


def measure(k: int) -> str:
    return f"DCG(gains={{{WRITTEN}}})@{k}"


def learnt(client: Client, n: int) -> list[int | None]:
    """The grades of the first candidates as the board's means tell them; None where it does not."""
    means = [0.0, *(_mean(client, k) for k in range(1, len(CANDIDATES) + 1))]
    results = []
    for k, (before, after) in enumerate(pairwise(means), 1):
        if before is None or after is None:
            results.append(None)
            continue
        worth = (after - before) * n * log2(k + 1)
        results.append(min(GAINS, key=lambda grade: abs(GAINS[grade] - worth)))
    return results


def _mean(client: Client, k: int) -> float | None:
    answer = client.get(BOARD, {"measure": measure(k), "split": "test"})
    if answer.status_code != 200:
        return None
    board = answer.json()
    column = next(name for name in board["columns"] if name.startswith("DCG("))
    return next(row[column] for row in board["rows"] if row["run"] == "attack")


def test_gains_of_ones_own_tell_no_hidden_grade(attacker):
    client, _ = attacker

    assert learnt(client, len(HIDDEN)) == [None] * len(CANDIDATES)


@pytest.mark.parametrize("door", DOORS)
def test_no_door_computes_a_measure_that_was_not_declared(attacker, door):
    client, (run, other) = attacker
    address = door.format(run=run, other=other)
    joined = "&" if "?" in address else "?"

    answer = client.get(f"{address}{joined}{urlencode({'measure': measure(3)})}")

    assert answer.status_code in (400, 403, 422)
    assert b"nDCG@10" in answer.content  # what there is
    assert not Score.objects.filter(measure__contains="gains").exists()
