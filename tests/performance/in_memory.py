"""Scoring of what is in memory already: a run and qrels as dictionaries, or a frame of a run.

Each contender gets what it takes as it is, and gives every measure of every query and its mean.
Means must be those of pytrec_eval.
"""

import os
import random
import sys
from collections.abc import Callable, Mapping
from math import isclose
from statistics import fmean
from typing import Any

from tests.performance.timing import median_seconds, missing
from tests.performance.toy import size

SHAPES = size(((5000, 10, 10), (1000, 100, 50), (1000, 1000, 50)), ((20, 10, 5), (5, 100, 20)))
WANTED = size(1.0, float("inf"))  # of pytrec_eval's time, at most
MEASURES = ("nDCG@10", "nDCG", "AP", "RR", "P@10", "R@100", "bpref")
OF_PEER = ("ndcg_cut_10", "ndcg", "map", "recip_rank", "P_10", "recall_100", "bpref")
OF_RANX = ("ndcg@10", "ndcg", "map", "mrr", "precision@10", "recall@100", "bpref")

Content = Mapping[str, Mapping[str, Any]]


def made(n_queries: int, depth: int, n_judged: int) -> tuple[Content, Content]:
    """Qrels and a run; half of what is judged was found."""
    rng = random.Random(1)
    run = {
        f"q{q}": {f"doc{d:07d}": rng.random() for d in rng.sample(range(10**6), depth)}
        for q in range(n_queries)
    }
    qrels = {
        qid: {
            **{d: rng.randrange(4) for d in rng.sample(list(ranking), min(depth, n_judged) // 2)},
            **{f"other{n}": rng.randrange(3) for n in range(n_judged // 2)},
        }
        for qid, ranking in run.items()
    }
    return qrels, run


def contenders_of(qrels: Content, run: Content) -> dict[str, Callable[[], list[float]]]:
    import polars as pl

    from benchwright import evaluate
    from benchwright.reading.choosing import VARIABLE

    frame = pl.DataFrame(
        [(qid, docid, score) for qid, ranking in run.items() for docid, score in ranking.items()],
        schema=["query", "document", "score"],
        orient="row",
    )

    def ours(given: Any, scanner: str) -> list[float]:
        os.environ[VARIABLE] = scanner
        return list(evaluate(qrels, given, MEASURES).means.values())

    contenders = {
        "benchwright": lambda: ours(run, "extension"),
        "benchwright, the run as a frame": lambda: ours(frame, "extension"),
        "benchwright, without the extension": lambda: ours(run, "twin"),
    }
    try:
        import pytrec_eval
    except ImportError:
        missing("pytrec_eval")
    else:

        def theirs() -> list[float]:
            values = pytrec_eval.RelevanceEvaluator(qrels, set(OF_PEER)).evaluate(run)
            return [fmean(of[name] for of in values.values()) for name in OF_PEER]

        contenders["pytrec_eval"] = theirs
    try:
        import ranx
    except ImportError:
        missing("ranx")
    else:

        def of_ranx() -> list[float]:
            qrels_of_ranx, run_of_ranx = ranx.Qrels(dict(qrels)), ranx.Run(dict(run))
            values = ranx.evaluate(qrels_of_ranx, run_of_ranx, list(OF_RANX), make_comparable=True)
            return [values[name] for name in OF_RANX]

        contenders["ranx (compiled cache warm)"] = of_ranx
    return contenders


def main() -> list[str]:
    lines = [
        "| queries x documents, judged | contender | milliseconds | of pytrec_eval's time |",
        "|---|---|---|---|",
    ]
    is_slower = False
    for n_queries, depth, n_judged in SHAPES:
        shape = f"{n_queries:,} x {depth:,}, {n_judged}"
        print(f"\nScoring in memory, {len(MEASURES)} measures: {shape}")
        contenders = contenders_of(*made(n_queries, depth, n_judged))
        means = {name: score() for name, score in contenders.items()}
        medians = median_seconds(contenders)
        peer = medians.get("pytrec_eval")
        for name, seconds in medians.items():
            ratio = f"{seconds / peer:.2f}" if peer else ""
            print(f"  {name:<36} {seconds * 1000:9.1f} ms {ratio}")
            lines.append(f"| {shape} | {name} | {seconds * 1000:.1f} | {ratio} |")
        _compare(means)
        is_slower = is_slower or bool(peer and medians["benchwright"] > WANTED * peer)
    if is_slower:
        print("  slower than pytrec_eval")
        sys.exit(1)
    return lines


def _compare(means: Mapping[str, list[float]]) -> None:
    """Ours are those of pytrec_eval; where another's differ, that is told."""
    expected = means.get("pytrec_eval", means["benchwright"])
    for name, values in means.items():
        others = [
            measure
            for measure, one, other in zip(MEASURES, values, expected, strict=True)
            if not isclose(one, other, abs_tol=1e-6)
        ]
        if others and name.startswith("benchwright"):
            print(f"  {name} differs in {', '.join(others)}")
            sys.exit(1)
        if others:
            print(f"  {name} means something else by {', '.join(others)}")


if __name__ == "__main__":
    main()
