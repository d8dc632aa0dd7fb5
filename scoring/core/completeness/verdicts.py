"""What is said of two runs, under every scenario of what nobody judged.

A scenario gives each unjudged document a grade, the same one in both runs. `raw` takes it as not
relevant, `all_relevant` as of the top grade; drawn grades follow how probable relevance is, with
what the labels leave open about it. None of them bounds the difference: nDCG is not monotone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
import scipy
from numpy.typing import NDArray

from scoring.core.completeness.influence import Candidate, Grades, Ranking, Worth, discount
from scoring.core.statistics.families import FamilyOf, Floats
from scoring.core.statistics.paired import standard_errors
from scoring.core.statistics.signflip import sign_flip

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


def pair_verdicts(asked: Question, *, seed: int = 0) -> PairVerdicts:
    """The verdict on two runs under each scenario; the same `seed` draws the same."""
    rng = np.random.default_rng(seed)
    n_draws, n = asked.probabilities.shape
    drawn = _drawn_grades(asked, rng)
    scenarios = np.vstack([np.zeros((1, n)), np.full((1, n), asked.top_grade), drawn])
    differences = _differences(asked, scenarios)
    means = differences.mean(axis=0)
    verdicts = _verdicts(differences, means, asked.families, seed)
    low, high = np.quantile(means[2:], [0.05, 0.95]) if n_draws else (means[0], means[0])
    return PairVerdicts(
        raw=float(means[0]),
        raw_verdict=verdicts[0],
        all_relevant=float(means[1]),
        all_relevant_verdict=verdicts[1],
        drawn_low=float(low),
        drawn_high=float(high),
        drawn_alike=_share_alike(verdicts),
        slack=_slack(differences[:, 0], asked.families),
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
    left = sum(one.influence for one in worth) / n_queries if n_queries else 0.0
    for n_judged, one in enumerate(worth):
        # A sum that is taken apart again leaves a rest of rounding.
        if left <= slack + 1e-12:
            return n_judged
        left -= one.influence / n_queries
    return len(worth)


# --- scenarios -----------------------------------------------------------------------------------


def _drawn_grades(asked: Question, rng: np.random.Generator) -> Floats:
    """Grades (draws x unjudged)."""
    irrelevant, relevant = asked.grades_of
    shape = asked.probabilities.shape
    if not shape[1]:
        return np.zeros(shape)
    of_relevant = rng.choice(relevant or [asked.top_grade], size=shape)
    of_others = rng.choice(irrelevant or [0], size=shape)
    is_relevant = rng.random(shape) < asked.probabilities
    return np.where(is_relevant, of_relevant, of_others).astype(np.float64)


def _differences(asked: Question, scenarios: Floats) -> Floats:
    """nDCG of the first run minus that of the second: queries x scenarios."""
    of_query: dict[str, list[int]] = {}
    for place, one in enumerate(asked.unjudged):
        of_query.setdefault(one.qid, []).append(place)
    rows = []
    for qid, judged in asked.grades.items():
        places = of_query.get(qid, [])
        given = scenarios[:, places]
        ideal = _ideals(judged, given, asked.cutoff)
        gained = [
            _gain(asked, which, qid, judged) + given @ _discounts(asked, which, places)
            for which in (0, 1)
        ]
        difference = gained[0] - gained[1]
        rows.append(np.divide(difference, ideal, out=np.zeros_like(difference), where=ideal > 0))
    return np.array(rows).reshape(len(rows), len(scenarios))


def _discounts(asked: Question, which: int, places: Sequence[int]) -> Floats:
    ranks = (asked.unjudged[place].ranks[which] for place in places)
    return np.array([discount(rank, asked.cutoff) for rank in ranks])


def _gain(asked: Question, which: int, qid: str, judged: Mapping[str, int]) -> float:
    """What the judged documents give: the raw DCG."""
    k = asked.cutoff
    ranked = enumerate(asked.rankings[which].get(qid, ())[:k], start=1)
    return sum(max(judged.get(docid, 0), 0) * discount(rank, k) for rank, docid in ranked)


def _ideals(judged: Mapping[str, int], given: Floats, cutoff: int) -> Floats:
    """The best DCG of each scenario, of the judged grades and the given ones together."""
    best = sorted((grade for grade in judged.values() if grade > 0), reverse=True)[:cutoff]
    known = np.tile(np.array(best, dtype=np.float64), (len(given), 1))
    together = -np.sort(-np.hstack([known, np.maximum(given, 0.0)]), axis=1)[:, :cutoff]
    counts = np.array([discount(rank, cutoff) for rank in range(1, together.shape[1] + 1)])
    return np.asarray(together @ counts)


# --- verdicts ------------------------------------------------------------------------------------


def _verdicts(
    differences: Floats, means: Floats, families: FamilyOf | None, seed: int
) -> list[str]:
    p = sign_flip(differences, families=families, n_flips=N_FLIPS, seed=seed)
    is_shown: NDArray[np.bool_] = p < ALPHA
    return [
        NO_DIFFERENCE if not shown else BETTER if mean > 0 else WORSE
        for shown, mean in zip(is_shown.tolist(), means.tolist(), strict=True)
    ]


def _slack(differences: Floats, families: FamilyOf | None) -> float:
    """From the mean to the nearest value at which a test at 5 % would say something else."""
    if len(differences) < 2:
        return 0.0
    error = float(standard_errors(differences[:, np.newaxis], families)[0])
    if isnan(error):  # a single family
        return 0.0
    return abs(abs(float(differences.mean())) - float(scipy.special.ndtri(1 - ALPHA / 2)) * error)
