"""What is unjudged of runs on a release, and what it could still change, worked out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks_app.common.selectors.reading import release_qrels
from benchmarks_app.models import Release, Run
from benchwright.comparison.completeness import (
    N_DRAWS,
    Candidate,
    Grades,
    PairVerdicts,
    Question,
    Ranking,
    RelevanceModel,
    Worth,
    discount,
    feature_row,
    fit_relevance,
    ideal_gain,
    n_still_worth,
    pair_verdicts,
    unjudged_documents,
    worth_in_order,
)
from benchwright.datasets.released import top_grade
from benchwright.formats.unlisted import NOT_LISTED_GRADE, unlisted_of
from benchwright.statistics.families import FamilyOf, Floats
from scoring.scores.selectors.rankings import ranking_of
from scoring.scores.selectors.releases import release_families, relevance_threshold
from scoring.scores.services.slice_scores import slices_of_release

# What is retrieved where is looked at so deep.
EVIDENCE_DEPTH = 50
# One run has no verdict to change: documents are worth judging while its mean could move this far.
SLACK_OF_ONE = 0.005
# A slice's rate of relevance is smoothed by as many labels at the rate of all.
SMOOTHING = 5.0


@dataclass(frozen=True)
class PairVerdict:
    """Two of the runs, by their keys, and what is said of them."""

    run: int
    other: int
    verdicts: PairVerdicts


@dataclass(frozen=True)
class Completeness:
    """What is unjudged of runs on a release, the most worth judging first.

    `judged` is the judged share of each run's first `k` documents, by its key; None where it has
    none for a graded query. `n_worth` of the documents are worth judging before no verdict can
    change. `raw` and `all_relevant` are the mean nDCG of one run with what is unjudged irrelevant,
    and of the top grade (None for several).
    """

    worth: tuple[Worth, ...]
    pairs: tuple[PairVerdict, ...]
    judged: Mapping[int, float | None]
    k: int
    n_unjudged: int
    n_worth: int
    n_labels: int
    n_relevant: int
    is_prior: bool
    raw: float | None = None
    all_relevant: float | None = None

    @property
    def is_settled(self) -> bool | None:
        """Whether no scenario of what is unjudged changes what is said of any two runs.

        None where there are no two runs to say something of.
        """
        return all(pair.verdicts.is_settled for pair in self.pairs) if self.pairs else None


class Unjudged:
    """A question about runs, with what it takes to answer it; made, asked and let go."""

    def __init__(
        self,
        release: Release,
        runs: list[Run],
        evidence: list[Run],
        k: int,
        *,
        hidden: Collection[str] = (),
    ) -> None:
        self.release, self.runs, self.k = release, runs, k
        grades = release_qrels(release)
        self.grades: Grades = {qid: of for qid, of in grades.items() if qid not in hidden}
        depth = max(EVIDENCE_DEPTH, k)
        self.evidence = [ranking_of(run, depth) for run in evidence]
        self.rankings: list[Ranking] = list(self.evidence[: len(runs)])
        self.threshold = relevance_threshold(release)
        self.unlisted = NOT_LISTED_GRADE[unlisted_of(release.manifest)]

    def answer(self) -> Completeness:
        unjudged = unjudged_documents(
            self.rankings, self.grades, cutoff=self.k, unlisted=self.unlisted
        )
        model, features = self._model(unjudged)
        probabilities = model.probabilities(features) if unjudged else np.empty(0)
        worth = worth_in_order(unjudged, probabilities.tolist(), self.grades, cutoff=self.k)
        pairs = [
            PairVerdict(
                self.runs[a].pk, self.runs[b].pk, self._verdicts(a, b, unjudged, features, model)
            )
            for a, b in combinations(range(len(self.runs)), 2)
        ]
        raw, all_relevant = self._scenarios() if len(self.runs) == 1 else (None, None)
        return Completeness(
            worth=tuple(worth),
            pairs=tuple(pairs),
            judged={
                run.pk: self._judged(ranking)
                for run, ranking in zip(self.runs, self.rankings, strict=True)
            },
            k=self.k,
            n_unjudged=len(unjudged),
            n_worth=self._n_worth(worth, pairs),
            n_labels=model.n_labels,
            n_relevant=model.n_relevant,
            is_prior=model.is_prior,
            raw=raw,
            all_relevant=all_relevant,
        )

    def _n_worth(self, worth: list[Worth], pairs: list[PairVerdict]) -> int:
        n = len(self.grades)
        if not pairs:
            return n_still_worth(worth, n_queries=n, slack=SLACK_OF_ONE)
        slacks = [pair.verdicts.slack for pair in pairs if not pair.verdicts.is_settled]
        return max((n_still_worth(worth, n_queries=n, slack=slack) for slack in slacks), default=0)

    # --- probability

    def _model(self, unjudged: Sequence[Candidate]) -> tuple[RelevanceModel, Floats]:
        """What the judged documents teach, and the features of the unjudged ones."""
        ranks = self._ranks()
        rates = self._slice_rates()
        rows, labels = [], []
        for (qid, docid), of in ranks.items():
            grade = self.grades[qid].get(docid, -1)
            if grade >= 0:
                rows.append(feature_row(of, rates[qid]))
                labels.append(grade >= self.threshold)
        features = [
            feature_row(ranks[document.qid, document.docid], rates[document.qid])
            for document in unjudged
        ]
        model = fit_relevance(np.array(rows).reshape(-1, 3), labels)
        return model, np.array(features).reshape(-1, 3)

    def _ranks(self) -> dict[tuple[str, str], list[int]]:
        """Where each document of a graded query stands in the systems that have it."""
        ranks: dict[tuple[str, str], list[int]] = {}
        for ranking in self.evidence:
            for qid in self.grades.keys() & ranking.keys():
                for rank, docid in enumerate(ranking[qid], start=1):
                    ranks.setdefault((qid, docid), []).append(rank)
        return ranks

    def _slice_rates(self) -> dict[str, float]:
        """How often judged documents of a query's slices are relevant, smoothed, by query."""
        counts = {
            qid: (sum(g >= self.threshold for g in of.values()), sum(g >= 0 for g in of.values()))
            for qid, of in self.grades.items()
        }
        n_relevant, n = map(sum, zip(*counts.values(), strict=True)) if counts else (0, 0)
        overall = (n_relevant + 0.5) / (n + 1)
        of_query: dict[str, list[float]] = {}
        for members in slices_of_release(self.release).values():
            qids = members & counts.keys()
            if not qids:
                continue
            relevant, judged = map(sum, zip(*(counts[qid] for qid in qids), strict=True))
            rate = (relevant + SMOOTHING * overall) / (judged + SMOOTHING)
            for qid in qids:
                of_query.setdefault(qid, []).append(rate)
        return {
            qid: float(np.mean(of_query[qid])) if qid in of_query else overall for qid in counts
        }

    # --- verdicts

    def _verdicts(
        self,
        a: int,
        b: int,
        unjudged: Sequence[Candidate],
        features: Floats,
        model: RelevanceModel,
    ) -> PairVerdicts:
        mine = [
            place
            for place, document in enumerate(unjudged)
            if document.ranks[a] is not None or document.ranks[b] is not None
        ]
        drawn = np.empty((N_DRAWS, 0))
        if mine:
            rng = np.random.default_rng(0)
            drawn = model.drawn(features[mine], n_draws=N_DRAWS, rng=rng)
        irrelevant, relevant = self._grades_by_kind()
        question = Question(
            grades=self.grades,
            rankings=(self.rankings[a], self.rankings[b]),
            unjudged=[
                unjudged[place]._replace(ranks=(unjudged[place].ranks[a], unjudged[place].ranks[b]))
                for place in mine
            ],
            probabilities=drawn,
            grades_of=(irrelevant, relevant),
            top_grade=self._top_grade(),
            cutoff=self.k,
            families=self._families(),
        )
        return pair_verdicts(question)

    def _grades_by_kind(self) -> tuple[list[int], list[int]]:
        grades = [grade for of in self.grades.values() for grade in of.values() if grade >= 0]
        irrelevant = [grade for grade in grades if grade < self.threshold]
        return irrelevant, [grade for grade in grades if grade >= self.threshold]

    def _top_grade(self) -> int:
        top = top_grade(self.release.manifest)
        return top if top is not None else max([*self._grades_by_kind()[1], self.threshold])

    def _families(self) -> FamilyOf | None:
        family_of = release_families(self.release)
        numbers: dict[object, int] = {}
        each = [numbers.setdefault(family_of.get(qid, (qid,)), len(numbers)) for qid in self.grades]
        return None if len(numbers) == len(each) else np.array(each, dtype=np.intp)

    # --- one run

    def _judged(self, ranking: Ranking) -> float | None:
        """Judged documents among the first, over the queries that found any; None if none did."""
        shares = [
            sum(of.get(docid, self.unlisted) >= 0 for docid in top) / len(top)
            for qid, of in self.grades.items()
            if (top := ranking.get(qid, ())[: self.k])
        ]
        return float(np.mean(shares)) if shares else None

    def _scenarios(self) -> tuple[float, float]:
        """The mean nDCG with every unjudged document irrelevant, and of the top grade."""
        return self._mean_with(0), self._mean_with(self._top_grade())

    def _mean_with(self, grade: int) -> float:
        values = []
        for qid, of in self.grades.items():
            first = self.rankings[0].get(qid, ())[: self.k]
            filled = {docid: grade for docid in first if of.get(docid, self.unlisted) < 0}
            grades = {**dict.fromkeys(first, 0), **of, **filled}
            gain = sum(
                max(grades[docid], 0) * discount(rank, self.k)
                for rank, docid in enumerate(first, start=1)
            )
            values.append(gain / ideal_gain(list(grades.values()), self.k) if gain else 0.0)
        return float(np.mean(values)) if values else 0.0
