"""Small runs at random, scored by both scanners and by pytrec_eval: `… --cases 10000`.

Runs and qrels hold what pytrec_eval's own parser takes. Ties are broken as it breaks them, by
scores at 32 bits. It leaves queries out that the run lacks, and so do we here.
"""

import argparse
import math
import random

from benchwright import evaluate_hits
from benchwright.reading import GradeTable
from benchwright.reading.shapes import Shape
from tests.benchwright.reading import scanners
from tests.performance.timing import missing

MEASURES = {
    "nDCG": "ndcg",
    "nDCG@10": "ndcg_cut_10",
    "AP": "map",
    "RR": "recip_rank",
    "P@5": "P_5",
    "R@10": "recall_10",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "NumRet": "num_ret",
    "NumRelRet": "num_rel_ret",
}
RULES = scanners.Rules(Shape("trec", 1), "trec9", None)
SCORES = ["1", "2.5", "-1", "-0.0", "0", "1e2", "inf", "0.1", "0.100000001", "16777217", "16777216"]


def made_case(rng: random.Random) -> tuple[dict[str, dict[str, int]], list[tuple[str, str, str]]]:
    """Grades, and rows of query, document and score: tied, interleaved, with holes."""
    docids = [f"d{n}" for n in range(30)] + ["\u00e9", "Z", "x" * 40]
    qids = ["1", "2", "01", "q"]
    qrels = {
        qid: {
            docid: rng.choice((-1, 0, 1, 2, 3)) for docid in rng.sample(docids, rng.randint(1, 20))
        }
        for qid in rng.sample(qids, rng.randint(1, 4))
    }
    for of in qrels.values():  # pytrec_eval 0.5 never returns where all grades are below 0
        of[next(iter(of))] = rng.choice((0, 1, 2))
    rows = [
        (qid, docid, rng.choice(SCORES[: rng.choice((2, 6, 11))]))
        for qid in rng.sample(qids, rng.randint(1, 4))
        for docid in rng.sample(docids, rng.randint(1, 30))
    ]
    if rng.random() < 0.5:
        rng.shuffle(rows)
    return qrels, rows


def differing(seed: int, pytrec_eval, files: scanners.FilesInMemory) -> list[str]:
    """What differs from pytrec_eval in one case, by either scanner."""
    rng = random.Random(seed)
    qrels, rows = made_case(rng)
    files.content = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows).encode()
    table = GradeTable(
        {q.encode(): {d.encode(): g for d, g in of.items()} for q, of in qrels.items()}
    )
    run = pytrec_eval.parse_run(files.content.decode().splitlines())
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES.values())).evaluate(run)
    block = rng.randint(1, 64)
    both = (
        ("twin", scanners.by_twin(scanners.ANYWHERE, table, RULES, block=block)),
        ("extension", scanners.by_extension(scanners.ANYWHERE, table, RULES, block=block)),
    )
    results = []
    for scanner, outcome in both:
        ours = evaluate_hits(
            table.judged, outcome.hits, list(MEASURES), missing="skip", allow_empty=True
        ).per_query
        if {qid.decode() for qid in ours} != set(theirs):
            results.append(f"{scanner}: queries {set(ours)} and {set(theirs)}")
            continue
        results += [
            f"{scanner}: {qid} {name}: {ours[qid.encode()][name]} and {values[trec_name]}"
            for qid, values in theirs.items()
            for name, trec_name in MEASURES.items()
            if not math.isclose(ours[qid.encode()][name], values[trec_name], abs_tol=1e-9)
        ]
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    cases = parser.parse_args().cases
    try:
        import pytrec_eval
    except ImportError:
        missing("pytrec_eval")
        raise SystemExit(1) from None
    n_differing = 0
    with scanners.files_in_memory() as files:
        for seed in range(cases):
            result = differing(seed, pytrec_eval, files)
            n_differing += bool(result)
            if result and n_differing < 4:
                print(f"seed {seed}", *result, sep="\n  ")
    print(f"{cases:,} cases, {n_differing} differ from pytrec_eval")
    raise SystemExit(n_differing > 0)


if __name__ == "__main__":
    main()
