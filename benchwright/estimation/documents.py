"""Sums over documents of unequal probability: P@k and DCG@k from few labels spread over queries.

A measure that is linear in the grades is a sum over documents: of a run, its discount times the
grade; of a difference, the difference of two discounts. A document d counts a_d (signed) and is
labelled with probability pi_d = min(1, max(.02, c |a_d|)), c such that the pi sum to the
budget; documents that count nothing are not needed. With a guess ghat_d of every grade

    yhat_q = sum over d of a_d (ghat_d + 1[d labelled] (g_d - ghat_d) / pi_d)

is unbiased whatever the guess (the difference estimator; Särndal, Swensson and Wretman, Model
Assisted Survey Sampling, 1992, 6.3), as long as the guess does not know whether d was drawn. So
guesses come of the other half of the families. The mean over queries has Student's t over families.

nDCG, RR and AP are not such sums (the ideal is unknown): use `corrected` for them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from benchwright.estimation.errors import ArraysError, BudgetError, TooFewFamiliesError
from benchwright.statistics.families import FamilyOf, Floats
from benchwright.statistics.intervals import ANY, Span, mean_interval, warnings

LEAST_PROBABILITY = 0.02
PSEUDO_LABELS = 3.0
LEAST_FAMILIES = 20
PURPOSE, HALVES = "estimate documents", "halves"

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def discounts(ranks: Ints, *, measure: str, cutoff: int) -> Floats:
    """What a document at each rank (from 1; 0: not retrieved) counts: "P" or "DCG", at a cutoff.

    >>> discounts(np.array([1, 2, 3, 0]), measure="DCG", cutoff=2).round(4).tolist()
    [1.0, 0.6309, 0.0, 0.0]
    """
    if measure not in ("P", "DCG"):
        what = f"measure '{measure}' is not linear in the grades"
        raise ArraysError(what=what, expected="P or DCG")
    within = (ranks >= 1) & (ranks <= cutoff)
    if measure == "P":
        return within / cutoff
    return np.where(within, 1 / np.log2(np.maximum(ranks, 1) + 1.0), 0.0)


def probabilities(amounts: Floats, budget: float) -> Floats:
    """With which probability each document is labelled, so that they sum to the budget.

    Raises
    ------
    BudgetError
        If the budget is below .02 of the documents that count.
    """
    a = np.abs(np.asarray(amounts, dtype=np.float64))
    counts = a > 0
    n = int(counts.sum())
    if not n or not budget > 0 or budget < LEAST_PROBABILITY * n:
        least = max(1, int(np.ceil(LEAST_PROBABILITY * n)))
        expected = f"at least {least}, one in fifty of those that count"
        raise BudgetError(budget=budget, n=n, expected=expected)
    if budget >= n:
        return counts.astype(np.float64)
    low, high = 0.0, 1 / float(a[counts].min())
    for _ in range(200):  # halves the distance each time, down to what a float can tell
        middle = (low + high) / 2
        if _pi(a, middle).sum() < budget:
            low = middle
        else:
            high = middle
    return _pi(a, high)


def _pi(a: Floats, c: float) -> Floats:
    return np.where(a > 0, np.minimum(1.0, np.maximum(LEAST_PROBABILITY, c * a)), 0.0)


@dataclass(frozen=True)
class DocumentDraw:
    """Which documents are labelled, and with which probability each was to be; to be stored."""

    seed: int
    budget: float
    probabilities: Floats
    is_drawn: Bools

    @property
    def n_drawn(self) -> int:
        return int(self.is_drawn.sum())


def draw_documents(
    queries: Sequence[str],
    documents: Sequence[str],
    amounts: Floats,
    *,
    budget: float,
    seed: int,
) -> DocumentDraw:
    """Draw each document by itself with its probability: by the digest of seed, query and id.

    Parameters
    ----------
    queries, documents
        Ids of each row's query and document.
    amounts
        What each document counts in what is to be estimated; of several runs, the sum of their
        discounts.

    Raises
    ------
    BudgetError
        If the budget is too small for so many documents.
    ArraysError
        If the three are not of one length.
    """
    if not len(queries) == len(documents) == len(amounts):
        what = f"{len(queries)} queries, {len(documents)} documents, {len(amounts)} amounts"
        raise ArraysError(what=what, expected="as many of each")
    pi = probabilities(amounts, budget)
    chance = np.array(
        [_share([seed, PURPOSE, *ids]) for ids in zip(queries, documents, strict=True)]
    )
    return DocumentDraw(seed, budget, pi, chance < pi)


def halves_of(families: Sequence[str], *, seed: int) -> Bools:
    """Into which of two halves each family falls; the same family always into the same."""
    return np.array([_share([seed, HALVES, name]) < 0.5 for name in families])


def guesses(
    grades: Floats,
    is_labelled: Bools,
    pi: Floats,
    is_second: Bools,
    machine: Ints | None = None,
) -> Floats:
    """What to expect of each document's grade, from labels of the other half alone.

    Of each machine grade the mean of people's grades, weighted by 1 / pi and drawn to the mean of
    all by three pseudo-labels; without a machine the mean. Never the machine's own grade: it may
    be wrong by a whole grade throughout.

    Parameters
    ----------
    grades
        People's grade of each labelled document; what stands elsewhere is not looked at.
    is_second
        Whether a document's family is in the second half (`halves_of`).
    machine
        The machine's grade of each document, from 0; below 0 where it has none.
    """
    expected = np.zeros(len(grades))
    for half in (False, True):
        mine, is_used = is_second == half, is_labelled & (is_second != half)
        w = np.where(is_used, 1 / np.where(pi > 0, pi, 1), 0.0)
        g = np.where(is_used, grades, 0.0)
        mean = float((w * g).sum() / w.sum()) if w.sum() else 0.0
        if machine is None:
            expected[mine] = mean
            continue
        of = np.maximum(machine, -1) + 1
        n_kinds = int(of.max()) + 1 if len(of) else 1
        weights = np.bincount(of, weights=w, minlength=n_kinds)
        sums = np.bincount(of, weights=w * g, minlength=n_kinds)
        n_labels = np.bincount(of, weights=is_used, minlength=n_kinds)
        means = np.where(weights > 0, sums / np.where(weights > 0, weights, 1), mean)
        shrunk = (n_labels * means + PSEUDO_LABELS * mean) / (n_labels + PSEUDO_LABELS)
        expected[mine] = shrunk[of[mine]]
    return expected


@dataclass(frozen=True, slots=True)
class DocumentEstimate:
    """A mean over all queries, from labels of drawn documents, and what it rests on."""

    mean: float
    low: float
    high: float
    n_queries: int
    n_families: int
    n_labels: int
    n_documents: int
    per_query: Floats
    warnings: tuple[str, ...] = ()


def document_mean(
    amounts: Floats,
    grades: Floats,
    draw: DocumentDraw,
    of_query: Ints,
    *,
    n_queries: int,
    families: Sequence[str],
    machine: Ints | None = None,
    expected: Floats | None = None,
    level: float = 0.95,
    span: Span = ANY,
) -> DocumentEstimate:
    """The mean over queries of what the documents' grades add up to.

    Parameters
    ----------
    amounts
        What each document counts in this estimate (signed); it may be another one than the draw
        was made for, as long as every document that counts had a chance.
    grades
        People's grade of each drawn document (for P: 1 or 0); NaN elsewhere.
    of_query
        The query of each document, as a position from 0 to `n_queries`; queries without documents
        count 0.
    families
        The family of each query.
    machine
        The machine's grade of each document, which is calibrated by halves of the families.
    expected
        Instead of it, an expected grade of each document that knows no label of its own query
        (`learned`).
    span
        What the mean can be at least and at most; an estimate that falls outside is cut there.

    Raises
    ------
    ArraysError
        If a drawn document has no grade, or one that counts had no chance.
    TooFewFamiliesError
        If there are fewer than twenty families.
    """
    a, pi = np.asarray(amounts, dtype=np.float64), draw.probabilities
    _refuse_ungraded(a, grades, draw)
    of_family = {name: at for at, name in enumerate(dict.fromkeys(families))}
    if len(of_family) < LEAST_FAMILIES:
        n = len(of_family)
        raise TooFewFamiliesError(n=n, least=LEAST_FAMILIES, missing=LEAST_FAMILIES - n)
    is_labelled = draw.is_drawn & ~np.isnan(grades)
    if expected is None:
        is_second = halves_of(families, seed=draw.seed)[of_query]
        expected = guesses(grades, is_labelled, pi, is_second, machine)
    per_document = a * expected
    hit = is_labelled & (a != 0)
    per_document[hit] += a[hit] * (grades[hit] - expected[hit]) / pi[hit]
    per_query: Floats = np.zeros(n_queries)
    np.add.at(per_query, of_query, per_document)
    numbers: FamilyOf = np.array([of_family[name] for name in families], dtype=np.intp)
    ends = mean_interval(per_query[:, np.newaxis], families=numbers, level=level, span=span)
    low, high = ends[:, 0]
    return DocumentEstimate(
        float(np.clip(per_query.mean(), *span)),
        float(low),
        float(high),
        n_queries,
        len(of_family),
        int(hit.sum()),
        int((a != 0).sum()),
        per_query,
        tuple(warnings(len(of_family))),
    )


def _refuse_ungraded(a: Floats, grades: Floats, draw: DocumentDraw) -> None:
    """Each document that counts had a chance, and has a grade where it was drawn."""
    had_none = (a != 0) & (draw.probabilities <= 0)
    if had_none.any():
        what = f"{int(had_none.sum())} documents that count were not to be drawn"
        raise ArraysError(what=what, expected="a draw that was made for these runs as well")
    is_lacking = draw.is_drawn & (a != 0) & np.isnan(grades)
    if is_lacking.any():
        what = f"{int(is_lacking.sum())} drawn documents have no grade"
        raise ArraysError(what=what, expected="a grade of every drawn document; label them first")


def _share(facts: list[object]) -> float:
    """A digest of facts as a number from 0 to 1."""
    listed = json.dumps(facts, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(listed, digest_size=16).digest()[:7], "big") / 2**56
