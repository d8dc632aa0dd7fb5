"""Drawn documents and audits: do their intervals hold, and how long does an audit stand?

Populations of a hundred queries are drawn with replacement from the 25 of LLMJudge; documents are
drawn by E.3's probabilities, their grades guessed from the other half. Beside them stand whole
queries for as many labels. Then audits of a machine's grade 0, by the share that is relevant. The
tables stand in docs/machine-judges.md; `python -m tests.performance drawn-documents`.
"""

import time
from collections.abc import Iterator
from itertools import chain, product
from typing import NamedTuple

import numpy as np
import scipy

from benchwright.estimation.auditing import LEAST_AUDITED, MOST_MISSED, WINDOW, most_relevant
from benchwright.estimation.documents import (
    DocumentDraw,
    discounts,
    document_mean,
    probabilities,
)
from benchwright.statistics.descriptive import wilson
from benchwright.statistics.families import Floats
from tests.benchwright.estimation import llmjudge
from tests.performance.toy import size

DRAWS = size(250, 5)
N_QUERIES = 100
SHARES = (0.1, 0.3)
CUTOFF = 10
JUDGES = size(
    ("RMITIR-GPT4o", "TREMA-nuggets", "willia-umbrela2", "h2oloo-zeroshot1"), ("TREMA-CoT",)
)
RUNS = ("Olz-multiprompt", "h2oloo-zeroshot1", "TREMA-direct", "RMITIR-GPT4o")
BOUNDS = (0.92, 0.97)


class Rows(NamedTuple):
    """Documents of the 25 queries: query, what each counts, people's grade, the machine's."""

    of: np.ndarray
    amounts: Floats
    grades: Floats
    machine: np.ndarray


def rows_of(first: str, second: str, judge: str, measure: str) -> Rows:
    results = []
    for number, query in enumerate(llmjudge.queries()):
        places = [
            {document: rank for rank, document in enumerate(llmjudge.ranking(run)[query], start=1)}
            for run in (first, second)
            if run
        ]
        documents = sorted(llmjudge.people()[query])
        amounts = np.zeros(len(documents))
        for sign, of in zip((1, -1), places, strict=False):
            ranks = np.array([of.get(document, 0) for document in documents])
            amounts += sign * discounts(ranks, measure=measure, cutoff=CUTOFF)
        for document, amount in zip(documents, amounts, strict=True):
            grade = llmjudge.people()[query][document]
            gain = float(grade >= llmjudge.RELEVANT) if measure == "P" else float(grade)
            results.append((number, amount, gain, llmjudge.judge(judge)[query][document]))
    of, amounts, grades, machine = (np.array(column) for column in zip(*results, strict=True))
    counts = amounts != 0
    return Rows(of[counts], amounts[counts], grades[counts], machine[counts])


def simulate(rows: Rows, share: float, rng: np.random.Generator, tally: dict[str, list]) -> None:
    places = [np.flatnonzero(rows.of == query) for query in range(25)]
    truth_each = np.bincount(rows.of, weights=rows.amounts * rows.grades, minlength=25)
    truth = float(truth_each.mean())
    for _ in range(DRAWS):
        which = rng.integers(0, 25, N_QUERIES)
        at = np.concatenate([places[query] for query in which])
        of_query = np.repeat(np.arange(N_QUERIES), [len(places[query]) for query in which])
        budget = share * len(at)
        pi = probabilities(rows.amounts[at], budget)
        draw = DocumentDraw(int(rng.integers(1 << 30)), budget, pi, rng.random(len(at)) < pi)
        families = [f"f{number}" for number in range(N_QUERIES)]
        for name, machine in (("no machine", None), ("machine", rows.machine[at])):
            estimate = document_mean(
                rows.amounts[at],
                np.where(draw.is_drawn, rows.grades[at], np.nan),
                draw,
                of_query,
                n_queries=N_QUERIES,
                families=families,
                machine=machine,
            )
            half = (estimate.high - estimate.low) / 2
            tally.setdefault(name, []).append((estimate.mean - truth, half))
        n = round(share * N_QUERIES)
        y = truth_each[which[:n]]
        half = y.std(ddof=1) / np.sqrt(n) * scipy.special.stdtrit(n - 1, 0.975)
        tally.setdefault("whole queries", []).append((y.mean() - truth, half))


WAYS = ("whole queries", "no machine", "machine")


def documents(seed: int) -> Iterator[str]:
    yield (
        "| 100 queries | labels | whole queries (half width) | documents, no machine | documents, "
        "machine [95 %] | labels worth: no machine | machine |"
    )
    yield "|---|---|---|---|---|---|---|"
    for measure, is_difference, share in product(("DCG", "P"), (False, True), SHARES):
        tally: dict[str, list] = {}
        rng = np.random.default_rng([seed, measure == "P", is_difference, int(100 * share)])
        for judge in JUDGES:
            for first, second in zip(RUNS, (*RUNS[1:], RUNS[0]), strict=True):
                rows = rows_of(first, second if is_difference else "", judge, measure)
                simulate(rows, share, rng, tally)
        of = {name: np.array(tally[name]) for name in WAYS}
        held = {name: np.abs(errors[:, 0]) <= errors[:, 1] for name, errors in of.items()}
        squares = {name: float((errors[:, 0] ** 2).mean()) for name, errors in of.items()}
        low, high = wilson(int(held["machine"].sum()), len(held["machine"]))
        cells = [f"{measure}@10, {'difference' if is_difference else 'mean'}", f"{share:.0%}"]
        cells += [f"{held[name].mean():.3f} ({of[name][:, 1].mean():.3f})" for name in WAYS]
        cells[-1] += f" [{low:.3f}, {high:.3f}]"
        cells += [f"{squares['whole queries'] / squares[name]:.2f}" for name in WAYS[1:]]
        yield f"| {' | '.join(cells)} |"
        for name in WAYS[1:]:
            if not BOUNDS[0] <= held[name].mean() <= BOUNDS[1]:
                yield f"<!-- out of {BOUNDS}: {cells[0]}, {share:.0%}, {name} -->"


AUDITS = size(20_000, 200)
CHECKS = (100, 300, 1_000, 3_000)


def audits(seed: int) -> Iterator[str]:
    """How often an audit allows skipping, and how long it then stands, by the true share."""
    most = max(x for x in range(20) if most_relevant(x, WINDOW) <= MOST_MISSED)
    yield (
        "| relevant among machine 0 | audit of | allowed | still on after 100 checks | 300 | "
        "1,000 | 3,000 | checks until off, median |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for share, m in product((0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05), (200, 300)):
        rng = np.random.default_rng([seed, int(1000 * share), m])
        first = rng.random((AUDITS, m)) < share
        bounds = np.array([most_relevant(x, m) for x in range(m + 1)])
        allowed = bounds[first.sum(axis=1)] <= MOST_MISSED
        until = [_until_off(row, share, rng, most) for row in _passed(share, m, rng)]
        cells = [f"{share:.1%}", str(m), f"{allowed.mean():.3f}"]
        off = np.array(until)
        cells += [f"{(off > n).mean():.3f}" if len(off) else "-" for n in CHECKS]
        middle = np.median(off) if len(off) else np.nan
        cells.append(
            "-" if np.isnan(middle) else (f"{middle:.0f}" if middle < np.inf else "> 3,000")
        )
        yield f"| {' | '.join(cells)} |"


def _passed(share: float, m: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Audits that were allowed, as they are at this share: however rare, so many are followed."""
    few = int(most_allowed(m)[-1])
    chances = scipy.stats.binom.pmf(np.arange(few + 1), m, share)
    for x in rng.choice(few + 1, size=AUDITS // 10, p=chances / chances.sum()):
        audit = np.zeros(m, dtype=bool)
        audit[rng.choice(m, size=x, replace=False)] = True
        yield audit


ASKED = (200, 400, 1_000, 3_000)


def asked_again(seed: int, n_paths: int = AUDITS) -> Iterator[str]:
    """How often it is allowed in the end by who asks again after each refusal, at the worst.

    Audits of one order follow each other and count together. Here the bound is looked at after each
    document from the 200th on, which is more often than anybody can ask.
    """
    yield "| relevant among machine 0 | " + " | ".join(f"up to {n:,}" for n in ASKED) + " |"
    yield f"|---|{'---|' * len(ASKED)}"
    few = most_allowed(max(ASKED))
    for share in (0.01, 0.02, 0.03, 0.05):
        rng = np.random.default_rng([seed, int(1000 * share), 7])
        ever = np.zeros(len(ASKED))
        for _ in range(n_paths):
            result = np.cumsum(rng.random(max(ASKED)) < share)
            is_allowed = result <= few
            at = np.argmax(is_allowed) + 1 if is_allowed.any() else np.inf
            ever += at <= np.array(ASKED)
        yield f"| {share:.1%} | {' | '.join(f'{n_outside / n_paths:.3f}' for n_outside in ever)} |"


def most_allowed(n: int) -> np.ndarray:
    """Of the first 1, 2, … n audited, how many may be relevant; -1 where none may."""
    few = np.full(n, -1)
    x = 0
    for m in range(LEAST_AUDITED, n + 1):
        while most_relevant(x, m) <= MOST_MISSED:
            x += 1
        few[m - 1] = x - 1
    return few


def _until_off(audit: np.ndarray, share: float, rng: np.random.Generator, most: int) -> float:
    """After how many checks the bound over the last 300 is above the limit."""
    outcomes = np.concatenate([audit, rng.random(max(CHECKS)) < share]).astype(int)
    upto = np.concatenate([[0], np.cumsum(outcomes)])
    ends = np.arange(len(audit) + 1, len(outcomes) + 1)
    starts = np.maximum(ends - WINDOW, 0)
    x, n = upto[ends] - upto[starts], ends - starts
    short = n < WINDOW
    is_off = x > most
    # Below 300 the bound is that of fewer.
    is_off[short] = [
        most_relevant(int(a), int(b)) > MOST_MISSED for a, b in zip(x[short], n[short], strict=True)
    ]
    return float(np.argmax(is_off) + 1) if is_off.any() else np.inf


def main(seed: int = 0) -> None:
    """Print the tables."""
    started = time.process_time()
    for line in chain(documents(seed), [""], audits(seed), [""], asked_again(seed)):
        print(line, flush=True)
    print(f"{time.process_time() - started:.0f} s")


if __name__ == "__main__":
    main()
