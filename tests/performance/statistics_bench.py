"""The statistics against scipy's, in turns, in one process: `python -m tests.performance`."""

import resource
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats

from benchwright.comparison.comparing import compare
from benchwright.statistics.bootstrap import bootstrap_interval
from benchwright.statistics.confidence_sets import tie_groups
from benchwright.statistics.families import Floats
from benchwright.statistics.signflip import sign_flip
from tests.performance.toy import size

N_QUERIES = size(1000, 60)
N_MEASURES = size(8, 4)
N_FLIPS = size(100_000, 1_000)
N_DRAWS = size(10_000, 500)
N_RUNS = size(20, 4)
BOARDS = size(  # runs, queries
    ((100, 5_000), (1_000, 1_000), (10_000, 50), (10_000, 1_000), (1_000, 10_000)), ((20, 100),)
)

TIMES_FASTER = 100
ALL_PAIRS_SECONDS = 4.0


def differences() -> Floats:
    """Queries x measures: a third unchanged, small gains of different sizes, skewed."""
    rng = np.random.default_rng(7)
    shape = (N_QUERIES, N_MEASURES)
    changed = rng.beta(0.8, 1.2, shape) - rng.beta(0.8, 1.2, shape)
    gains = np.linspace(0.0, 0.025, N_MEASURES)
    return np.where(rng.random(shape) < 0.3, 0.0, changed) + gains


def runs() -> dict[str, dict[str, dict[str, float]]]:
    """Twenty runs that share the queries' difficulty and become a little better one by one."""
    rng = np.random.default_rng(8)
    shape = (N_QUERIES, N_RUNS, N_MEASURES)
    topics = rng.beta(0.8, 1.2, (N_QUERIES, 1, N_MEASURES))
    own = rng.normal(0, 0.15, shape) * (rng.random(shape) < 0.7)
    values = np.clip(topics + own + np.linspace(0, 0.03, N_RUNS)[:, np.newaxis], 0, 1)
    names = [f"P@{place}" for place in range(1, N_MEASURES + 1)]
    return {
        f"run{run}": {
            str(query): dict(zip(names, row.tolist(), strict=True))
            for query, row in enumerate(values[:, run])
        }
        for run in range(N_RUNS)
    }


def shortest(work: Callable[[], object], rounds: int = 3) -> float:
    """The least disturbed of some rounds, in seconds."""
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def flips() -> Iterator[str]:
    values = differences()
    ours = sign_flip(values, n_flips=N_FLIPS)
    seconds = shortest(lambda: sign_flip(values, n_flips=N_FLIPS)) / N_MEASURES
    started = time.perf_counter()
    theirs = np.array([scipy_p(values[:, measure]) for measure in range(N_MEASURES)])
    scipy_seconds = (time.perf_counter() - started) / N_MEASURES
    ratio = scipy_seconds / seconds
    yield row("sign flip, 100,000 flips, for each measure", seconds, scipy_seconds)
    yield f"| wanted: {TIMES_FASTER}x | {verdict(ratio >= TIMES_FASTER)} | | |"
    # The difference of two estimates of p from as many flips each.
    error = np.sqrt(2 * ours * (1 - ours) / N_FLIPS)
    apart = np.abs(ours - theirs) / error
    agree = f"p-values apart by at most {apart.max():.1f} standard errors of both"
    yield f"| {agree} | {verdict(bool((apart < 4).all()))} | | |"
    print("ours  ", ours.round(5), "\nscipy ", theirs.round(5))


def scipy_p(values: Floats) -> float:
    result = stats.permutation_test(
        (values,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=N_FLIPS,
        batch=2000,
        rng=1,
    )
    return float(result.pvalue)


def intervals() -> Iterator[str]:
    values = differences()
    seconds = shortest(lambda: bootstrap_interval(values, n_draws=N_DRAWS)) / N_MEASURES
    started = time.perf_counter()
    theirs = stats.bootstrap((values[:, 3],), np.mean, n_resamples=N_DRAWS, batch=1000, rng=1)
    scipy_seconds = time.perf_counter() - started
    low, high = bootstrap_interval(values[:, 3:4], n_draws=N_DRAWS)[:, 0]
    print(f"ours {low:.5f} to {high:.5f}; scipy {theirs.confidence_interval}")
    yield row("BCa interval, 10,000 draws, for each measure", seconds, scipy_seconds)


def all_pairs() -> Iterator[str]:
    of_all = runs()
    seconds = shortest(lambda: compare(of_all))
    pairs = N_RUNS * (N_RUNS - 1) // 2
    yield (
        f"| compare: {pairs} pairs of {N_RUNS} runs x {N_MEASURES} measures x {N_QUERIES} queries, "
        f"tests, intervals, Tukey, ranks | {seconds:.2f} s | | |"
    )
    yield f"| wanted: {ALL_PAIRS_SECONDS:.0f} s | {verdict(seconds < ALL_PAIRS_SECONDS)} | | |"


def boards() -> Iterator[str]:
    """Processor time of the tie groups of runs that become better in equal steps, and memory."""
    for n_runs, n_queries in BOARDS:
        rng = np.random.default_rng(1)
        own = rng.normal(0, 0.15, (n_queries, n_runs)) + np.linspace(0, 0.5, n_runs)
        values = np.clip(rng.beta(0.8, 1.2, (n_queries, 1)) + own - 0.25, 0, 1)
        started = time.process_time()
        groups = tie_groups(values, n_flips=2_000).of
        seconds = time.process_time() - started
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield (
            f"| {groups.max()} tie groups of {n_runs:,} runs x {n_queries:,} queries, 2,000 flips; "
            f"the process up to {memory:,.0f} MiB | {seconds:.2f} s processor time | | |"
        )


def row(what: str, ours: float, theirs: float) -> str:
    return f"| {what} | {ours:.4f} s | {theirs:.3f} s | {theirs / ours:.0f}x |"


def verdict(is_met: bool) -> str:
    return "met" if is_met else "NOT met"


def main() -> list[str]:
    """Print and return the lines of a table."""
    lines = ["| what | ours | scipy | faster |", "|---|---|---|---|"]
    print("\n".join(lines))
    for part in (boards, flips, intervals, all_pairs):
        for line in part():
            print(line, flush=True)
            lines.append(line)
    return lines


if __name__ == "__main__":
    main()
