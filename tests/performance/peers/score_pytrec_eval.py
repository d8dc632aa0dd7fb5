"""Score a run with pytrec_eval, from files to eleven means: `score_pytrec_eval.py QRELS RUN`."""

import sys
from pathlib import Path

import pytrec_eval

MEASURES = {
    "nDCG": "ndcg",
    "nDCG@10": "ndcg_cut_10",
    "nDCG@100": "ndcg_cut_100",
    "AP": "map",
    "RR": "recip_rank",
    "P@10": "P_10",
    "R@100": "recall_100",
    "R@1000": "recall_1000",
    "Success@10": "success_10",
    "Rprec": "Rprec",
    "bpref": "bpref",
}

with Path(sys.argv[1]).open() as file:
    qrels = pytrec_eval.parse_qrel(file)
with Path(sys.argv[2]).open() as file:
    run = pytrec_eval.parse_run(file)
per_query = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES.values())).evaluate(run)
for ours, theirs in MEASURES.items():
    values = [row[theirs] for row in per_query.values()]
    print(ours, pytrec_eval.compute_aggregated_measure(theirs, values))
