"""Score a run with ranx, from files to eleven means: `score_ranx.py QRELS RUN`.

Its compiled functions are kept between processes, so a first run warms them for the next.
"""

import sys

from ranx import Qrels, Run, evaluate

MEASURES = {
    "nDCG": "ndcg",
    "nDCG@10": "ndcg@10",
    "nDCG@100": "ndcg@100",
    "AP": "map",
    "RR": "mrr",
    "P@10": "precision@10",
    "R@100": "recall@100",
    "R@1000": "recall@1000",
    "Success@10": "hit_rate@10",
    "Rprec": "r-precision",
    "bpref": "bpref",
}

qrels = Qrels.from_file(sys.argv[1], kind="trec")
run = Run.from_file(sys.argv[2], kind="trec")
means = evaluate(qrels, run, list(MEASURES.values()), make_comparable=True)
for ours, theirs in MEASURES.items():
    print(ours, means[theirs])
