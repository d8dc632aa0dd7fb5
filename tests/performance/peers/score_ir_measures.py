"""Score a run with ir_measures, from files to eleven means: `score_ir_measures.py QRELS RUN`."""

import sys

import ir_measures
from ir_measures import AP, RR, Bpref, P, R, Rprec, Success, nDCG

MEASURES = [
    nDCG,
    nDCG @ 10,
    nDCG @ 100,
    AP,
    RR,
    P @ 10,
    R @ 100,
    R @ 1000,
    Success @ 10,
    Rprec,
    Bpref,
]

qrels = ir_measures.read_trec_qrels(sys.argv[1])
run = ir_measures.read_trec_run(sys.argv[2])
means = ir_measures.calc_aggregate(MEASURES, qrels, run)
for measure in MEASURES:
    print("bpref" if measure == Bpref else measure, means[measure])
