"""The gate's slice rules come out as they were found by simulation beforehand."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchwright.gates.bounds import Method
from tests.benchwright.gates.simulation import (
    SHARES,
    TRUTHS,
    Cell,
    cells,
    decided,
    every_slice,
    full_policy,
    generator,
    made,
    simulated,
)

pytestmark = pytest.mark.in_thirds

RUNS = 1_000
# Improves and no slice regresses, a slice regresses: pass, block, every slice shown non-inferior.
KNOWN = [
    (Cell(300, 0.10, "better"), 0.96, 0.00, 0.28),
    (Cell(1_000, 0.15, "better"), 0.98, 0.00, 0.48),
    (Cell(1_000, 0.15, "head lost"), 0.58, 0.42, 0.00),
    (Cell(1_000, 0.20, "no change"), 0.05, 0.05, 0.00),
    (Cell(3_000, 0.20, "head lost"), 0.28, 0.72, 0.00),
]


def is_near(seen, known):
    """Within three standard errors, of a share that was rounded to two decimals."""
    error = np.sqrt(max(known * (1 - known), 0.005) / RUNS)
    return abs(seen - known) <= 3 * error + 0.005


@pytest.mark.parametrize(("cell", "passed", "blocked", "strict"), KNOWN, ids=str)
def test_slice_rules_are_as_often_right_as_before(cell, passed, blocked, strict):
    simulation = simulated(cell, n_runs=RUNS, seed=7)

    assert is_near(simulation.passed, passed)
    assert is_near(simulation.blocked, blocked)
    assert is_near(simulation.strict, strict)


# Pass, block, hold, inconclusive of the whole gate without guard measures, by METHODS.
WHOLE = [
    (Cell(300, 0.10, "better"), (0.96, 0.00, 0.01, 0.04)),
    (Cell(300, 0.10, "tail lost"), (0.03, 0.87, 0.00, 0.10)),
    (Cell(300, 0.10, "head lost"), (1.00, 0.00, None, None)),
    (Cell(300, 0.10, "no change"), (0.04, 0.04, 0.01, 0.91)),
    (Cell(300, 0.20, "better"), (0.53, 0.00, None, None)),
    (Cell(300, 0.20, "tail lost"), (0.05, 0.27, None, None)),
    (Cell(300, 0.20, "head lost"), (0.72, 0.00, None, None)),
    (Cell(300, 0.20, "no change"), (0.05, 0.04, None, None)),
    (Cell(1_000, 0.10, "better"), (1.00, 0.00, None, None)),
    (Cell(1_000, 0.10, "tail lost"), (0.00, 0.99, None, None)),
    (Cell(1_000, 0.10, "head lost"), (0.16, 0.83, None, None)),
    (Cell(1_000, 0.10, "no change"), (0.00, 0.02, None, None)),
    (Cell(1_000, 0.15, "better"), (0.98, 0.00, None, None)),
    (Cell(1_000, 0.15, "tail lost"), (0.01, 0.93, None, None)),
    (Cell(1_000, 0.15, "head lost"), (0.58, 0.42, None, None)),
    (Cell(1_000, 0.15, "no change"), (0.01, 0.03, None, None)),
    (Cell(1_000, 0.20, "better"), (0.93, 0.00, None, None)),
    (Cell(1_000, 0.20, "tail lost"), (0.04, 0.80, None, None)),
    (Cell(1_000, 0.20, "head lost"), (0.78, 0.22, None, None)),
    (Cell(1_000, 0.20, "no change"), (0.05, 0.05, None, None)),
    (Cell(3_000, 0.15, "better"), (1.00, 0.00, None, None)),
    (Cell(3_000, 0.15, "tail lost"), (0.00, 1.00, None, None)),
    (Cell(3_000, 0.15, "head lost"), (0.06, 0.94, None, None)),
    (Cell(3_000, 0.15, "no change"), (0.00, 0.02, None, None)),
    (Cell(3_000, 0.20, "better"), (1.00, 0.00, None, None)),
    (Cell(3_000, 0.20, "tail lost"), (0.00, 0.96, None, None)),
    (Cell(3_000, 0.20, "head lost"), (0.28, 0.72, None, None)),
    (Cell(3_000, 0.20, "no change"), (0.00, 0.02, None, None)),
    (Cell(5_000, 0.20, "better"), (1.00, 0.00, None, None)),
    (Cell(5_000, 0.20, "tail lost"), (0.00, 0.99, None, None)),
    (Cell(5_000, 0.20, "head lost"), (0.06, 0.94, None, None)),
]


@pytest.mark.parametrize(("cell", "known"), WHOLE, ids=str)
def test_the_whole_gate_is_as_often_right_as_published(cell, known):
    verdicts = simulated(cell, n_runs=RUNS, seed=7, policy=full_policy()).verdicts

    passed = verdicts["pass"] + verdicts["pass_strict"]
    seen = (passed, verdicts["block"], verdicts["hold"], verdicts["inconclusive"])
    for share, expected in zip(seen, known, strict=True):
        assert expected is None or is_near(share, expected)


def test_a_lost_tail_blocks_as_often_as_theory_says():
    """Below the margin and, first of eight tests, beyond t at alpha / 8, with 499 degrees."""
    cell = Cell(1_000, 0.20, "tail lost")
    error = 0.2 / np.sqrt(500)
    critical = max(0.02, stats.t.ppf(1 - 0.05 / 8, 499) * error)
    expected = stats.norm.cdf((0.03 - critical) / error)

    assert is_near(simulated(cell, n_runs=RUNS, seed=7).blocked, expected)


def test_no_change_blocks_as_often_as_theory_says():
    """Some of eight tests of 5,000 queries is below alpha / 8; those of large slices, below the
    margin. METHODS has .01, less than all queries, head and e give by themselves (.019)."""
    cell, by_one = Cell(5_000, 0.20, "no change"), 0.05 / 8
    beyond = [
        min(by_one, stats.norm.cdf(-0.02 / (0.2 / np.sqrt(share * cell.n))))
        for share in SHARES.values()
    ]
    none = (1 - by_one) ** 2 * np.prod(1 - np.array(beyond))

    verdicts = simulated(cell, n_runs=RUNS, seed=7, policy=full_policy()).verdicts

    assert is_near(verdicts["block"], 1 - none)


def test_a_lost_head_of_15_queries_blocks_as_often_as_t_says():
    """Noncentral t of 14 degrees: fewer than by a normal test, which knows the scatter."""
    error = 0.1 / np.sqrt(15)
    expected = stats.nct.cdf(stats.t.ppf(0.05 / 8, 14), 14, -0.05 / error)

    assert is_near(simulated(Cell(300, 0.10, "head lost"), n_runs=RUNS, seed=7).blocked, expected)


def test_sign_flips_decide_as_t_does():
    cell = Cell(300, 0.10, "better")
    flips = decided(cell, n_runs=25, seed=3, method=Method(n_draws=400))
    by_t = decided(cell, n_runs=25, seed=3, method=Method("t"))

    assert abs(flips["pass"] + flips["pass_strict"] - by_t["pass"] - by_t["pass_strict"]) <= 0.08
    assert abs(flips["pass_strict"] - by_t["pass_strict"]) <= 0.2


@pytest.mark.parametrize("truth", ["better", "tail lost", "no change"])
def test_thousands_at_once_are_decided_as_each_by_itself(truth):
    """25 comparisons as arrays, and through the gate that people use."""
    cell = Cell(300, 0.10, truth)
    at_once = simulated(cell, n_runs=25, seed=5, policy=full_policy())

    assert at_once.verdicts == decided(cell, n_runs=25, seed=5, method=Method("t"))


def test_the_same_seed_makes_the_same_comparisons():
    cell = Cell(300, 0.10, "no change")

    assert simulated(cell, n_runs=5, seed=1) == simulated(cell, n_runs=5, seed=1)
    assert simulated(cell, n_runs=5, seed=1).verdicts.keys() >= {"pass", "block"}


def test_the_published_tables_have_a_row_for_each_size_and_a_column_for_each_truth():
    page = (Path(__file__).parents[3] / "docs" / "gate.md").read_text("utf-8")
    table = page.split("<!-- slice-rules: made by gate_simulation -->")[1].split("<!-- end")[0]
    rows = [line.split("|")[1].split(",") for line in table.splitlines() if line.count("|") > 2]
    sizes = [(int("".join(row[:-1]).strip()), float(row[-1])) for row in rows[2:]]

    assert [(cell.n, cell.sigma) for cell in cells()] == [size for size in sizes for _ in TRUTHS]
    assert [cell.truth for cell in cells()] == list(TRUTHS) * len(sizes)


def cell_of(marker, n, sigma, truth):
    """The text of a published table's cell."""
    page = (Path(__file__).parents[3] / "docs" / "gate.md").read_text("utf-8")
    table = page.split(f"<!-- {marker}: made by gate_simulation -->")[1].split("<!-- end")[0]
    (row,) = [line for line in table.splitlines() if line.startswith(f"| {n:,}, {sigma:.2f} |")]
    return row.split("|")[2 + list(TRUTHS).index(truth)].strip()


def shown(*shares):
    return " / ".join("1.0" if share >= 0.995 else f"{share:.2f}"[1:] for share in shares)


@pytest.mark.parametrize("truth", ["better", "tail lost"])
def test_the_published_numbers_are_those_of_their_seed(truth):
    simulation = simulated(Cell(300, 0.10, truth), n_runs=2_000, seed=1)

    rules = shown(simulation.passed, simulation.blocked, simulation.strict)
    assert rules == cell_of("slice-rules", 300, 0.10, truth)


@pytest.mark.parametrize(
    ("truth", "means"),
    [
        ("better", [0.02] * 20),
        ("no change", [0.0] * 20),
        ("tail lost", [0.03] * 10 + [-0.03] * 10),
        ("head lost", [-0.05] + [0.03] * 19),
    ],
)
def test_means_are_those_of_the_truth_in_every_comparison(truth, means):
    """The first 5 % are the head, the last half is the tail."""
    gain, masks = made(Cell(20, 1e-6, truth), 3, np.random.default_rng(0))

    assert gain == pytest.approx(means * 3, abs=1e-4)
    assert masks[0].tolist() == ([True] + [False] * 19) * 3
    assert masks[1].tolist() == ([False] * 10 + [True] * 10) * 3


def test_random_slices_are_drawn_anew_for_each_comparison():
    _, masks = made(Cell(40, 0.1, "better"), 30, np.random.default_rng(0))

    for rows in masks[2:].reshape(4, 30, 40):
        assert len({row.tobytes() for row in rows}) > 15


def test_many_comparisons_come_in_parts_and_none_is_lost(monkeypatch):
    """1,500 of 300 queries are more than are made at once; shares are of all of them."""
    cell = Cell(300, 0.10, "no change")
    monkeypatch.setattr("tests.benchwright.gates.simulation.CHUNK", 300 * 40)

    simulation = simulated(cell, n_runs=100, seed=2, policy=full_policy())

    assert simulation.n == 100
    for shares in (simulation.verdicts, simulation.kept):
        assert sum(shares.values()) == pytest.approx(1)
    assert simulation.kept["pass"] > 0.8 > 0.2 > simulation.verdicts["pass"]


def test_more_queries_than_are_made_at_a_time_are_made_all_the_same(monkeypatch):
    monkeypatch.setattr("tests.benchwright.gates.simulation.CHUNK", 299)

    simulation = simulated(Cell(300, 0.10, "better"), n_runs=3, seed=2)

    assert (simulation.n, sum(simulation.verdicts.values())) == (3, pytest.approx(1))


def test_a_cell_and_a_seed_have_numbers_of_their_own():
    seeds = [(Cell(300, 0.10, "better"), 1), (Cell(300, 0.10, "better"), 2)]
    seeds += [(Cell(300, 0.11, "better"), 1), (Cell(300, 0.10, "no change"), 1)]
    seeds += [(Cell(301, 0.10, "better"), 1)]

    assert len({generator(*each).random() for each in seeds}) == len(seeds)


def test_slices_hold_their_shares():
    _, masks = made(Cell(1_000, 0.1, "better"), 2, np.random.default_rng(0))

    for part in (masks[:, :1_000], masks[:, 1_000:]):
        assert dict(zip(SHARES, part.mean(axis=1), strict=True)) == pytest.approx(SHARES)
    assert every_slice().smallest_slice == 2
