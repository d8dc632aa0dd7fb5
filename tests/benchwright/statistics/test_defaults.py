"""What is left out of a call is what docs/statistics.md says: 10,000 draws, seed 0, 95 %."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

from benchwright import statistics
from benchwright.statistics.bootstrap import bootstrap_interval
from benchwright.statistics.confidence_sets import tie_groups
from benchwright.statistics.decisions import decision
from benchwright.statistics.effects import shares_worse
from benchwright.statistics.intervals import mean_bounds, mean_interval
from benchwright.statistics.losses import much_lost
from benchwright.statistics.paired import sign_test, t_test, wilcoxon
from benchwright.statistics.power import detectable_differences, powers, queries_needed
from benchwright.statistics.ranks import rank_intervals
from benchwright.statistics.signflip import sign_flip, sign_flip_max
from benchwright.statistics.tukey import randomised_tukey

RNG = np.random.default_rng(12)
VALUES = RNG.gamma(0.5, 0.3, (40, 3)) - 0.1
BOARD = RNG.random((20, 3)) + np.array([0.0, 0.1, 0.15])
FLIPS = {"alternative": "two-sided", "n_flips": 10_000, "seed": 0}


SAID = {
    "n_draws": 10_000,
    "n_flips": 10_000,
    "seed": 0,
    "level": 0.95,
    "alpha": 0.05,
    "power": 0.8,
    "alternative": "two-sided",
    "two_sided": True,
    "families": None,
    "weights": None,
}


def functions():
    for module in pkgutil.iter_modules(statistics.__path__, "benchwright.statistics."):
        yield from inspect.getmembers(importlib.import_module(module.name), inspect.isfunction)


@pytest.mark.parametrize("name", sorted({name for name, _ in functions() if name[0] != "_"}))
def test_every_function_leaves_the_same_to_be_said(name):
    for parameters in (inspect.signature(f).parameters for n, f in functions() if n == name):
        left_out = {key: p.default for key, p in parameters.items() if p.default is not p.empty}
        for key in left_out.keys() & SAID.keys():
            assert left_out[key] == SAID[key], key


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (sign_flip, FLIPS),
        (sign_flip_max, FLIPS),
        (mean_interval, {"method": "t", "level": 0.95, "span": (-np.inf, np.inf)}),
        (mean_bounds, {"alpha": 0.05, "span": (-np.inf, np.inf)}),
        (bootstrap_interval, {"method": "bca", "level": 0.95, "n_draws": 10_000, "seed": 0}),
        *((test, {"alternative": "two-sided"}) for test in (t_test, wilcoxon, sign_test)),
        (shares_worse, {"by": 0.1}),
    ],
)
def test_columns(work, words):
    assert work(VALUES).tolist() == work(VALUES, **words).tolist()


def test_bootstraps_by_name_have_the_same_draws():
    ours = mean_interval(VALUES, method="percentile")

    again = bootstrap_interval(VALUES, method="percentile", level=0.95, n_draws=10_000, seed=0)
    assert ours.tolist() == again.tolist()


def test_boards():
    groups = tie_groups(BOARD)
    result = tie_groups(BOARD, alpha=0.05, n_flips=10_000, seed=0)
    assert (groups.of.tolist(), groups.p.tolist()) == (result.of.tolist(), result.p.tolist())

    many = BOARD[:, :, np.newaxis]
    of = rank_intervals(many)
    assert of.tolist() == rank_intervals(many, level=0.95, n_draws=10_000, seed=0).tolist()
    pairs = randomised_tukey(many)
    assert pairs.tolist() == randomised_tukey(many, n_draws=10_000, seed=0).tolist()


def test_weighted_losses():
    weights = np.random.default_rng(1).uniform(0.5, 2, 60)
    differences = np.random.default_rng(2).choice([-0.5, 0.0, 0.5], (60, 1))

    losses = much_lost(differences, by=0.3, weights=weights)

    counts = -np.sign(differences) * weights[:, np.newaxis]
    mean = (differences[:, 0] * weights).sum() / weights.sum()
    assert -0.1 < mean < 0.1  # so wins of .5 are above the mirrored limit
    assert losses.p[0] == sign_flip(counts, alternative="greater", seed=0)[0]


def test_power():
    assert queries_needed(0.2, 0.02) == queries_needed(
        0.2, 0.02, alpha=0.05, power=0.8, two_sided=True
    )
    assert detectable_differences(0.2, 100) == detectable_differences(
        0.2, 100, alpha=0.05, power=0.8
    )
    assert powers(0.2, 100, 0.02) == powers(0.2, 100, 0.02, alpha=0.05)


@pytest.mark.parametrize(("p", "kind"), [(0.0499, "better"), (0.05, "")])
def test_decisions(p, kind):
    assert decision(0.1, (0.01, 0.2), p, p).kind == kind
