"""An estimate from the judged documents: a regression on cheap features, without any key.

Logistic regressions (C = .1, features standardised) of "people's grade is at least g" for each
grade g, fitted on the documents that people judged, in five folds of query families: no query's
estimate ever sees its own labels. It is an estimate and never a label: a second opinion of queries
for `corrected`, and guesses of grades for `documents`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from benchwright.estimation.errors import ArraysError, LearningError
from benchwright.statistics.families import Floats

PENALTY_C = 0.1
N_FOLDS = 5
LEAST_FAMILIES = 30
"""Below so many labelled families a mean that it corrects may hold the truth in less than .92."""
MOST_STEPS = 50
CONVERGED = 1e-10

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


# --- features ------------------------------------------------------------------------------------


def features(
    scores: Mapping[str, Floats],
    of_query: Ints,
    overlaps: Sequence[Floats] = (),
) -> Floats:
    """Columns that tell relevant documents from others, whoever found them: rows x features.

    Of each ranking function's scores (NaN where it has none) the score, its z within the query, its
    share of the query's highest, and the logarithm of its rank; beside them what is given in
    `overlaps` as it is (see `text_features`). No run's name is among them.
    """
    columns: list[Floats] = []
    for name in sorted(scores):
        columns += _of_scores(np.asarray(scores[name], dtype=np.float64), of_query)
    columns += [np.asarray(column, dtype=np.float64) for column in overlaps]
    if not columns:
        raise ArraysError(what="There is no feature", expected="scores or overlaps")
    return np.stack(columns, axis=1)


def text_features(
    queries: Sequence[Sequence[str]],
    documents: Sequence[Sequence[str]],
    of_query: Ints,
    idf: Mapping[str, float],
) -> list[Floats]:
    """Of each document: share of the query's words in it, the same weighted by idf, both lengths.

    `queries` are words of each query, `documents` of each row's document. Lengths are logarithms.
    """
    highest = max(idf.values(), default=1.0)
    plain, weighted = np.zeros(len(documents)), np.zeros(len(documents))
    of_document, of_words = np.zeros(len(documents)), np.zeros(len(documents))
    for row, words in enumerate(documents):
        query_words, there = set(queries[of_query[row]]), set(words)
        weights = {word: idf.get(word, highest) for word in query_words}
        shared = query_words & there
        plain[row] = len(shared) / max(len(query_words), 1)
        total = sum(weights.values())
        weighted[row] = sum(weights[word] for word in shared) / total if total else 0.0
        of_document[row] = np.log1p(len(words))
        of_words[row] = np.log1p(len(queries[of_query[row]]))
    return [plain, weighted, of_document, of_words]


def _of_scores(scores: Floats, of_query: Ints) -> list[Floats]:
    n = int(of_query.max()) + 1 if len(of_query) else 0
    lowest = np.full(n, np.inf)
    np.fmin.at(lowest, of_query, scores)
    lowest = np.where(np.isfinite(lowest), lowest, 0.0)
    # What a function did not score stands at its lowest.
    score = np.where(np.isnan(scores), lowest[of_query], scores)
    counts = np.bincount(of_query, minlength=n)
    sizes = np.maximum(counts, 1)
    mean = np.bincount(of_query, weights=score, minlength=n) / sizes
    square = np.bincount(of_query, weights=(score - mean[of_query]) ** 2, minlength=n) / sizes
    # What rounding leaves of equal scores is no spread.
    spread = np.where(square > 1e-24 * mean**2, np.sqrt(square), 0.0)[of_query]
    z = np.where(spread > 0, (score - mean[of_query]) / np.where(spread > 0, spread, 1), 0.0)
    highest = np.full(n, -np.inf)
    np.maximum.at(highest, of_query, score)
    top = highest[of_query]
    share = np.where(top > 0, score / np.where(top > 0, top, 1), 0.0)
    order = np.lexsort((-score, of_query))
    rank = np.empty(len(score))
    rank[order] = np.arange(len(score)) - np.repeat(np.cumsum(counts) - counts, counts)
    return [score, z, share, np.log1p(rank)]


# --- fitting -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Logistic:
    """A fitted regression: weights of standardised features, and where they were standardised."""

    weights: Floats
    intercept: float
    means: Floats
    spreads: Floats

    def probabilities(self, rows: Floats) -> Floats:
        """Of each row."""
        standard = (rows - self.means) / self.spreads
        return _sigmoid(standard @ self.weights + self.intercept)


def fitted(rows: Floats, is_one: Bools, *, c: float = PENALTY_C) -> Logistic:
    """Minimise |w|^2 / 2 + C * sum of log losses; the intercept is free. By Newton's steps.

    Where all outcomes are alike there is nothing to tell apart: the probability is theirs, drawn
    towards a half by one pseudo-label of each kind.
    """
    means, spreads = rows.mean(axis=0), rows.std(axis=0)
    spreads = np.where(spreads > 1e-12, spreads, 1.0)
    y = is_one.astype(np.float64)
    n, k = rows.shape
    prior = (y.sum() + 1) / (n + 2)
    parameters = np.zeros(k + 1)
    parameters[-1] = np.log(prior / (1 - prior))
    if 0 < y.sum() < n:
        x = np.hstack([(rows - means) / spreads, np.ones((n, 1))])
        penalty = np.append(np.ones(k), 0.0)
        parameters = _minimised(x, y, penalty, parameters, c)
    return Logistic(parameters[:-1], float(parameters[-1]), means, spreads)


def _minimised(x: Floats, y: Floats, penalty: Floats, start: Floats, c: float) -> Floats:
    parameters = start
    loss = _loss(x, y, penalty, parameters, c)
    for _ in range(MOST_STEPS):
        p = _sigmoid(x @ parameters)
        slope = penalty * parameters + c * (x.T @ (p - y))
        curve = np.diag(penalty) + c * (x.T * (p * (1 - p))) @ x
        curve[-1, -1] += 1e-12
        step = np.linalg.solve(curve, slope)
        if float(slope @ step) < CONVERGED:
            return parameters - step
        scale = 1.0
        # Halved until it goes down: the full step may leap over the minimum.
        while (tried := _loss(x, y, penalty, parameters - scale * step, c)) > loss and scale > 1e-8:
            scale /= 2
        parameters, loss = parameters - scale * step, tried
    return parameters


def _loss(x: Floats, y: Floats, penalty: Floats, parameters: Floats, c: float) -> float:
    margin = x @ parameters
    return float(
        (penalty * parameters**2).sum() / 2 + c * (np.logaddexp(0, margin) - y * margin).sum()
    )


def _sigmoid(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(values, -500, 500)))


# --- cross-fitting -------------------------------------------------------------------------------


def folds_of(families: Sequence[str], *, seed: int = 0, n: int = N_FOLDS) -> Ints:
    """The fold of each family, by the digest of seed and name."""
    numbers = {
        name: int.from_bytes(blake2b(f"{seed}\x00{name}".encode(), digest_size=8).digest(), "big")
        for name in set(families)
    }
    return np.array([numbers[name] % n for name in families], dtype=np.int64)


@dataclass(frozen=True)
class Learned:
    """Of each document: the probability that its grade is at least each grade, and the expected."""

    at_least: Floats
    grades: tuple[int, ...]

    @property
    def expected(self) -> Floats:
        """The expected grade of each document."""
        steps = np.diff(np.array([0, *self.grades], dtype=np.float64))
        return self.at_least @ steps

    def relevant(self, threshold: int) -> Floats:
        """The probability that the grade is at least so high."""
        column = next((at for at, grade in enumerate(self.grades) if grade >= threshold), None)
        return np.zeros(len(self.at_least)) if column is None else self.at_least[:, column]


def learned(
    rows: Floats,
    grades: Floats,
    of_query: Ints,
    families: Sequence[str],
    *,
    scale: Sequence[int],
    seed: int = 0,
    c: float = PENALTY_C,
) -> Learned:
    """Estimates of every document, each by a model that saw no label of its family.

    Parameters
    ----------
    rows
        Documents x features (`features`).
    grades
        People's grade of each document, NaN where nobody judged it.
    of_query
        The query of each document.
    families
        The family of each query.
    scale
        The grades; those above 0 are learned, each from whether a grade is at least so high.

    Raises
    ------
    LearningError
        If fewer than two folds have labels.
    """
    above = tuple(sorted(grade for grade in set(scale) if grade > 0))
    fold = folds_of(families, seed=seed)[of_query]
    is_known = ~np.isnan(grades)
    with_labels = np.unique(fold[is_known])
    if len(with_labels) < 2:
        why = f"labels are in {len(with_labels)} of {N_FOLDS} folds of families"
        raise LearningError(why=why, advice="Label documents of more queries.")
    at_least = np.zeros((len(rows), len(above)))
    for which in range(N_FOLDS):
        mine = fold == which
        if not mine.any():
            continue
        is_used = is_known & ~mine
        for column, grade in enumerate(above):
            model = fitted(rows[is_used], grades[is_used] >= grade, c=c)
            at_least[mine, column] = model.probabilities(rows[mine])
    # A higher grade cannot be likelier than a lower one.
    return Learned(np.minimum.accumulate(at_least, axis=1), above)


# --- what a run is worth by expected grades ------------------------------------------------------


def estimated_ndcg(ranked: Floats, everything: Floats, *, cutoff: int) -> float:
    """nDCG of a ranking by expected grades (best first), over the ideal of all of the query's.

    >>> estimated_ndcg(np.array([1.0, 0.5]), np.array([0.5, 1.0]), cutoff=10)
    1.0
    """
    best = _dcg(np.sort(everything)[::-1][:cutoff])
    return _dcg(ranked[:cutoff]) / best if best > 0 else 0.0


def estimated_precision(ranked: Floats, *, cutoff: int) -> float:
    """The expected share of relevant documents among the first: the sum of probabilities over k."""
    return float(ranked[:cutoff].sum()) / cutoff


def estimated_reciprocal_rank(ranked: Floats, *, cutoff: int) -> float:
    """The expected reciprocal rank of the first relevant: sum of p_i prod(1 - p_j) / i.

    >>> estimated_reciprocal_rank(np.array([0.5, 1.0]), cutoff=10)
    0.75
    """
    p = ranked[:cutoff]
    none_before = np.concatenate([[1.0], np.cumprod(1 - p)[:-1]])
    return float((p * none_before / np.arange(1, len(p) + 1)).sum())


def _dcg(gains: Floats) -> float:
    return float((gains / np.log2(np.arange(2, len(gains) + 2))).sum())
