"""Everything the agreement page says, from labels alone; plain values that JSON can hold."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.agreement.bootstrap import alpha_with_interval, cluster_coincidences
from benchwright.agreement.coefficients import (
    Level,
    Weights,
    alphas,
    fleiss,
    gwet,
    krippendorff,
    percent_agreement,
)
from benchwright.agreement.labels import (
    NOBODY,
    Ints,
    Labels,
    confusion,
    consensus_of_others,
    split_at,
)
from benchwright.agreement.measured import Measured
from benchwright.agreement.two_raters import cohen, pair_tables

Pair = tuple[str, str]
N_QUERIES_SHOWN = 50
N_RATERS_PAIRED = 24
N_RATERS_LEFT_OUT = 100


def overall(labels: Labels, relevant_from: int, rng: np.random.Generator) -> dict[str, Any]:
    """Every coefficient of all labels; `relevant_from` is a position on the scale."""
    counts = labels.counts()
    ordinal = alpha_with_interval(labels, Level.ORDINAL, rng)
    coefficients = {
        "exact": percent_agreement(counts),
        "relevant": percent_agreement(split_at(counts, relevant_from)),
        "alpha_ordinal": ordinal,
        "alpha_nominal": krippendorff(counts, labels.scale, Level.NOMINAL),
        "alpha_interval": krippendorff(counts, labels.scale, Level.INTERVAL),
        "ac1": gwet(counts),
        "ac2": gwet(counts, Weights.QUADRATIC),
        "fleiss": fleiss(counts),
        **_cohens(labels),
    }
    return {name: asdict(measured) for name, measured in coefficients.items()}


def of_raters(
    grades: Mapping[str, Mapping[Pair, int]],
    *,
    scale: Sequence[int] | None,
    relevant_from: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """How far raters agree, of {(query, document): grade} by each, where two or more graded.

    Without a scale it is every whole number from 0 (or the lowest grade) to the highest one: a
    grade that happens not to occur is a step of the scale all the same. `relevant_from` is the
    lowest relevant grade. A grade that is not on the scale is taken as missing. Where no pair was
    graded by two, `n_shared` is 0, and it is all. `same_share` is of the pairs to which all who
    graded them gave one grade.
    """
    rows = [
        (*pair, rater, grade)
        for rater, of in grades.items()
        for pair, grade in of.items()
        if not scale or grade in scale
    ]
    by_pair: dict[Pair, list[int]] = {}
    for qid, docid, _, grade in rows:
        by_pair.setdefault((qid, docid), []).append(grade)
    shared = [of_pair for of_pair in by_pair.values() if len(of_pair) > 1]
    if not shared:
        return {"n_shared": 0}
    occurring = {grade for *_, grade in rows}
    whole = scale or list(range(min(0, *occurring), max(1, *occurring) + 1))
    position = sum(grade < relevant_from for grade in whole)
    return {
        "n_raters": len({rater for _, _, rater, _ in rows}),
        "n_shared": len(shared),
        "same_share": sum(len(set(of_pair)) == 1 for of_pair in shared) / len(shared),
        "scale": list(whole),
        "overall": overall(Labels.from_rows(rows, whole), position, rng),
    }


def _cohens(labels: Labels) -> dict[str, Measured]:
    """Cohen's kappas where there are two raters; of more the pairs are told one by one."""
    who = np.unique(labels.raters)
    if len(who) == 2:
        table = pair_tables(labels)[who[0], who[1]]
        return {f"cohen_{weights}": cohen(table, weights) for weights in Weights}
    there = "there is one" if len(who) == 1 else f"there are {len(who)}"
    why = f"it is of two annotators, and {there}"
    return {f"cohen_{weights}": Measured.undefined(why) for weights in Weights}


def sizes(labels: Labels) -> dict[str, int]:
    n_each = labels.counts().sum(axis=1)
    shared = n_each > 1
    return {
        "n_labels": len(labels),
        "n_documents": int((n_each > 0).sum()),
        "n_shared": int(shared.sum()),
        "n_queries_shared": len(np.unique(labels.clusters[shared])),
        "n_raters": len(np.unique(labels.raters)),
    }


def boundaries(labels: Labels) -> list[dict[str, Any]]:
    """Agreement on whether a grade is at least each grade of the scale."""
    counts = labels.counts()
    rows = []
    for position in range(1, labels.n_grades):
        halves = split_at(counts, position)
        rows.append(
            {
                "grade": labels.scale[position],
                "exact": asdict(percent_agreement(halves)),
                "alpha": asdict(krippendorff(halves, (0, 1), Level.NOMINAL)),
                "ac1": asdict(gwet(halves)),
            }
        )
    return rows


def by_query(labels: Labels, relevant_from: int) -> list[dict[str, Any]]:
    """Queries with two shared documents or more, the least agreed on first."""
    counts = labels.counts()
    n_each = counts.sum(axis=1)
    shared = n_each > 1
    n = len(labels.query_keys)
    of, n_shared = labels.clusters[shared], np.bincount(labels.clusters[shared], minlength=n)
    exact = _mean_agreement(counts[shared], of, n)
    relevant = _mean_agreement(split_at(counts[shared], relevant_from), of, n)
    matrices = cluster_coincidences(counts, labels.clusters, n)
    alpha = alphas(matrices, labels.scale, Level.ORDINAL)
    order = [q for q in np.lexsort((-n_shared, exact)) if n_shared[q] > 1]
    return [
        {
            "query": labels.query_keys[q],
            "n": int(n_shared[q]),
            "exact": float(exact[q]),
            "relevant": float(relevant[q]),
            "alpha": None if np.isnan(alpha[q]) else float(alpha[q]),
        }
        for q in order[:N_QUERIES_SHOWN]
    ]


def _mean_agreement(counts: Ints, of: Ints, n: int) -> NDArray[np.float64]:
    """The mean share of equal pairs of the items of each query; NaN without any."""
    n_each = counts.sum(axis=1)
    equal = (counts * (counts - 1)).sum(axis=1) / (n_each * (n_each - 1))
    with np.errstate(invalid="ignore"):
        return np.bincount(of, weights=equal, minlength=n) / np.bincount(of, minlength=n)


def by_rater(labels: Labels) -> list[dict[str, Any]]:
    """Each rater beside the others' consensus; `alpha_without` is alpha if they had not judged."""
    consensus = consensus_of_others(labels)
    n_each = np.bincount(labels.raters, minlength=len(labels.rater_keys))
    leaves_out = len(n_each) <= N_RATERS_LEFT_OUT
    rows = []
    for rater in np.argsort(-n_each, kind="stable"):
        if n_each[rater]:
            own = labels.raters == rater
            rows.append(_one_rater(labels, own, consensus, leaves_out=leaves_out))
    return rows


def _one_rater(
    labels: Labels, own: NDArray[np.bool_], consensus: Ints, *, leaves_out: bool
) -> dict[str, Any]:
    key = labels.rater_keys[int(labels.raters[own][0])]
    is_compared = own & (consensus != NOBODY)
    table = confusion(labels.where(is_compared), consensus[is_compared])
    # In grades, which need not follow each other as their places on the scale do.
    values = np.array(labels.scale, dtype=np.float64)
    away = values[labels.grades[is_compared]] - values[consensus[is_compared]]
    n = int(is_compared.sum())
    without = Measured.undefined("there are too many annotators to leave out one by one")
    if leaves_out:
        without = krippendorff(labels.where(~own).counts(), labels.scale, Level.ORDINAL)
    return {
        "rater": key,
        "n": int(own.sum()),
        "n_shared": n,
        "exact": float((away == 0).mean()) if n else None,
        "lean": float(away.mean()) if n else None,
        "kappa": asdict(cohen(table, Weights.QUADRATIC)),
        "alpha_without": asdict(without),
        "confusion": table.tolist(),
    }


def pairs(labels: Labels) -> dict[str, Any]:
    """Weighted kappas of all pairs of the raters with most labels: a matrix, by rater."""
    n_each = np.bincount(labels.raters, minlength=len(labels.rater_keys))
    most = [int(r) for r in np.argsort(-n_each, kind="stable") if n_each[r]][:N_RATERS_PAIRED]
    chosen = sorted(most)
    seat = np.full(len(n_each), -1)
    seat[chosen] = np.arange(len(chosen))
    of_chosen = labels.where(np.isin(labels.raters, chosen))
    seated = Labels(
        of_chosen.items,
        seat[of_chosen.raters],
        of_chosen.grades,
        labels.clusters,
        labels.scale,
        labels.query_keys,
        tuple(labels.rater_keys[r] for r in chosen),
    )
    tables = pair_tables(seated)
    cells = [
        {"a": a, "b": b, "kappa": asdict(cohen(tables[a, b], Weights.QUADRATIC))}
        for a in range(len(chosen))
        for b in range(a + 1, len(chosen))
    ]
    return {
        "raters": list(seated.rater_keys),
        "cells": cells,
        "n_left_out": max(0, int((n_each > 0).sum()) - N_RATERS_PAIRED),
    }


def by_group(labels: Labels, groups: Ints, names: tuple[Hashable, ...]) -> list[dict[str, Any]]:
    """Agreement among the labels of each group: a version of the guideline, a pool."""
    rows = []
    for place, name in enumerate(names):
        inside = labels.where(groups == place)
        counts = inside.counts()
        rows.append(
            {
                "name": name,
                "n": len(inside),
                "exact": asdict(percent_agreement(counts)),
                "alpha": asdict(krippendorff(counts, labels.scale, Level.ORDINAL)),
            }
        )
    return rows


def against_consensus(labels: Labels) -> dict[str, Any]:
    """How often the others' consensus (row) met which grade (column), with shares of the row."""
    table = confusion(labels, consensus_of_others(labels))
    n_rows = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, n_rows, out=np.zeros(table.shape), where=n_rows > 0)
    return {
        "scale": list(labels.scale),
        "counts": table.tolist(),
        "shares": shares.tolist(),
    }


def with_known(labels: Ints, grades: Ints, scale: Sequence[int]) -> dict[str, Any]:
    """Labels beside the grades that are known, or that the same person gave before.

    Both are places on the scale. `near` counts labels at most one step of it away, `lean` is in
    grades.
    """
    if not len(labels):
        return {"n": 0, "exact": None, "near": None, "lean": None, "kappa": None}
    steps, n_grades = labels - grades, len(scale)
    values = np.array(scale, dtype=np.float64)
    flat = np.bincount(grades * n_grades + labels, minlength=n_grades**2)
    return {
        "n": len(labels),
        "exact": float((steps == 0).mean()),
        "near": float((np.abs(steps) <= 1).mean()),
        "lean": float((values[labels] - values[grades]).mean()),
        "kappa": asdict(cohen(flat.reshape(n_grades, n_grades), Weights.QUADRATIC)),
    }
