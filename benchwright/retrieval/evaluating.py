"""Results against qrels, in one call: `evaluate_retrieval(all_retrieved, all_qrels)["MAP"]`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from benchwright.errors import MeasureParameterError
from benchwright.evaluation.evaluating import Evaluation, evaluate, slice_means
from benchwright.findings import Finding
from benchwright.retrieval import pitfalls
from benchwright.retrieval.pitfalls import Grades, Retrieved
from benchwright.statistics.corrections import holm
from benchwright.statistics.intervals import mean_interval
from benchwright.statistics.paired import t_test
from benchwright.statistics.signflip import sign_flip

# --- Is one system better than another on these queries? Per measure, corrected for asking often.

ALPHA = 0.05
SEED = 0

PerQuery = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Significance:
    """The difference to the baseline in one measure, over the queries of both.

    `low` and `high` end its 95 % interval by Student's t; `p_t` is of the paired t-test, two-sided,
    and `p_flip` of random sign flips; `p_adjusted` is `p_t` after Holm's correction over the
    measures, and `is_significant` says whether that is below 0.05.
    """

    measure: str
    n_queries: int
    difference: float
    low: float
    high: float
    p_t: float
    p_flip: float
    p_adjusted: float
    is_significant: bool

    def renamed(self, measure: str) -> "Significance":
        """The same under another name of the measure."""
        return replace(self, measure=measure)


def significances(system: PerQuery, baseline: PerQuery) -> tuple[Significance, ...]:
    """System minus baseline in every measure; none where fewer than two queries are in both."""
    qids = [qid for qid in system if qid in baseline]
    if len(qids) < 2:
        return ()
    names = list(system[qids[0]])
    differences = np.array(
        [[system[qid][name] - baseline[qid][name] for name in names] for qid in qids]
    )
    low, high = mean_interval(differences, span=(-1, 1))
    p_t, p_flip = t_test(differences), sign_flip(differences, seed=SEED)
    p_adjusted = holm(p_t)
    columns = (differences.mean(axis=0), low, high, p_t, p_flip, p_adjusted, p_adjusted < ALPHA)
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(
        Significance(name, len(qids), *row) for name, row in zip(names, numbers, strict=True)
    )


# --- Results against qrels, in one call: `evaluate_retrieval(all_retrieved, all_qrels)["MAP"]`.

K_VALUES = (1, 5, 10, 100)
EXPONENTIAL, LINEAR = "exponential", "linear"
Slices = Mapping[str, Collection[str]]
Run = Mapping[str, Mapping[str, float]]


class RetrievalScores(dict[str, float]):
    """Means by measure, such as `scores["Recall@100"]`.

    `scores["nDCG@10"]` finds nDCG whichever gain it has: there is one, and `meanings` says which.
    `per_query` holds the same measures of each query, `slices` their means and the number of
    queries (`n_queries`) of each slice; `meanings` spells every measure out, `findings` tell what
    may be wrong, `significance` compares with the baseline where one was given, `facts` say how
    the results were made, `retrieved` are the results where this module searched.
    """

    def __init__(self, means: Mapping[str, float], **facts: Any) -> None:
        super().__init__(means)
        self.per_query: Mapping[str, Mapping[str, float]] = facts["per_query"]
        self.slices: Mapping[str, Mapping[str, float]] = facts["slices"]
        self.meanings: Mapping[str, str] = facts["meanings"]
        self.findings: tuple[Finding, ...] = tuple(facts["findings"])
        self.significance: tuple[Significance, ...] = tuple(facts["significance"])
        self.n_queries: int = facts["n_queries"]
        self.facts: Mapping[str, Any] = {}
        self.retrieved: Retrieved = {}

    def __missing__(self, name: str) -> float:
        return self[self._spelled(name)]

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (
            isinstance(name, str) and super().__contains__(_with_gain(name))
        )

    def get(self, name: str, default: Any = None) -> Any:
        """The mean of a measure, or `default` where there is none."""
        try:
            return self[name]
        except KeyError:
            return default

    def _spelled(self, name: str) -> str:
        if not super().__contains__(_with_gain(name)):
            raise KeyError(name)
        return _with_gain(name)

    def as_dict(self) -> dict[str, Any]:
        """Everything but the results, as JSON can hold it."""
        return {
            "means": dict(self),
            "n_queries": self.n_queries,
            "meanings": dict(self.meanings),
            "slices": {name: dict(means) for name, means in self.slices.items()},
            "per_query": {qid: dict(values) for qid, values in self.per_query.items()},
            "significance": [asdict(test) for test in self.significance],
            "findings": [finding.as_json() for finding in self.findings],
            "facts": dict(self.facts),
        }


def _with_gain(name: str) -> str:
    return name.replace("nDCG@", "nDCG(dcg='exp-log2')@", 1)


def evaluate_retrieval(
    all_retrieved: Retrieved | Run,
    all_qrels: Grades,
    k_values: Sequence[int] = K_VALUES,
    *,
    gain: str = EXPONENTIAL,
    slices: Slices | None = None,
    baseline: Retrieved | Run | None = None,
    corpus: Collection[str] | None = None,
) -> RetrievalScores:
    """nDCG@k and Recall@k for each k, MAP and MRR, over the queries of the qrels.

    Parameters
    ----------
    all_retrieved
        Query to its (document, score) pairs, or to a mapping of them; they are put in order of
        score, and of descending id where scores are equal. A query of the qrels that is not here
        counts 0.
    all_qrels
        Query to the grade of each judged document. Only grades above 0 are relevant.
    gain
        "exponential": nDCG's gain is 2^grade - 1, under the name `nDCG(dcg='exp-log2')@k`;
        "linear": the grade, under the name `nDCG@k`. The discount is log2(rank + 1).
    slices
        Queries of each slice by its name.
    baseline
        Results of another system, to be compared with on the same queries.
    corpus
        Ids of all documents, to tell whether the qrels name others.

    Raises
    ------
    QueriesDifferError
        If results and qrels have no query in common.
    IdTypeError
        If ids are numbers on one side and text on the other.
    EncoderError
        If `all_retrieved` is a matrix of scores.
    MeasureParameterError, CutoffError
        If `gain` is another word, or a k is below 1.
    FileProblemsError
        If a score or grade is no number, or a document is there twice in a query.
    """
    pitfalls.refuse_dense_scores(all_retrieved)
    retrieved, grades, findings = _as_text(all_retrieved, all_qrels, corpus)
    findings += pitfalls.overlap(retrieved, grades)
    ranked = {
        str(qid): rows for qid, rows in all_retrieved.items() if not isinstance(rows, Mapping)
    }
    findings += pitfalls.unsorted_results(ranked)
    findings += [*pitfalls.negatives(grades), *pitfalls.without_relevant(grades)]
    if corpus is not None:
        findings += pitfalls.truncated_corpus(grades, set(map(str, corpus)))
    names = _measures(k_values, gain)
    evaluation = _evaluated(retrieved, grades, names)
    significance: tuple[Significance, ...] = ()
    if baseline is not None:
        reference = _as_text(baseline, all_qrels, None)[0]
        pitfalls.overlap(reference, grades)
        significance = significances(
            evaluation.per_query, _evaluated(reference, grades, names).per_query
        )
    return _scores(evaluation, names, slices or {}, findings, significance)


def _scores(
    evaluation: Evaluation[str],
    names: Mapping[str, str],
    slices: Slices,
    findings: Sequence[Finding],
    significance: Sequence[Significance],
) -> RetrievalScores:
    by_slice = slice_means(evaluation, slices)
    named = dict(zip(map(str, evaluation.measures), names, strict=True))
    return RetrievalScores(
        {named[name]: mean for name, mean in evaluation.means.items()},
        per_query={
            qid: {named[name]: value for name, value in values.items()}
            for qid, values in evaluation.per_query.items()
        },
        slices={
            name: {
                **{named[measure]: mean for measure, mean in of.means.items()},
                "n_queries": of.n_queries,
            }
            for name, of in by_slice.items()
        },
        meanings=names,
        findings=findings,
        significance=[test.renamed(named[test.measure]) for test in significance],
        n_queries=evaluation.n_queries,
    )


def _evaluated(retrieved: Retrieved, grades: Grades, names: Mapping[str, str]) -> Evaluation[str]:
    judged = {qid: retrieved[qid] for qid in grades if qid in retrieved}
    return evaluate(grades, judged, list(names), allow_empty=True)


def _measures(k_values: Sequence[int], gain: str) -> dict[str, str]:
    """Each measure by the name it is returned under, spelled out."""
    if gain not in (EXPONENTIAL, LINEAR):
        reason = f"gain is '{gain}'; expected {EXPONENTIAL} or {LINEAR}. Choose one of them."
        raise MeasureParameterError(name="nDCG", reason=reason)
    is_linear = gain == LINEAR
    head = "nDCG" if is_linear else "nDCG(dcg='exp-log2')"
    description = f"gain {'grade' if is_linear else '2^grade - 1'}, discount log2(rank + 1)"
    every = "mean over the queries of the qrels"
    ndcg = {f"{head}@{k}": f"nDCG at {k}: {description}; {every}" for k in k_values}
    share = "share of the relevant documents in the first"
    recall = {f"Recall@{k}": f"{share} {k}; {every}" for k in k_values}
    return {
        **ndcg,
        **recall,
        "MAP": f"average precision over all results; {every}",
        "MRR": f"1 / rank of the first relevant document, over all results; {every}",
    }


def _as_text(
    retrieved: Mapping[Any, Any], grades: Mapping[Any, Any], corpus: Collection[Any] | None
) -> tuple[dict[str, list[tuple[str, float]]], dict[str, dict[str, int]], list[Finding]]:
    """Both with text for ids, which were all text or all of one other type."""
    retrieved = {
        qid: rows.items() if isinstance(rows, Mapping) else rows for qid, rows in retrieved.items()
    }
    firsts = (row[0] for rows in retrieved.values() for row in rows)
    judged = (docid for documents in grades.values() for docid in documents)
    kinds = {
        pitfalls.ids_of_one_type({"results": retrieved, "qrels": grades}),
        pitfalls.ids_of_one_type({"results": firsts, "qrels": judged, "corpus": corpus or ()}),
    }
    findings = [] if kinds == {str} else [pitfalls.numbers_for_ids()]
    text_results = {
        str(qid): [(str(row[0]), row[1]) for row in rows] for qid, rows in retrieved.items()
    }
    text_grades = {
        str(qid): {str(docid): grade for docid, grade in documents.items()}
        for qid, documents in grades.items()
    }
    return text_results, text_grades, findings
