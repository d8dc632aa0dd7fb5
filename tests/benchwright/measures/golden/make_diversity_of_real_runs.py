"""Writes diversity_of_real_runs.json: means of ndeval for the runs that come with the data.

Run it with ir_measures 0.4.3 and pyndeval 0.0.8 installed. Subtopics are made by `by_next_topics`.
pyndeval puts the lower id first where scores are equal, ndeval and we the higher: it gets places.
"""

import json
import sys
from pathlib import Path

from benchwright.reading import read_qrels, read_run
from benchwright.reading.ranking import ranked

MEASURES = (
    *("alpha_DCG@20", "alpha_nDCG@5", "alpha_nDCG@20", "alpha_nDCG(alpha=0.3)@10", "ERR_IA@10"),
    *("ERR_IA(rel=2)@10", "nERR_IA@20", "NRBP", "NRBP(alpha=0.3,beta=0.8)", "nNRBP", "AP_IA"),
    *("P_IA@10", "StRecall@5", "StRecall@20"),
)
QRELS = {"cranfield": "qrels_derived.txt", "trec_covid_round1": "qrels.covid-round1.txt"}
N_SUBTOPICS = 5


def by_next_topics(qrels):
    """Grades by subtopic: those of the topic itself and of the four after it, by id."""
    topics = sorted(qrels)
    return {
        topic.decode(): {
            str(step): _text(qrels[topics[(place + step) % len(topics)]])
            for step in range(N_SUBTOPICS)
        }
        for place, topic in enumerate(topics)
    }


def _text(grades):
    return {docid.decode(): grade for docid, grade in grades.items()}


def main(data):
    import ir_measures

    means = {}
    for collection, name in QRELS.items():
        grades = by_next_topics(read_qrels(data / collection / name))
        rows = [
            ir_measures.Qrel(topic, docid, grade, subtopic)
            for topic, of in grades.items()
            for subtopic, documents in of.items()
            for docid, grade in documents.items()
        ]
        for path in sorted((data / collection / "runs").iterdir()):
            run = [
                ir_measures.ScoredDoc(qid.decode(), row.docid.decode(), -place)
                for qid, results in read_run(path).items()
                for place, row in enumerate(ranked(results))
            ]
            for measure in map(ir_measures.parse_measure, MEASURES):
                # One at a time: with several alphas at once they take each other's.
                result = ir_measures.iter_calc([measure], rows, run)
                total = sum(metric.value for metric in result)
                means.setdefault(path.stem, []).append(round(total / len(grades), 9))
    content = {"made_with": "ir_measures 0.4.3 (pyndeval 0.0.8)", "means": means}
    text = json.dumps(content, sort_keys=True, separators=(",", ":")).replace("],", "],\n")
    Path(__file__).with_name("diversity_of_real_runs.json").write_text(text + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
