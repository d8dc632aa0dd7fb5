"""Which unjudged documents are worth judging, and whether any of them still matters.

Carterette, Allan and Sitaraman (Minimal test collections for retrieval evaluation, SIGIR 2006) ask
for the document that says most about the difference of two runs. Here its influence is how much a
relevant document at its ranks would move that difference, times how probable it is that it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, log, log2
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from benchwright.formats.unlisted import NOT_LISTED_GRADE, UNKNOWN
from benchwright.statistics.families import FamilyOf, Floats
from benchwright.statistics.paired import standard_errors
from benchwright.statistics.signflip import sign_flip

# --- Unjudged documents in the order in which judging them says most about the runs.

Ranking: TypeAlias = Mapping[str, Sequence[str]]
"""{query: its documents, best first}."""
Grades: TypeAlias = Mapping[str, Mapping[str, int]]


class Candidate(NamedTuple):
    """A document without a grade, and its rank in each of the runs (None below the cutoff)."""

    qid: str
    docid: str
    ranks: tuple[int | None, ...]


class Worth(NamedTuple):
    """A document worth judging: `priority` counts from 1, the most worth it first.

    `influence` is how much a relevant document at these ranks moves the difference of the runs on
    its query (or the value of the one run there is), times `probability`, that it is relevant.
    """

    qid: str
    docid: str
    priority: int
    influence: float
    probability: float = 0.0
    ranks: tuple[int | None, ...] = ()


def discount(rank: int | None, cutoff: int) -> float:
    """What a rank counts for: 1/log2(rank + 1) down to the cutoff, 0 below it and for no rank.

    Examples
    --------
    >>> discount(1, 10), discount(3, 10), discount(11, 10), discount(None, 10)
    (1.0, 0.5, 0.0, 0.0)
    """
    return 1 / log2(rank + 1) if rank is not None and rank <= cutoff else 0.0


def ideal_gain(grades: Sequence[int], cutoff: int) -> float:
    """The DCG of the best ranking of these grades; 1 where none is above 0.

    There a single relevant document would be all there is, and its own gain divides it.

    Examples
    --------
    >>> ideal_gain([0, 2, 1], 1), ideal_gain([0, 0], 10)
    (2.0, 1.0)
    """
    best = sorted((grade for grade in grades if grade > 0), reverse=True)[:cutoff]
    return sum(grade / log2(rank + 1) for rank, grade in enumerate(best, start=1)) or 1.0


def unjudged_documents(
    runs: Sequence[Ranking],
    grades: Grades,
    *,
    cutoff: int,
    unlisted: int = NOT_LISTED_GRADE[UNKNOWN],
) -> list[Candidate]:
    """Documents in the first `cutoff` of a run that have no grade, of the queries that are graded.

    A grade below 0 is a pair that was pooled and not judged; `unlisted` is the grade of documents
    that have none, 0 where these are known not to be relevant. In the order of query, then of the
    best rank, then of the document's id.
    """
    candidates = []
    for qid in sorted(grades, key=str.encode):
        judged = grades[qid]
        ranks: dict[str, list[int | None]] = {}
        for place, run in enumerate(runs):
            for rank, docid in enumerate(run.get(qid, ())[:cutoff], start=1):
                if judged.get(docid, unlisted) < 0:
                    ranks.setdefault(docid, [None] * len(runs))[place] = rank
        candidates += sorted(
            (Candidate(qid, docid, tuple(of)) for docid, of in ranks.items()), key=_best_first
        )
    return candidates


def _best_first(candidate: Candidate) -> tuple[int, bytes]:
    return min(rank for rank in candidate.ranks if rank is not None), candidate.docid.encode()


def worth_in_order(
    candidates: Sequence[Candidate],
    probabilities: Sequence[float],
    grades: Grades,
    *,
    cutoff: int,
) -> list[Worth]:
    """The candidates by influence, the largest first; what is 0 is left out.

    Two runs that have a document at the same rank gain alike from it: it says nothing about their
    difference, however relevant it is. Equal influences stand as the candidates do.
    """
    ideal = {
        qid: ideal_gain(list(grades[qid].values()), cutoff) for qid in {c.qid for c in candidates}
    }
    rows = [
        (
            _moved(candidate.ranks, cutoff) / ideal[candidate.qid] * probability,
            candidate,
            probability,
        )
        for candidate, probability in zip(candidates, probabilities, strict=True)
    ]
    ordered = sorted((row for row in rows if row[0] > 0), key=lambda row: -row[0])
    return [
        Worth(candidate.qid, candidate.docid, place, influence, probability, candidate.ranks)
        for place, (influence, candidate, probability) in enumerate(ordered, start=1)
    ]


def _moved(ranks: Sequence[int | None], cutoff: int) -> float:
    """By how much a relevant document moves the differences of all pairs of runs, in DCG."""
    counts = [discount(rank, cutoff) for rank in ranks]
    if len(counts) == 1:
        return counts[0]
    return sum(abs(first - second) for first, second in combinations(counts, 2))


# --- How probable it is that a document nobody judged is relevant, from those that were judged.
#
# A logistic regression on three things that are known of every retrieved document: its best
# reciprocal rank over the systems, how many systems retrieved it, and how often judged documents of
# its query's slices are relevant. Fitted by Newton's method with a ridge, so that it exists also
# where the labels are separable.

RRF = 60
# Below so many labels, or so few of either kind, what is retrieved where says nothing sure.
FEWEST_LABELS, FEWEST_OF_A_KIND = 50, 5
RIDGE = 1.0
N_STEPS = 50
SMALLEST_STEP = 1e-9
# Of the rate that stands in where there are too few labels: as if so many had been seen before.
PRIOR_RELEVANT, PRIOR_OTHER = 1.5, 3.5


@dataclass(frozen=True)
class RelevanceModel:
    """Weights of the standardised features (the first is of the constant), and their covariance.

    `n_labels` were fitted on, `n_relevant` of them relevant. `is_prior` says that they were too
    few: then every document is as probable as any other.
    """

    weights: Floats
    covariance: Floats
    centre: Floats
    scale: Floats
    n_labels: int
    n_relevant: int
    is_prior: bool

    def probabilities(self, features: Floats) -> Floats:
        """P(relevant) of each row of features, strictly between 0 and 1."""
        return np.asarray(scipy.special.expit(self._design(features) @ self.weights))

    def drawn(self, features: Floats, *, n_draws: int, rng: np.random.Generator) -> Floats:
        """Probabilities (draws x rows) under weights drawn from what the labels leave open."""
        weights = rng.multivariate_normal(self.weights, self.covariance, size=n_draws)
        return np.asarray(scipy.special.expit(weights @ self._design(features).T))

    def _design(self, features: Floats) -> Floats:
        standardised = (features - self.centre) / self.scale
        return np.column_stack([np.ones(len(features)), standardised])


def feature_row(ranks: Sequence[int], slice_rate: float) -> tuple[float, float, float]:
    """What is known of a document: best reciprocal rank, number of systems, log odds of its slices.

    `ranks` are those at which systems retrieved it, at least one; `slice_rate` is between 0 and 1.

    Examples
    --------
    >>> feature_row([1, 4], 0.5) == (60 / 61, 2.0, 0.0)
    True
    """
    return RRF / (RRF + min(ranks)), float(len(ranks)), log(slice_rate / (1 - slice_rate))


def fit_relevance(features: Floats, is_relevant: Sequence[bool]) -> RelevanceModel:
    """The model that judged documents teach; the prior rate where they are too few.

    `features` has a row for each judged document, as `feature_row` gives it.

    Examples
    --------
    Without a label the rate is 0.3 for everything.

    >>> model = fit_relevance(np.empty((0, 3)), [])
    >>> model.probabilities(np.array([[1.0, 2.0, 0.0]])).round(6), model.is_prior
    (array([0.3]), True)
    """
    labels = np.asarray(is_relevant, dtype=np.float64)
    n, n_relevant = len(labels), int(labels.sum())
    if n < FEWEST_LABELS or min(n_relevant, n - n_relevant) < FEWEST_OF_A_KIND:
        return _prior(n, n_relevant)
    centre = features.mean(axis=0)
    spread = features.std(axis=0)
    scale = np.where(spread > 1e-12, spread, 1.0)  # what rounding leaves of equal rates is none
    design = np.column_stack([np.ones(n), (features - centre) / scale])
    weights, covariance = _newton(design, labels)
    return RelevanceModel(weights, covariance, centre, scale, n, n_relevant, is_prior=False)


def _prior(n: int, n_relevant: int) -> RelevanceModel:
    """One rate for all: the labels', smoothed. On the scale of log odds its variance is 1/a + 1/b
    (delta method).
    """
    relevant, other = n_relevant + PRIOR_RELEVANT, n - n_relevant + PRIOR_OTHER
    covariance = np.zeros((4, 4))
    covariance[0, 0] = 1 / relevant + 1 / other
    weights = np.array([log(relevant / other), 0.0, 0.0, 0.0])
    return RelevanceModel(
        weights, covariance, np.zeros(3), np.ones(3), n, n_relevant, is_prior=True
    )


def _newton(design: Floats, labels: Floats) -> tuple[Floats, Floats]:
    """Weights at the maximum of the penalised likelihood, and the inverse Hessian there."""
    # The constant is not shrunk: the mean rate is what the labels say.
    ridge = np.diag([0.0, *[RIDGE] * (design.shape[1] - 1)])
    rate = labels.mean()
    weights = np.array([log(rate / (1 - rate)), *[0.0] * (design.shape[1] - 1)])
    for _ in range(N_STEPS):
        fitted = scipy.special.expit(design @ weights)
        gradient = design.T @ (labels - fitted) - ridge @ weights
        step = np.linalg.solve(_hessian(design, fitted, ridge), gradient)
        weights = weights + step
        if np.abs(step).max() < SMALLEST_STEP:
            break
    covariance = np.linalg.inv(_hessian(design, scipy.special.expit(design @ weights), ridge))
    return weights, np.asarray(covariance, dtype=np.float64)


def _hessian(design: Floats, fitted: Floats, ridge: Floats) -> Floats:
    variance = fitted * (1 - fitted)
    return np.asarray((design * variance[:, np.newaxis]).T @ design + ridge)


# --- What is said of two runs, under every scenario of what nobody judged.
#
# A scenario gives each unjudged document a grade, the same one in both runs. `raw` takes it as not
# relevant, `all_relevant` as of the top grade; drawn grades follow how probable relevance is, with
# what the labels leave open about it. None of them bounds the difference: nDCG is not monotone.

BETTER, WORSE, NO_DIFFERENCE = "better", "worse", "no difference shown"
ALPHA = 0.05
N_DRAWS, N_FLIPS = 200, 2_000
# The verdict stands where so many of the drawn scenarios have it.
ENOUGH = 0.95


@dataclass(frozen=True)
class Question:
    """Two rankings of the same graded queries (`grades`), compared by nDCG at `cutoff`.

    `unjudged` are documents of either in the first `cutoff`, with a rank in each of the two;
    `probabilities` (draws x unjudged) say how probable each is relevant. `grades_of` are grades
    that irrelevant and relevant documents had, each to be drawn from. `families` numbers the
    queries' families, in the order of `grades`.
    """

    grades: Grades
    rankings: tuple[Ranking, Ranking]
    unjudged: Sequence[Candidate]
    probabilities: Floats
    grades_of: tuple[Sequence[int], Sequence[int]]
    top_grade: int
    cutoff: int
    families: FamilyOf | None = None


@dataclass(frozen=True)
class PairVerdicts:
    """The difference of the first run to the second, and what is said of it, by scenario.

    `drawn_low` and `drawn_high` hold 9 in 10 of the drawn differences, `drawn_alike` is the share
    of drawn scenarios whose verdict is the raw one. `slack` is how far the raw difference is from
    where its verdict would change. `n_unjudged` documents tell the two apart.
    """

    raw: float
    raw_verdict: str
    all_relevant: float
    all_relevant_verdict: str
    drawn_low: float
    drawn_high: float
    drawn_alike: float
    slack: float
    n_unjudged: int

    @property
    def is_settled(self) -> bool:
        """Whether no scenario changes the verdict."""
        return self.raw_verdict == self.all_relevant_verdict and self.drawn_alike >= ENOUGH


def pair_verdicts(question: Question, *, seed: int = 0) -> PairVerdicts:
    """The verdict on two runs under each scenario; the same `seed` draws the same."""
    rng = np.random.default_rng(seed)
    n_draws, n = question.probabilities.shape
    drawn = _drawn_grades(question, rng)
    scenarios = np.vstack([np.zeros((1, n)), np.full((1, n), question.top_grade), drawn])
    differences = _differences(question, scenarios)
    means = differences.mean(axis=0)
    verdicts = _verdicts(differences, means, question.families, seed)
    low, high = np.quantile(means[2:], [0.05, 0.95]) if n_draws else (means[0], means[0])
    return PairVerdicts(
        raw=float(means[0]),
        raw_verdict=verdicts[0],
        all_relevant=float(means[1]),
        all_relevant_verdict=verdicts[1],
        drawn_low=float(low),
        drawn_high=float(high),
        drawn_alike=_share_alike(verdicts),
        slack=_slack(differences[:, 0], question.families),
        n_unjudged=n,
    )


def _share_alike(verdicts: Sequence[str]) -> float:
    """Of the drawn scenarios, those with the verdict of the first of all."""
    drawn = verdicts[2:]
    return drawn.count(verdicts[0]) / len(drawn) if drawn else 1.0


def n_still_worth(worth: Sequence[Worth], *, n_queries: int, slack: float) -> int:
    """How many of these, in their order, are worth judging before the verdict can no more change.

    The rest together is expected to move the mean by less than the `slack`, even if all of it
    moved it the same way.

    Examples
    --------
    >>> listed = [Worth("q", "a", 1, 0.6), Worth("q", "b", 2, 0.3), Worth("q", "c", 3, 0.1)]
    >>> [n_still_worth(listed, n_queries=10, slack=slack) for slack in (0.05, 1)]
    [1, 0]
    """
    influence_left = sum(document.influence for document in worth) / n_queries if n_queries else 0.0
    for n_judged, document in enumerate(worth):
        # A sum that is taken apart again leaves a rest of rounding.
        if influence_left <= slack + 1e-12:
            return n_judged
        influence_left -= document.influence / n_queries
    return len(worth)


# --- scenarios -----------------------------------------------------------------------------------


def _drawn_grades(question: Question, rng: np.random.Generator) -> Floats:
    """Grades (draws x unjudged)."""
    irrelevant, relevant = question.grades_of
    shape = question.probabilities.shape
    if not shape[1]:
        return np.zeros(shape)
    of_relevant = rng.choice(relevant or [question.top_grade], size=shape)
    of_others = rng.choice(irrelevant or [0], size=shape)
    is_relevant = rng.random(shape) < question.probabilities
    return np.where(is_relevant, of_relevant, of_others).astype(np.float64)


def _differences(question: Question, scenarios: Floats) -> Floats:
    """nDCG of the first run minus that of the second: queries x scenarios."""
    of_query: dict[str, list[int]] = {}
    for place, candidate in enumerate(question.unjudged):
        of_query.setdefault(candidate.qid, []).append(place)
    rows = []
    for qid, judged in question.grades.items():
        places = of_query.get(qid, [])
        drawn = scenarios[:, places]
        ideal = _ideals(judged, drawn, question.cutoff)
        gained = [
            _gain(question, which, qid, judged) + drawn @ _discounts(question, which, places)
            for which in (0, 1)
        ]
        difference = gained[0] - gained[1]
        rows.append(np.divide(difference, ideal, out=np.zeros_like(difference), where=ideal > 0))
    return np.array(rows).reshape(len(rows), len(scenarios))


def _discounts(question: Question, which: int, places: Sequence[int]) -> Floats:
    ranks = (question.unjudged[place].ranks[which] for place in places)
    return np.array([discount(rank, question.cutoff) for rank in ranks])


def _gain(question: Question, which: int, qid: str, judged: Mapping[str, int]) -> float:
    """What the judged documents give: the raw DCG."""
    k = question.cutoff
    ranked = enumerate(question.rankings[which].get(qid, ())[:k], start=1)
    return sum(max(judged.get(docid, 0), 0) * discount(rank, k) for rank, docid in ranked)


def _ideals(judged: Mapping[str, int], drawn: Floats, cutoff: int) -> Floats:
    """The best DCG of each scenario, of the judged grades and the given ones together."""
    best = sorted((grade for grade in judged.values() if grade > 0), reverse=True)[:cutoff]
    grades = np.tile(np.array(best, dtype=np.float64), (len(drawn), 1))
    together = -np.sort(-np.hstack([grades, np.maximum(drawn, 0.0)]), axis=1)[:, :cutoff]
    counts = np.array([discount(rank, cutoff) for rank in range(1, together.shape[1] + 1)])
    return np.asarray(together @ counts)


# --- verdicts ------------------------------------------------------------------------------------


def _verdicts(
    differences: Floats, means: Floats, families: FamilyOf | None, seed: int
) -> list[str]:
    p = sign_flip(differences, families=families, n_flips=N_FLIPS, seed=seed)
    is_shown: NDArray[np.bool_] = p < ALPHA
    return [
        NO_DIFFERENCE if not is_different else BETTER if mean > 0 else WORSE
        for is_different, mean in zip(is_shown.tolist(), means.tolist(), strict=True)
    ]


def _slack(differences: Floats, families: FamilyOf | None) -> float:
    """From the mean to the nearest value at which a test at 5 % would say something else."""
    error = float(standard_errors(differences[:, np.newaxis], families)[0])
    if isnan(error):  # a single query or family
        return 0.0
    return abs(abs(float(differences.mean())) - float(scipy.special.ndtri(1 - ALPHA / 2)) * error)
