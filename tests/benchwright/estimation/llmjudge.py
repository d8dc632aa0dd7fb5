"""LLMJudge: people's grades, those of 17 judges, and runs made of the judges' grades."""

from functools import cache
from math import log2
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.benchwright.realdata import data_folder

TOP, RELEVANT, CUTOFF = 3, 2, 10
Grades = dict[str, dict[str, int]]


class Values(NamedTuple):
    """nDCG@10, P@10 and RR@10 of a ranking, each by query in the order of their bytes."""

    ndcg: np.ndarray
    precision: np.ndarray
    reciprocal: np.ndarray


def grades_of(path: Path) -> Grades:
    """Grades by query and document, clipped to the scale."""
    grades: Grades = {}
    for line in path.read_text("utf-8").splitlines():
        query, _, document, grade = line.split()
        grades.setdefault(query, {})[document] = min(max(int(grade), 0), TOP)
    return grades


@cache
def people() -> Grades:
    return grades_of(data_folder("annotations_llmjudge") / "nist_gold.qrels")


@cache
def judge(name: str) -> Grades:
    return grades_of(data_folder("annotations_llmjudge") / "labels" / f"{name}.qrels")


def judge_names() -> list[str]:
    folder = data_folder("annotations_llmjudge") / "labels"
    return sorted(path.stem for path in folder.iterdir())


def queries() -> list[str]:
    return sorted(people(), key=str.encode)


@cache
def ranking(name: str) -> dict[str, list[str]]:
    """A run made of a judge's grades: descending, ties by document id in bytes, descending."""
    return {
        query: sorted(grades, key=lambda grade: (grades[grade], grade.encode()), reverse=True)
        for query, grades in judge(name).items()
    }


def values(run: str, labels: Grades) -> Values:
    """What a run's ranking is worth by some labels; the ideal is of the same labels."""
    rows = [_of_query(ranking(run)[query], labels[query]) for query in queries()]
    return Values(*(np.array(column) for column in zip(*rows, strict=True)))


def _of_query(ranked: list[str], grades: dict[str, int]) -> tuple[float, float, float]:
    gains = [grades.get(document, 0) for document in ranked[:CUTOFF]]
    ideal = sorted(grades.values(), reverse=True)[:CUTOFF]
    best = _dcg(ideal)
    places = [place for place, gain in enumerate(gains, start=1) if gain >= RELEVANT]
    return (
        _dcg(gains) / best if best else 0.0,
        len(places) / CUTOFF,
        1 / places[0] if places else 0.0,
    )


def _dcg(gains: list[int]) -> float:
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains, start=1))
