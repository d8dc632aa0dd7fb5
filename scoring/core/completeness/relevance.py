"""How probable it is that a document nobody judged is relevant, from those that were judged.

A logistic regression on three things that are known of every retrieved document: its best
reciprocal rank over the systems, how many systems retrieved it, and how often judged documents of
its query's slices are relevant. Fitted by Newton's method with a ridge, so that it exists also
where the labels are separable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import scipy

from scoring.core.statistics.families import Floats

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
    scale = np.where(spread > 0, spread, 1.0)
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
