"""Whether what two runs differ by survives other labels, gains and depths; stored once."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from math import isnan
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from benchmarks_app.common.selectors.reading import qrels_of, run_path
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Benchmark, QrelSet, Release, Run
from benchmarks_app.releases.selectors import hidden_queries
from benchwright import evaluate_hits
from benchwright.comparison.robustness import (
    Grades,
    Variant,
    contested_pairs,
    gain_of,
    other_measures,
    robustness_grid,
    without,
)
from benchwright.evaluation.stored_hits import scan_stored_run
from benchwright.reading.hits import Judged
from scoring.comparisons.services import comparison_rows
from scoring.comparisons.services.errors import (
    ComparisonNotReadyError,
    ComparisonSignInError,
    NoPublicQueryError,
)
from scoring.comparisons.services.numbers import values_of
from scoring.models import Comparison, ScoreSet
from scoring.scores.selectors.releases import SCORER_VERSION, relevance_threshold
from scoring.scores.services.scoring import Target
from scoring.scores.services.slice_scores import graded_queries
from scoring.scores.shown import spelled

KIND = "compare-robustness"
VERSION = 2
# Queries x variants that a page waits for.
INLINE_QUERIES = 4_000
NO_VIEWS = (
    "Not recorded: nobody's own labels are a set of qrels here. Publish one person's view first."
)
ONE_VIEW = "Not recorded: it takes the labels of two people, each as a set of qrels of its own."
MOST_VIEWS = 40


@dataclass(frozen=True)
class RobustnessQuestion:
    """Two runs scored on one release, and the measure whose difference is looked at.

    Where it `is_public`, the queries of hidden splits are left out, as of a comparison.
    """

    run: ScoreSet
    reference: ScoreSet
    measure: str
    is_public: bool = False

    @property
    def release(self) -> Release:
        return self.run.release

    @property
    def runs(self) -> list[Run]:
        return [self.run.run, self.reference.run]

    @cached_property
    def views(self) -> list[QrelSet]:
        """The sets that hold one person's labels each, oldest first."""
        return annotator_sets(self.run.release.benchmark)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        return {
            "kind": "robustness",
            "release": self.run.release_id,
            "runs": [self.run.run_id, self.reference.run_id],
            "score_sets": [self.run.pk, self.reference.pk],
            "measure": self.measure,
            "views": [view.pk for view in self.views],
            "scorer": SCORER_VERSION,
            "version": VERSION,
            **({"is_public": True} if self.is_public else {}),
        }

    @cached_property
    def hidden(self) -> frozenset[str]:
        """The queries that are left out."""
        return hidden_queries(self.release) if self.is_public else frozenset()

    @cached_property
    def key(self) -> str:
        facts = self.parameters | {
            "content": self.run.release.content_sha256,
            "digests": [view.digest for view in self.views],
        }
        return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    @property
    def is_large(self) -> bool:
        """Whether a page would wait too long for it."""
        return self.run.n_queries * (len(self.views) + 6) > INLINE_QUERIES

    @property
    def url(self) -> str:
        """Where it is shown."""
        release = self.run.release
        params: dict[str, str | int] = {
            "runs": f"{self.run.run_id},{self.reference.run_id}",
            "release": release.version,
            "m": spelled(self.measure, relevance_threshold(release)),
            "baseline": self.reference.run_id,
        }
        page = reverse("scoring:comparison-robustness", args=[release.benchmark.slug])
        return f"{page}?{urlencode(params)}"


def annotator_sets(benchmark: Benchmark) -> list[QrelSet]:
    """The sets of one person's labels each."""
    rows = QrelSet.objects.ready().filter(benchmark=benchmark, kind=QrelSet.Kind.ANNOTATOR)
    return list(rows.order_by("pk")[:MOST_VIEWS])


def _name_of(view: QrelSet) -> str:
    """Whose labels they are, by the name that is shown instead of the person's."""
    return str(view.parameters.get("annotator") or view.name)


# --- asking --------------------------------------------------------------------------------


def robustness(question: RobustnessQuestion, user: Any) -> Comparison:
    """The stored grid, worked out now where that is quick.

    Raises
    ------
    ComparisonNotReadyError
        If it takes a job that nobody has started, or that is not done; `job` is that, or None.
    ComparisonSignInError
        If somebody who is not signed in asks for what would have to be computed.
    """
    row = comparison_rows.stored(question)
    if row and comparison_rows.has_numbers(row):
        return row
    if question.is_large:
        job = row.job if row else None
        raise ComparisonNotReadyError(n_runs=2, n_queries=question.run.n_queries, job=job)
    if not user.is_authenticated:
        raise ComparisonSignInError
    return comparison_rows.store(question, computed_robustness(question), user)


def start_robustness(question: RobustnessQuestion, user: Any) -> Comparison:
    """The row of a grid, with the job that works it out; one that is under way is kept."""
    title = f"Robustness of a difference on {question.release.version}"
    return comparison_rows.start(question, user, kind=KIND, title=title)


def compare_robustness(job: RunningJob) -> None:
    """Work a grid out in a job, variant by variant."""
    row = Comparison.objects.get(pk=job.parameters["comparison"])
    sets = ScoreSet.objects.select_related("run", "release__benchmark")
    run, reference = (sets.get(pk=key) for key in row.parameters["score_sets"])
    is_public = row.parameters.get("is_public", False)
    question = RobustnessQuestion(run, reference, row.parameters["measure"], is_public)
    comparison_rows.commit(job, row, computed_robustness(question, job), url=question.url)


# --- numbers -------------------------------------------------------------------------------


def computed_robustness(
    question: RobustnessQuestion, job: RunningJob | None = None
) -> dict[str, Any]:
    """The difference as it stands and under each variant, as JSON holds it.

    Raises
    ------
    NoPublicQueryError
        If the queries of hidden splits are left out, and there are no others.
    """
    if not graded_queries(question.release) - question.hidden:
        raise NoPublicQueryError(version=question.release.version)
    target = Target.of(question.run.release)
    pair = _Pair(question, target)
    gain = gain_of(question.measure)
    name = f"as released, {gain} gain" if gain else "as released"
    base = Variant("", name, question.measure, pair.stored(question.measure))
    n_variants = len(question.views) + 6

    def counted() -> Iterator[Variant]:
        for place, variant in enumerate(pair.variants()):
            if job:
                job.progress(min(place, n_variants), n_variants + 1, variant.name)
            yield variant

    grid = robustness_grid(base, counted(), families=target.families)
    return {
        "measure": question.measure,
        "runs": [question.run.run_id, question.reference.run_id],
        "n_recorded": grid.n_recorded,
        "n_surviving": grid.n_surviving,
        "cells": [_cell_dict(cell) for cell in (grid.base, *grid.cells)],
    }


def _cell_dict(cell: Any) -> dict[str, Any]:
    values = asdict(cell)
    return {
        name: None if isinstance(value, float) and isnan(value) else value
        for name, value in values.items()
    }


@dataclass(frozen=True)
class _Pair:
    """Two runs and the release's grades: what variants are made of."""

    question: RobustnessQuestion
    target: Target

    @cached_property
    def qrels(self) -> dict[str, Mapping[str, int]]:
        """The release's grades of the queries that are looked at."""
        hidden = self.question.hidden
        return {qid: of for qid, of in self.target.qrels.items() if qid not in hidden}

    def variants(self) -> Iterator[Variant]:
        yield from self._labels()
        for group, name, measure in other_measures(self.question.measure):
            yield Variant(group, name, measure, self.stored(measure))
        yield self._contested()

    def stored(self, measure: str) -> dict[str, tuple[float, float]]:
        """Values of both runs on the release as it is."""
        question = self.question
        ours, theirs = (
            values_of(score_set, [measure], self.target)
            for score_set in (question.run, question.reference)
        )
        return {qid: (ours[qid][measure], theirs[qid][measure]) for qid in self.qrels}

    def _labels(self) -> Iterator[Variant]:
        measure, views = self.question.measure, self.question.views
        if not views:
            yield Variant("labels", "each annotator alone", measure, {}, NO_VIEWS)
        for view in views:
            values = self._against(self._grades_of(view))
            yield Variant("labels", f"{_name_of(view)} alone", measure, values)

    def _grades_of(self, view: QrelSet) -> dict[str, dict[str, int]]:
        grades: dict[str, dict[str, int]] = {}
        for qid, docid, grade in qrels_of(view):
            if qid in self.qrels and grade >= 0:
                grades.setdefault(qid, {})[docid] = grade
        return grades

    def _contested(self) -> Variant:
        measure, name = self.question.measure, "contested labels out"
        if len(self.question.views) < 2:
            return Variant("contested", name, measure, {}, ONE_VIEW)
        contested = contested_pairs(self._grades_of(view) for view in self.question.views)
        released = {(qid, docid) for qid, docid in contested if docid in self.qrels.get(qid, {})}
        label = f"{len(released)} contested labels out"
        return Variant("contested", label, measure, self._against(without(self.qrels, released)))

    def _against(self, grades: Grades) -> dict[str, tuple[float, float]]:
        """Values of both runs against other grades; the runs are read for these queries only.

        Where the release is complete, what it does not list stays not relevant; of its pairs those
        that lack a grade now are unjudged.
        """
        if not grades:
            return {}
        if self.target.release.is_complete:
            grades = {
                qid: {**dict.fromkeys(self.qrels[qid], -1), **of} for qid, of in grades.items()
            }
        ours, theirs = (
            self._values(run, grades)
            for run in (self.question.run.run, self.question.reference.run)
        )
        return {qid: (ours[qid], theirs[qid]) for qid in ours}

    def _values(self, run: Run, grades: Grades) -> dict[str, float]:
        hits = scan_stored_run(run_path(run), grades, only=grades.keys())
        is_complete = self.target.release.is_complete
        judged = {qid: Judged(tuple(of.values()), is_complete) for qid, of in grades.items()}
        measure = self.question.measure
        evaluation = evaluate_hits(
            judged, hits, [measure], allow_empty=True, top_grade=self.target.top_grade
        )
        return {qid: of[measure] for qid, of in evaluation.per_query.items()}
