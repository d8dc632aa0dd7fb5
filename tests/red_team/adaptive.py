"""Attackers who submit many times and adapt: what they say the hidden grades of Cranfield are.

The site is the part that decides what is told: exact values, then the Ladder, then rounding. Pairs
are the first documents of BM25 for hidden queries; a guess says of each whether it is relevant. The
best guess without the site is by the document's rank, as public queries have it.
"""

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import norm

from benchwright.comparison.ladder import ALPHA, steps_up
from benchwright.statistics.paired import in_units, standard_errors
from scoring.scores.services.firewall import DECIMALS

Floats = NDArray[np.float64]
N_PAIRS, N_PUBLIC, DEPTH, TOP = 2_000, 60, 13, 10
DISCOUNTS = 1 / np.log2(np.arange(2, TOP + 2))

Margin = Callable[[int, Floats], Floats]
"""How many standard errors a step has, by how many came before, and the degrees of freedom."""


def significant(n_before: int, freedom: Floats) -> Floats:
    """The step of the site, which attackers know: chance exceeds it in `ALPHA` / `n_before`."""
    margin: Floats = stdtrit(freedom, 1 - ALPHA / max(n_before, 1))
    return margin


def one_error(n_before: int, freedom: Floats) -> Floats:
    """The step of the paper, whichever submission it is."""
    return np.ones_like(freedom)


def is_better(differences: Floats, n_before: int, margin: Margin) -> NDArray[np.bool_]:
    """Whether a submission is a step above the one told last, by each measure."""
    if margin is significant:
        return steps_up(differences, n_before=n_before)
    steps = in_units(differences.mean(axis=0), standard_errors(differences))
    found: NDArray[np.bool_] = steps > margin(n_before, np.array([len(differences) - 1.0]))
    return found


@dataclass(frozen=True)
class Collection:
    """Grades of the first `DEPTH` documents of BM25: queries x ranks, and the best DCG a query."""

    grades: NDArray[np.int64]
    ideal: Floats

    @classmethod
    def cranfield(cls, folder: Path) -> "Collection":
        qrels: dict[str, dict[str, int]] = {}
        for line in (folder / "qrels_derived.txt").read_text().splitlines():
            qid, _, docid, grade = line.split()
            qrels.setdefault(qid, {})[docid] = int(grade)
        ranked: dict[str, list[str]] = {}
        with gzip.open(folder / "runs" / "bm25_stem.gz", "rt") as file:
            for line in file:
                qid, _, docid, *_ = line.split()
                ranked.setdefault(qid, []).append(docid)
        qids = sorted(qid for qid in qrels if len(ranked.get(qid, ())) >= DEPTH)
        np.random.default_rng(16).shuffle(qids)
        grades = [[max(qrels[q].get(d, 0), 0) for d in ranked[q][:DEPTH]] for q in qids]
        tops = [sorted(qrels[q].values(), reverse=True)[:TOP] for q in qids]
        ideal = [sum(g * DISCOUNTS[at] for at, g in enumerate(of)) for of in tops]
        return cls(np.array(grades), np.array(ideal))

    @property
    def n_hidden(self) -> int:
        return len(self.grades) - N_PUBLIC

    @cached_property
    def hidden(self) -> NDArray[np.bool_]:
        """Whether each document of each hidden query is relevant."""
        return self.grades[N_PUBLIC:] > 0

    @cached_property
    def prior(self) -> Floats:
        """The share of relevant documents by rank, of the public queries."""
        share: Floats = (self.grades[:N_PUBLIC] > 0).mean(axis=0)
        return np.tile(share, (self.n_hidden, 1))

    def values(self, order: NDArray[np.int64]) -> Floats:
        """nDCG@10 and P@10 of each hidden query; `order` has ten candidates a query."""
        grades = np.take_along_axis(self.grades[N_PUBLIC:], order, axis=1)
        ndcg = (grades * DISCOUNTS).sum(axis=1) / self.ideal[N_PUBLIC:]
        return np.stack([ndcg, (grades > 0).sum(axis=1) / TOP], axis=1)

    def right(self, guess: NDArray[np.bool_]) -> float:
        """The share of pairs that a guess has right, of the first `N_PAIRS`."""
        return float((guess == self.hidden).ravel()[:N_PAIRS].mean())

    def gain(self, guess: NDArray[np.bool_]) -> float:
        """What a guess has right beyond that by ranks, in percentage points."""
        return 100 * (self.right(guess) - self.right(self.prior > 0.5))


@dataclass
class Site:
    """What is told of submissions: by the Ladder of a margin, or of all where there is none."""

    collection: Collection
    margin: Margin | None = significant
    sent: dict[int, list[Floats]] = field(default_factory=dict)
    told: dict[int, list[int]] = field(default_factory=dict)

    def submit(self, team: int, order: NDArray[np.int64]) -> tuple[Floats, NDArray[np.bool_]]:
        """Rounded means of nDCG@10 and P@10, and which of them are those of this submission."""
        values = self.collection.values(order)
        sent = self.sent.setdefault(team, [])
        sent.append(values)
        last = self.told.setdefault(team, [0, 0])
        if self.margin is None or len(sent) == 1:
            is_own = np.ones(2, dtype=np.bool_)
        else:
            before = np.stack([sent[of][:, m] for m, of in enumerate(last)], axis=1)
            is_own = is_better(values - before, len(sent) - 1, self.margin)
        place = len(sent) - 1
        self.told[team] = [place if own else of for own, of in zip(is_own, last, strict=True)]
        means = [sent[of][:, m].mean() for m, of in enumerate(self.told[team])]
        return np.round(means, DECIMALS), is_own


# --- attacks -------------------------------------------------------------------------------


@dataclass
class Beliefs:
    """A normal belief about the relevance of some pairs, made sharper by sums over them."""

    mean: Floats
    covariance: Floats

    @classmethod
    def about(cls, shares: Floats) -> "Beliefs":
        return cls(shares.copy(), np.diag(shares * (1 - shares) + 1e-9))

    def predicted(self, row: Floats) -> tuple[float, float]:
        return float(row @ self.mean), float(np.sqrt(row @ self.covariance @ row))

    def learn(self, row: Floats, value: float, variance: float) -> None:
        """That row @ relevances is a value, give or take."""
        along = self.covariance @ row
        weight = along / (row @ along + variance)
        self.mean = self.mean + weight * (value - row @ self.mean)
        self.covariance = self.covariance - np.outer(weight, along)

    def learn_below(self, row: Floats, bound: float, noise: float) -> None:
        """That it is below a bound: the moments of a normal cut off there."""
        centre, spread = self.predicted(row)
        whole = float(np.hypot(spread, noise))
        if spread < 1e-12:
            return
        at = (bound - centre) / whole
        ratio = float(np.exp(norm.logpdf(at) - norm.logcdf(at)))
        shrink = ratio * (ratio + at)
        along = self.covariance @ row
        self.mean = self.mean - along * ratio / whole
        self.covariance = self.covariance - np.outer(along, along) * shrink / whole**2


def uncertain(collection: Collection, n: int) -> NDArray[np.intp]:
    """The pairs that the prior says least of, by their places among all of them."""
    distance = np.abs(collection.prior - 0.5).ravel()[:N_PAIRS]
    return np.argsort(distance, kind="stable")[:n]


def _order(collection: Collection, is_out: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Ten candidates of each query: as BM25 has them, those that are out last."""
    key = np.arange(DEPTH) + DEPTH * is_out
    return np.argsort(key, axis=1, kind="stable")[:, :TOP]


def _turns(n_submissions: int, n_teams: int) -> Iterator[tuple[int, bool]]:
    """Whose turn it is, and whether it is the team's first."""
    for number in range(n_submissions):
        yield number % n_teams, number < n_teams


def majority(site: Site, n_submissions: int, n_teams: int, seed: int = 0) -> NDArray[np.bool_]:
    """Random changes of the team's best, weighed by what is told of them (Blum & Hardt, 4)."""
    rng = np.random.default_rng(seed)
    shape = site.collection.prior.shape
    pairs = uncertain(site.collection, 2 * n_submissions)

    def changed(best: NDArray[np.bool_] | None, _: int) -> NDArray[np.bool_]:
        """In half of the queries half of the pairs that the prior says least of are left out."""
        chosen = np.zeros(shape, dtype=np.bool_)
        chosen.ravel()[pairs] = rng.random(len(pairs)) < 0.5
        base = np.zeros(shape, dtype=np.bool_) if best is None else best
        return np.where(rng.random((len(base), 1)) < 0.5, chosen, base)

    return _weighed(site, n_submissions, n_teams, pairs, changed)


def climbing(site: Site, n_submissions: int, n_teams: int, seed: int = 0) -> NDArray[np.bool_]:
    """A bad first submission leaves room to climb: each next one mends some queries of the best.

    As many as are about significant, so that being told, or not, says something of the random
    changes that come with them.
    """
    rng = np.random.default_rng(seed)
    shape = site.collection.prior.shape
    pairs = uncertain(site.collection, 2 * n_submissions)

    def changed(best: NDArray[np.bool_] | None, n_before: int) -> NDArray[np.bool_]:
        if best is None:
            return np.tile(np.arange(DEPTH) < DEPTH - TOP, (shape[0], 1))
        margin = (site.margin or one_error)(max(n_before, 1), np.array([shape[0] - 1.0]))[0]
        bad = np.flatnonzero(best[:, : DEPTH - TOP].all(axis=1))
        n = min(len(bad), int(np.ceil(2 * margin**2 * rng.uniform(0.5, 1.2))))
        mended = best.copy()
        chosen = rng.choice(bad, n, replace=False)
        mended[chosen] = rng.random((n, DEPTH)) < np.where(site.collection.prior[:n] > 0.25, 0.3, 0)
        return mended

    return _weighed(site, n_submissions, n_teams, pairs, changed)


def _weighed(
    site: Site,
    n_submissions: int,
    n_teams: int,
    pairs: NDArray[np.intp],
    changed: Callable[[NDArray[np.bool_] | None, int], NDArray[np.bool_]],
) -> NDArray[np.bool_]:
    """What is told of changed submissions, as sums of relevances: P@10 is one.

    A value that is told is learnt as such, one that is held as a bound. The best of a team is what
    its next ones are made from.
    """
    collection = site.collection
    beliefs = Beliefs.about(collection.prior.ravel()[pairs])
    n, others = collection.n_hidden, collection.prior.ravel().copy()
    others[pairs] = 0
    rounding = (n * TOP * 10.0**-DECIMALS) ** 2 / 12  # the variance that it adds to a sum
    spread = collection.prior.ravel() * (1 - collection.prior.ravel())
    spread[pairs] = 0
    best: dict[int, tuple[NDArray[np.bool_], NDArray[np.bool_], float]] = {}
    for number, (team, is_first) in enumerate(_turns(n_submissions, n_teams)):
        is_out = changed(None if is_first else best[team][0], number // n_teams)
        order = _order(collection, is_out)
        means, is_own = site.submit(team, order)
        inside = np.zeros((n, DEPTH), dtype=np.bool_)
        np.put_along_axis(inside, order, values=True, axis=1)
        flat, total = inside.ravel().astype(np.float64), means[1] * n * TOP
        if is_first:
            beliefs.learn(flat[pairs], total - flat @ others, flat @ spread + rounding)
            best[team] = (is_out, inside, total)
            continue
        difference = flat - best[team][1].ravel()
        rest, noise = difference @ others, difference**2 @ spread
        if is_own[1]:
            value = total - best[team][2] - rest
            beliefs.learn(difference[pairs], value, noise + 2 * rounding)
            best[team] = (is_out, inside, total)
        else:
            margin = (site.margin or one_error)(max(number // n_teams, 1), np.array([n - 1.0]))[0]
            per_query = difference.reshape(n, DEPTH)
            error = float(np.sqrt((per_query**2).sum() * 0.2 + 1e-9))
            beliefs.learn_below(difference[pairs], margin * error - rest, float(np.sqrt(noise)))
    return _guess(collection, pairs, beliefs)


def one_at_a_time(site: Site, n_submissions: int, n_teams: int) -> NDArray[np.bool_]:
    """One document of one query goes to the top: nDCG@10 goes up where it is relevant.

    Told is the value of each, or that it is no better; a team's first is laid beside the first
    team's, of which it differs in that document.
    """
    collection = site.collection
    pairs = uncertain(collection, n_submissions)
    base = np.tile(np.arange(TOP), (collection.n_hidden, 1))
    guess = (collection.prior > 0.5).ravel()
    first = None
    for (team, is_first), pair in zip(_turns(n_submissions, n_teams), pairs, strict=True):
        if first is None:
            first, _ = site.submit(team, base)
            continue
        query, rank = divmod(int(pair), DEPTH)
        order = base.copy()
        order[query] = [rank, *(at for at in range(DEPTH) if at != rank)][:TOP]
        without = base.copy()
        without[query] = [at for at in range(DEPTH) if at != rank][:TOP]
        if rank == 0:  # it is at the top: the others of the query show what it is worth
            order = without
        means, is_own = site.submit(team, order)
        if not is_own[0]:
            continue
        difference = means[0] - first[0]
        if abs(difference) >= 10.0**-DECIMALS / 2 or is_first or site.margin is None:
            guess[pair] = difference < 0 if rank == 0 else difference > 0
    return guess.reshape(collection.prior.shape)


def _guess(collection: Collection, pairs: NDArray[np.intp], beliefs: Beliefs) -> Any:
    guess = (collection.prior > 0.5).ravel()
    guess[pairs] = beliefs.mean > 0.5
    return guess.reshape(collection.prior.shape)


Attack = Callable[[Site, int, int], Any]
ATTACKS: dict[str, Attack] = {
    "majority": majority,
    "climbing": climbing,
    "one at a time": one_at_a_time,
}
RULES: dict[str, Margin | None] = {
    "the Ladder": significant,
    "steps of one standard error": one_error,
    "every mean told": None,
}


def main(folder: str) -> None:
    """Print what each attack has right beyond the prior, in percentage points."""
    collection = Collection.cranfield(Path(folder))
    prior = collection.right(collection.prior > 0.5)
    print(f"{N_PAIRS} pairs, prior {100 * prior:.1f} %")  # noqa: T201
    for name, attack in ATTACKS.items():
        for n_teams in (1, 10):
            gains = [
                collection.gain(attack(Site(collection, of), 200, n_teams)) for of in RULES.values()
            ]
            print(name, n_teams, *(f"{gain:+.2f}" for gain in gains))  # noqa: T201
