"""How often corrected means hold the truth: with real judges, in families, and after choosing.

Populations are drawn with replacement from 25 queries that people and 17 machine judges graded
(LLMJudge), with five runs made of judges' grades; the truth is the mean of all 25. Of each
population some families are drawn and labelled by people. The tables stand in
docs/machine-judges.md; `python -m tests.performance machine-judges`.
"""

import time
from collections.abc import Callable, Iterator
from itertools import chain, pairwise

import numpy as np
import scipy

from benchwright.estimation.corrected import LEAST_RHO, LEAST_WEIGHT, prediction_powered
from benchwright.statistics.descriptive import wilson
from benchwright.statistics.families import Floats
from tests.benchwright.estimation import llmjudge
from tests.performance.toy import size

DRAWS = size(1_000, 20)
N_JUDGES = size(17, 2)
RUNS = (
    *("Olz-multiprompt", "h2oloo-zeroshot1", "TREMA-direct"),
    *("RMITIR-GPT4o", "prophet-setting1"),
)
MEASURES = size(("ndcg", "precision", "reciprocal"), ("ndcg",))
TITLES = {"ndcg": "nDCG@10", "precision": "P@10", "reciprocal": "RR@10"}
SIZES = size(((100, 20), (100, 30), (100, 50), (300, 30), (300, 90)), ((100, 20),))
BOUNDS = (0.92, 0.97)
COPIES = 0.7
LEVEL = 0.95

Rng = np.random.Generator
Target = tuple[Floats, Floats]
"""People's and a judge's values of the queries that populations are drawn from."""


class Tally:
    """How often intervals held the truth, how wide they were, and how far off the means."""

    def __init__(self) -> None:
        self.n = self.n_helped = 0
        self.held = {"people": 0, "corrected": 0, "chosen": 0}
        self.width = dict.fromkeys(self.held, 0.0)
        self.squares = dict.fromkeys(self.held, 0.0)
        self.effective = 0.0
        self.cells: dict[str, list[float]] = {name: [] for name in self.held}

    def add(self, name: str, mean: Floats, reach: Floats, truth: float) -> None:
        held = np.abs(mean - truth) <= reach
        self.held[name] += int(held.sum())
        self.width[name] += float(reach.sum())
        self.squares[name] += float(((mean - truth) ** 2).sum())
        self.cells[name].append(float(held.mean()))

    def share(self, name: str) -> float:
        return self.held[name] / self.n

    def row(self, *cells: str) -> str:
        of = {name: f"{self.share(name):.3f}" for name in self.held}
        low, high = wilson(self.held["chosen"], self.n)
        return " | ".join(
            [
                f"| {' | '.join(cells)}",
                f"{of['people']} ({self.width['people'] / self.n:.3f})",
                f"{of['corrected']} ({self.width['corrected'] / self.n:.3f})",
                f"{of['chosen']} ({self.width['chosen'] / self.n:.3f}) [{low:.3f}, {high:.3f}]",
                *(f"{min(self.cells[name]):.3f}" for name in ("people", "chosen")),
                f"{self.squares['chosen'] / self.squares['people']:.2f}",
                f"{self.effective / self.n:.2f}",
                f"{self.n_helped / self.n:.0%} |",
            ]
        )


HEAD = (
    "people alone (half width)",
    "corrected, plain error",
    "as shown (half width) [95 %]",
    "worst target, people",
    "as shown",
    "error² over people's",
    "n_eff / n",
    "helped",
)


def single(rng: Rng, n_all: int, n_queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Which queries each family of each population has, and whether: draws x families x 1."""
    which = rng.integers(0, n_queries, (DRAWS, n_all, 1))
    return which, np.ones(which.shape, dtype=bool)


def in_families(rng: Rng, n_all: int, n_queries: int) -> tuple[np.ndarray, np.ndarray]:
    """The same of families of one to four, of which seven members of ten are copies."""
    which = rng.integers(0, n_queries, (DRAWS, n_all, 4))
    is_copy = rng.random(which.shape) < COPIES
    which = np.where(is_copy, which[:, :, :1], which)
    sizes = rng.integers(1, 5, (DRAWS, n_all, 1))
    return which, np.arange(4) < sizes


def added(
    tally: Tally,
    targets: list[Target],
    populations: Callable[..., object],
    n_all: int,
    n: int,
    rng: Rng,
    *,
    by_thirds: bool = False,
) -> None:
    """Draw populations and samples for each target, and count what their intervals hold."""
    for y, f in targets:
        which, is_there = populations(rng, n_all, len(y))
        if by_thirds:
            which = np.take_along_axis(which, thirds_first(f[which][:, :, 0], n, rng), axis=1)
        sizes = is_there.sum(axis=2).astype(float)
        all_y = np.where(is_there, y[which], 0).sum(axis=2)
        all_f = np.where(is_there, f[which], 0).sum(axis=2)
        # Families come in no order: the first n are a random sample.
        estimates = prediction_powered(all_y[:, :n], all_f[:, :n], sizes[:, :n], all_f, sizes)
        alone = prediction_powered(all_y[:, :n], 0 * all_f[:, :n], sizes[:, :n], 0 * all_f, sizes)
        # Of people alone n - 1 degrees, and so one more in the variance.
        error = alone.error * np.sqrt((n - 2) / (n - 1))
        reaches = [
            error * scipy.special.stdtrit(n - 1, (1 + LEVEL) / 2),
            estimates.error * scipy.special.stdtrit(n - 2, (1 + LEVEL) / 2),
            estimates.error_left_out * scipy.special.stdtrit(n - 2, (1 + LEVEL) / 2),
        ]
        is_helped = (estimates.weight >= LEAST_WEIGHT) & (estimates.rho >= LEAST_RHO)
        truth = float(y.mean())
        tally.add("people", alone.mean, reaches[0], truth)
        tally.add("corrected", estimates.mean, reaches[1], truth)
        mean = np.where(is_helped, estimates.mean, alone.mean)
        tally.add("chosen", mean, np.where(is_helped, reaches[2], reaches[0]), truth)
        tally.n += DRAWS
        tally.n_helped += int(is_helped.sum())
        gain = 1 / (1 - (1 - n / n_all) * estimates.rho**2)
        tally.effective += float(np.where(is_helped, gain, 1).sum())


def thirds_first(f: Floats, n: int, rng: Rng) -> np.ndarray:
    """An order of each population in which the first n have as many of each third of f."""
    order = rng.permuted(np.argsort(f, axis=1).reshape(DRAWS, 3, -1), axis=2)
    parts = order[:, :, : n // 3], order[:, :, n // 3 :]
    return np.concatenate([part.reshape(DRAWS, -1) for part in parts], axis=1)[:, :, np.newaxis]


def targets_of(measure: str, *, are_differences: bool) -> list[Target]:
    """Values of each judge and made run, or of each two runs that follow on each other."""
    gold = llmjudge.people()
    results = []
    for name in llmjudge.judge_names()[:N_JUDGES]:
        labels = llmjudge.judge(name)
        by_run = [
            (
                getattr(llmjudge.values(run, gold), measure),
                getattr(llmjudge.values(run, labels), measure),
            )
            for run in RUNS
        ]
        if are_differences:
            closed = pairwise([*by_run, by_run[0]])
            by_run = [(a[0] - b[0], a[1] - b[1]) for a, b in closed]
        results += by_run
    return results


def made_targets(rho: float, rng: Rng) -> list[Target]:
    """A judge made to correlate so much with people's values of nDCG@10."""
    y = llmjudge.values(RUNS[0], llmjudge.people()).ndcg
    noise = rng.normal(size=len(y))
    noise -= noise.mean() + np.polyfit(y, noise, 1)[0] * (y - y.mean())
    scaled = noise / noise.std() * y.std()
    return [(y, rho * y + np.sqrt(1 - rho**2) * scaled)]


def tallies(seed: int) -> Iterator[tuple[tuple[str, ...], Tally]]:
    for what, populations in (("single queries", single), ("families of 1 to 4", in_families)):
        for is_difference in (False, True):
            for measure in MEASURES:
                targets = targets_of(measure, are_differences=is_difference)
                for n_all, n in SIZES:
                    rng = np.random.default_rng([seed, n_all, n, is_difference])
                    tally = Tally()
                    added(tally, targets, populations, n_all, n, rng)
                    kind = "difference" if is_difference else "mean"
                    yield (what, f"{TITLES[measure]}, {kind}", str(n_all), str(n)), tally


def stratified(seed: int) -> Iterator[tuple[tuple[str, ...], Tally]]:
    """Draws of which each third by the machine's values has its share, with the same formula."""
    for n in size((30, 90), (30,)):
        rng = np.random.default_rng([seed, 300, n, 3])
        tally = Tally()
        targets = targets_of("ndcg", are_differences=False)
        added(tally, targets, single, 300, n, rng, by_thirds=True)
        yield ("single queries, by thirds of f", "nDCG@10, mean", "300", str(n)), tally


def made_tallies(seed: int) -> Iterator[tuple[tuple[str, ...], Tally]]:
    for rho in (0.0, 0.2, 0.4, 0.6, 0.8, 0.9):
        for n in (20, 50):
            rng = np.random.default_rng([seed, int(100 * rho), n])
            tally = Tally()
            for _ in range(size(20, 1)):
                added(tally, made_targets(rho, rng), single, 500, n, rng)
            yield (
                ("single queries", f"nDCG@10, a judge made with rho = {rho}", "500", str(n)),
                tally,
            )


def without_people(seed: int) -> Iterator[str]:
    """How often a machine's own interval holds the truth, by the number of queries it graded."""
    yield "| the machine alone, nDCG@10 means, queries | held | lowest and highest target |"
    yield "|---|---|---|"
    for n_all in (50, 100, 300, 1_000):
        rng = np.random.default_rng([seed, n_all, 1])
        held = []
        for y, f in targets_of("ndcg", are_differences=False):
            drawn = f[rng.integers(0, len(f), (DRAWS, n_all))]
            error = drawn.std(axis=1, ddof=1) / np.sqrt(n_all)
            reach = error * scipy.special.stdtrit(n_all - 1, (1 + LEVEL) / 2)
            held.append(float((np.abs(drawn.mean(axis=1) - y.mean()) <= reach).mean()))
        yield f"| {n_all:,} | {np.mean(held):.2f} | {min(held):.2f}, {max(held):.2f} |"


def not_drawn(seed: int, n_all: int = 100, n: int = 40) -> Iterator[str]:
    """The same of a corrected mean, where people labelled what the machine is least wrong about."""
    yield "| 40 of 100 labelled | held, mean | median target | bias, mean of its size |"
    yield "|---|---|---|---|"
    for what, is_chosen in (("drawn", False), ("where the judge errs least", True)):
        rng = np.random.default_rng([seed, n_all, n, 2])
        held, bias = [], []
        for y, f in targets_of("ndcg", are_differences=False):
            which = rng.integers(0, len(y), (DRAWS, n_all))
            if is_chosen:
                order = np.argsort(np.abs(y - f)[which], axis=1, kind="stable")
                which = np.take_along_axis(which, order, axis=1)
            sample, ones = which[:, :n], np.ones(which.shape)
            estimates = prediction_powered(y[sample], f[sample], ones[:, :n], f[which], ones)
            reach = estimates.error * scipy.special.stdtrit(n - 2, (1 + LEVEL) / 2)
            held.append(float((np.abs(estimates.mean - y.mean()) <= reach).mean()))
            bias.append(abs(float(estimates.mean.mean() - y.mean())))
        yield f"| {what} | {np.mean(held):.2f} | {np.median(held):.2f} | {np.mean(bias):.3f} |"


def main(seed: int = 0) -> None:
    """Print the tables; what is out of bounds is named below them."""
    started = time.process_time()
    for line in (*without_people(seed), "", *not_drawn(seed), ""):
        print(line)
    print(f"| queries | of what | N | n | {' | '.join(HEAD)} |")
    print(f"|---|---|---|---|{'---|' * len(HEAD)}")
    out = []
    for cells, tally in chain(tallies(seed), stratified(seed), made_tallies(seed)):
        print(tally.row(*cells), flush=True)
        for name in ("corrected", "chosen"):
            if not BOUNDS[0] <= tally.share(name) <= BOUNDS[1]:
                out.append(
                    f"- {', '.join(cells)}: {name} {tally.share(name):.3f}, expected {BOUNDS}"
                )
    print("\n".join(out or [f"- coverage {BOUNDS}: met in every row"]))
    print(f"{time.process_time() - started:.0f} s")


if __name__ == "__main__":
    main()
