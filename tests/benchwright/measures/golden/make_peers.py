"""Writes peers.json: values of other programs on twelve random queries.

Run it with the `bench` extra installed (and perl, for gdeval inside ir_measures)::

    python tests/benchwright/measures/golden/make_peers.py

Keys of `values` are our names. trec_eval's numbers come from pytrec_eval-terrier (trec_eval 9), so
the two measures that version 10 changed (IPrec, 11pt_avg) are not among them.
"""

import json
import random
from pathlib import Path

TREC = {
    "ndcg": "nDCG",
    "ndcg_cut_5": "nDCG@5",
    "map": "AP",
    "map_cut_5": "AP@5",
    "bpref": "bpref",
    "recip_rank": "RR",
    "P_5": "P@5",
    "recall_5": "R@5",
    "Rprec": "Rprec",
    "infAP": "infAP",
    "relative_P_5": "R_cap@5",
    "success_5": "Success@5",
    "binG": "binG",
    "G": "G",
    "ndcg_rel": "ndcg_rel",
    "Rndcg": "Rndcg",
    "Rprec_mult_0.40": "Rprec_mult@0.4",
    "Rprec_mult_1.60": "Rprec_mult@1.6",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_map": "SetAP",
    "set_F": "SetF",
    "set_relative_P": "SetP(relative=True)",
    "utility": "utility",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_nonrel_judged_ret": "NumNonrelRet",
}
LEVEL_2 = ("map", "bpref", "recip_rank", "P_5", "infAP", "Rprec", "set_F", "binG", "relative_P_5")
IR_MEASURES = {
    "Compat(p=0.8)": "Compat(p=0.8)",
    "Compat(p=0.95)": "Compat",
    "Compat(p=0.5,normalize=False)": "Compat(p=0.5,normalize=False)",
    "SetF(beta=2.0)": "SetF(beta=2.0)",
    "ERR@5": "ERR(max_rel=4)@5",
    # By cwl_eval; it reads as ours does where its options stand in our order.
    **{name: name for name in ("SDCG(max_rel=4)@10", "SDCG(min_rel=1,max_rel=4)@5")},
    **{name: name for name in ("BPM(max_rel=4)@10", "BPM(T=3.0,max_rel=4)@20")},
    **{name: name for name in ("INSQ(max_rel=4)", "INSQ(T=2.5,max_rel=4)", "INST(max_rel=4)")},
    **{name: name for name in ("INST(T=3.0,max_rel=4)", "NERR8(max_rel=4)@10")},
    **{name: name for name in ("NERR9(max_rel=4)@10", "NERR9(min_rel=1,max_rel=4)@20")},
    **{name: name for name in ("NERR10(max_rel=4)", "NERR10(p=0.5,max_rel=4)")},
    **{name: name for name in ("NERR11(max_rel=4)", "NERR11(T=2.0,max_rel=4)", "Accuracy")},
    "nDCG(gains={0:1,1:5,2:0})": "nDCG(gains={0:1,1:5,2:0})",
    **{f"{name}": name for name in ("P(judged_only=True)@5", "AP(judged_only=True)@5")},
    **{f"{name}": name for name in ("RR(judged_only=True)", "nDCG(judged_only=True)@5")},
}
RANX = {"f1@5": "F@5", "ndcg_burges@5": "nDCG(dcg='exp-log2')@5", "rbp.80": "RBP(rel=1)"}


def collections():
    rng = random.Random(20)
    qrels, run = {}, {}
    for number in range(12):
        documents = [f"d{n:02d}" for n in range(25)]
        scale = (0, 0, 1, 2, 3, 4) if number % 3 else (-1, 0, 1)
        judged = rng.sample(documents, rng.randint(2, 15))
        scores = rng.sample(range(1, 900), rng.randint(3, 20))
        retrieved = rng.sample(documents, len(scores))
        qrels[str(number)] = {docid: rng.choice(scale) for docid in judged}
        run[str(number)] = dict(zip(retrieved, map(float, scores), strict=True))
    return qrels, run


def main():
    import ir_measures
    import pytrec_eval
    import ranx

    qrels, run = collections()
    values = {}
    for level, names in ((1, TREC), (2, LEVEL_2)):
        known = set(pytrec_eval.supported_measures) - {"runid", "relstring"}
        scores = pytrec_eval.RelevanceEvaluator(qrels, known, relevance_level=level).evaluate(run)
        for name in names:
            ours = TREC[name] if level == 1 else with_level(TREC[name])
            values[ours] = {qid: of[name] for qid, of in scores.items()}
    for name, ours in IR_MEASURES.items():
        measure = ir_measures.parse_measure(name)
        scores = ir_measures.iter_calc([measure], qrels, run)
        values[ours] = {metric.query_id: metric.value for metric in scores}
    judged = {qid: {d: max(g, 0) for d, g in of.items()} for qid, of in qrels.items()}
    kept = {qid for qid, of in judged.items() if any(of.values())}
    for name, ours in RANX.items():
        # It does not take a query without a relevant document.
        some = {q: of for q, of in judged.items() if q in kept}
        if name.startswith("rbp"):
            # It takes grades as they are, and so comes out above 1.
            some = {q: {d: min(g, 1) for d, g in of.items()} for q, of in some.items()}
        table = ranx.Run({q: of for q, of in run.items() if q in kept})
        ranx.evaluate(ranx.Qrels(some), table, name)
        values[ours] = {qid: float(of) for qid, of in table.scores[name].items()}
    versions = "pytrec_eval-terrier 0.5.11, ir_measures 0.4.3 (cwl-eval 1.0.12), ranx 0.3.21"
    content = {"made_with": versions, "qrels": qrels, "run": run, "values": rounded(values)}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    Path(__file__).with_name("peers.json").write_text(text.replace("},", "},\n") + "\n")


def with_level(name):
    family, _, cutoff = name.partition("@")
    return f"{family}(rel=2)" + (f"@{cutoff}" if cutoff else "")


def rounded(values):
    return {name: {q: round(of, 9) for q, of in scores.items()} for name, scores in values.items()}


if __name__ == "__main__":
    main()
