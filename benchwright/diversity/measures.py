"""Measures of results that serve several needs: qrels by subtopic, as of TREC's diversity tasks.

A document counts for each subtopic it is relevant to, less for one already served: the j-th
document of a subtopic counts (1 - alpha)^(j - 1). What a rank counts is its discount. Over a list,
gain = sum over ranks of discount * sum over its subtopics of (1 - alpha)^(documents above).

`ERR_IA`, `alpha_DCG`, `NRBP` divide it by S lists, each of documents of one subtopic alone, where S
subtopics have a relevant document; those that begin with n divide by the gain of the best list,
made step by step by the document that gains most, which can be beaten. Values are ndeval's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import fsum, inf, log2
from pathlib import Path
from typing import ClassVar

from benchwright.errors import CutoffError, MeasureParameterError, Problems, UnknownMeasureError
from benchwright.files.encodings import as_bytes, as_text
from benchwright.files.sources import open_lines, shown_name
from benchwright.formats.numbers import whole
from benchwright.formats.trec import numbered_columns
from benchwright.measures.families import Measure

Grades = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Query to subtopic to document to grade."""
Results = Mapping[str, Iterable[tuple[str, float]] | Mapping[str, float]]
Subtopics = frozenset[str]
Discount = Callable[[int], float]

ALPHA, BETA = 0.5, 0.5
MEAN = Measure("P", 1)
"""How queries are averaged: all of these are means."""
# ndeval looks no deeper where a measure has no cutoff of its own.
NO_CUTOFF = ("NRBP", "nNRBP", "AP_IA")
NAMES = ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "P_IA", "StRecall", *NO_CUTOFF)
BY_BEST = ("alpha_nDCG", "nERR_IA", "nNRBP")
WITH_BETA = ("NRBP", "nNRBP")
WITHOUT_NOVELTY = ("P_IA", "AP_IA", "StRecall")
ALIASES = {"STREC": "StRecall", "MAP_IA": "AP_IA"}


@dataclass(frozen=True, slots=True)
class DiversityScores:
    """Means by measure over the queries of the qrels, and every query's values."""

    means: Mapping[str, float]
    per_query: Mapping[str, Mapping[str, float]]


def novelty_gains(ranking: Sequence[Subtopics], alpha: float) -> list[float]:
    """What each document gains: each of its subtopics (1 - alpha)^(documents of it above).

    Examples
    --------
    >>> novelty_gains([frozenset("ab"), frozenset("a"), frozenset()], 0.5)
    [2.0, 0.5, 0.0]
    """
    n_above: dict[str, int] = {}
    gains = []
    for subtopics in ranking:
        gains.append(fsum([(1 - alpha) ** n_above.get(subtopic, 0) for subtopic in subtopics]))
        for subtopic in subtopics:
            n_above[subtopic] = n_above.get(subtopic, 0) + 1
    return gains


def best_ranking(documents: Mapping[str, Subtopics], depth: int, alpha: float) -> list[Subtopics]:
    """The documents that gain most, one after the other; of equal ones the last by id."""
    # Documents of the same subtopics gain the same: the last of each kind by id stands for it.
    docids_of: dict[Subtopics, list[str]] = {}
    for docid, subtopics in sorted(documents.items()):
        docids_of.setdefault(subtopics, []).append(docid)
    n_above: dict[str, int] = {}
    ranking: list[Subtopics] = []
    while docids_of and len(ranking) < depth:
        chosen = max(
            docids_of,
            key=lambda kind: (
                fsum([(1 - alpha) ** n_above.get(subtopic, 0) for subtopic in kind]),
                docids_of[kind][-1],
            ),
        )
        docids_of[chosen].pop()
        if not docids_of[chosen]:
            del docids_of[chosen]
        for subtopic in chosen:
            n_above[subtopic] = n_above.get(subtopic, 0) + 1
        ranking.append(chosen)
    return ranking


def discounted(gains: Sequence[float], discount: Discount) -> float:
    """The sum of the gains, each by the discount of its rank."""
    return fsum([gain * discount(rank) for rank, gain in enumerate(gains, start=1)])


def precision_ia(ranking: Sequence[Subtopics], n_subtopics: int, *, cutoff: int) -> float:
    """The mean over subtopics of the share of the first `cutoff` documents that serve each."""
    return sum(map(len, ranking[:cutoff])) / (n_subtopics * cutoff)


def average_precision_ia(ranking: Sequence[Subtopics], relevant: Mapping[str, int]) -> float:
    """The mean over subtopics of average precision; `relevant` documents of each."""
    of_subtopics = []
    for subtopic, n_relevant in relevant.items():
        hits = accumulate(subtopic in subtopics for subtopics in ranking)
        served = (subtopic in subtopics for subtopics in ranking)
        ranked = zip(hits, served, strict=True)
        precisions = [n / rank for rank, (n, is_one) in enumerate(ranked, 1) if is_one]
        of_subtopics.append(fsum(precisions) / n_relevant)
    return fsum(of_subtopics) / len(relevant)


def subtopic_recall(ranking: Sequence[Subtopics], n_subtopics: int, *, cutoff: int) -> float:
    """The share of the subtopics that one of the first `cutoff` documents serves."""
    return len(frozenset().union(*ranking[:cutoff])) / n_subtopics


@dataclass(frozen=True, slots=True)
class DiversityMeasure:
    """One measure with its parameters; `str()` is its name as ir_measures writes it."""

    family: str
    cutoff: int | None = None
    rel: int = 1
    alpha: float = ALPHA
    beta: float = BETA
    aggregation: ClassVar = "mean"
    is_total: ClassVar = False
    trec_name: ClassVar = None

    def __str__(self) -> str:
        params = (("rel", self.rel, 1), ("alpha", self.alpha, ALPHA), ("beta", self.beta, BETA))
        options = ",".join(f"{name}={value}" for name, value, default in params if value != default)
        inside = f"({options})" if options else ""
        return f"{self.family}{inside}" + (f"@{self.cutoff}" if self.cutoff else "")

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and highest value; the best list is made step by step and can be beaten."""
        return 0.0, inf if self.family in BY_BEST else 1.0

    def over_all(self, values: Sequence[float], weights: Sequence[float] | None = None) -> float:
        """As that of any mean."""
        return MEAN.over_all(values, weights)

    def value(self, ranking: Sequence[Subtopics], documents: Mapping[str, Subtopics]) -> float:
        """The measure of one query, from 0; 0.0 where no document serves a subtopic.

        `ranking` holds the subtopics each result serves, `documents` those of each relevant one.
        """
        relevant: dict[str, int] = {}
        for subtopic in (subtopic for subtopics in documents.values() for subtopic in subtopics):
            relevant[subtopic] = relevant.get(subtopic, 0) + 1
        if not relevant:
            return 0.0
        if self.family == "AP_IA":
            return average_precision_ia(ranking, relevant)
        if self.family in ("P_IA", "StRecall"):
            function = precision_ia if self.family == "P_IA" else subtopic_recall
            return function(ranking, len(relevant), cutoff=self.cutoff or len(ranking))
        return self._gain(ranking, documents, len(relevant))

    def _gain(
        self, ranking: Sequence[Subtopics], documents: Mapping[str, Subtopics], n_subtopics: int
    ) -> float:
        discount, depth = self._discount(), self.cutoff or max(len(ranking), len(documents))
        gain = discounted(novelty_gains(ranking[:depth], self.alpha), discount)
        if self.family in BY_BEST:
            best = best_ranking(documents, depth, self.alpha)
            return gain / discounted(novelty_gains(best, self.alpha), discount)
        if self.family == "NRBP":
            return gain * (1 - (1 - self.alpha) * self.beta) / n_subtopics
        alone = [(1 - self.alpha) ** place for place in range(depth)]
        return gain / (n_subtopics * discounted(alone, discount))

    def _discount(self) -> Discount:
        if self.family in ("alpha_DCG", "alpha_nDCG"):
            return lambda rank: 1 / log2(rank + 1)
        if self.family in ("ERR_IA", "nERR_IA"):
            return lambda rank: 1 / rank
        return lambda rank: self.beta ** (rank - 1)


def parse_diversity(name: str) -> DiversityMeasure:
    """The measure of a name: `alpha_nDCG@20`, `ERR_IA(rel=2)@10`, `NRBP(alpha=0.3,beta=0.8)`.

    Raises
    ------
    UnknownMeasureError, MeasureParameterError, CutoffError
        If there is none, or it does not take what is named.

    Examples
    --------
    >>> str(parse_diversity("STREC@10")), str(parse_diversity("alpha_nDCG(alpha=0.5)@20"))
    ('StRecall@10', 'alpha_nDCG@20')
    """
    head, at, cutoff = name.strip().replace("\u03b1", "alpha").partition("@")
    word, _, inside = head.partition("(")
    family = {each.lower(): each for each in (*NAMES, *ALIASES)}.get(word.strip().lower(), "")
    family = ALIASES.get(family, family)
    if not family:
        raise UnknownMeasureError(name=name, known=", ".join(NAMES))
    if bool(at) == (family in NO_CUTOFF):
        reason = (
            "takes no cutoff. Leave it out." if at else "has no cutoff; write one, such as @20."
        )
        raise MeasureParameterError(name=name, reason=reason)
    shares = (*("alpha",) * (family not in WITHOUT_NOVELTY), *("beta",) * (family in WITH_BETA))
    expected = ["rel from 1", *(f"{share} from 0 to below 1" for share in shares)]
    options: dict[str, float] = {}
    for part in filter(None, inside.rstrip(") ").split(",")):
        key, _, value = (piece.strip() for piece in part.partition("="))
        try:
            options[key] = int(value) if key == "rel" else float(value)
        except ValueError:
            options[key] = -1
        is_share = key in shares and 0 <= options[key] < 1
        if not (is_share or (key == "rel" and options[key] >= 1)):
            reason = f"has '{part}'; expected {', '.join(expected)}."
            raise MeasureParameterError(name=name, reason=reason)
    if at and not cutoff.isdecimal():
        raise MeasureParameterError(name=name, reason=f"cutoff is '{cutoff}'; expected a number.")
    if at and int(cutoff) < 1:
        raise CutoffError(cutoff=int(cutoff))
    rel = int(options.pop("rel", 1))
    return DiversityMeasure(family, int(cutoff) if at else None, rel, **options)


def read_subtopic_qrels(path: Path | str) -> dict[str, dict[str, dict[str, int]]]:
    """Query to subtopic to document to grade: those four are a line, as in TREC's diversity tasks.

    The file may be plain, gzip or zstd; `-` is standard input.

    Raises
    ------
    FileProblemsError
        If a line is none; all are named, with what was expected.
    """
    grades: dict[str, dict[str, dict[str, int]]] = {}
    problems, file = Problems(), shown_name(Path(path))
    lines = open_lines(Path(path))
    for number, columns in numbered_columns(lines, file=file, problems=problems):
        grade = whole(columns[3]) if len(columns) == 4 else None
        if grade is not None:
            qid, subtopic, docid = map(as_text, columns[:3])
            grades.setdefault(qid, {}).setdefault(subtopic, {})[docid] = grade
        else:
            quoted = b" ".join(columns)[:60].decode("utf-8", "replace")
            text = f"the line is '{quoted}'; expected query, subtopic, document and a whole grade"
            problems.add(file, number, f"{text}. Correct or drop it.")
    problems.raise_found()
    return grades


def evaluate_subtopics(
    qrels: Grades | Path | str, run: Results, measures: Iterable[str]
) -> DiversityScores:
    """Measures of a run by subtopic, over the queries of the qrels that have a relevant document.

    `run` holds of each query its documents with scores; they are put in order of score, and of
    descending id where scores are equal. A query that it lacks counts 0.

    Raises
    ------
    UnknownMeasureError, MeasureParameterError, CutoffError, FileProblemsError
        As `parse_diversity` and `read_subtopic_qrels`.
    """
    grades = qrels if isinstance(qrels, Mapping) else read_subtopic_qrels(qrels)
    parsed = [parse_diversity(name) for name in measures]
    per_query: dict[str, dict[str, float]] = {}
    for qid, of_subtopic in grades.items():
        rows = run.get(qid, ())
        pairs = rows.items() if isinstance(rows, Mapping) else rows
        ordered = sorted(pairs, key=_score_and_bytes, reverse=True)
        values = {}
        for measure in parsed:
            documents = _serving(of_subtopic, measure.rel)
            ranking = [documents.get(docid, frozenset()) for docid, _ in ordered]
            values[str(measure)] = measure.value(ranking, documents)
        if _serving(of_subtopic, 1):
            per_query[qid] = values
    n = len(per_query)
    means = {
        str(measure): fsum(values[str(measure)] for values in per_query.values()) / n if n else 0.0
        for measure in parsed
    }
    return DiversityScores(means, per_query)


def _score_and_bytes(result: tuple[str, float]) -> tuple[float, bytes]:
    docid, score = result
    return score, as_bytes(docid)


def _serving(of_subtopic: Mapping[str, Mapping[str, int]], rel: int) -> dict[str, Subtopics]:
    """The subtopics of each document that is relevant to one."""
    subtopics_of: dict[str, set[str]] = {}
    for subtopic, documents in of_subtopic.items():
        for docid, grade in documents.items():
            if grade >= rel:
                subtopics_of.setdefault(docid, set()).add(subtopic)
    return {docid: frozenset(subtopics) for docid, subtopics in subtopics_of.items()}
