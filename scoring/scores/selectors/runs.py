"""The scores of one run, over all queries and by query."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Prefetch, QuerySet

from benchmarks_app import files
from benchmarks_app.models import Query, Release, Run
from benchwright.evaluation.weighting import weighted_name
from scoring.models import RunLatencies, Score, ScoreSet
from scoring.scores.selectors.releases import (
    SCORER_VERSION,
    declared_alone,
    release_query_texts,
    relevance_threshold,
)
from scoring.scores.shown import MEASURES


@dataclass(frozen=True)
class ScoreSheet:
    """A run's scores on a release as pages show them.

    `by_weight` are the means by the weights of queries, `of_part` those over the split of a phase.
    """

    score_set: ScoreSet
    overall: list[Score]
    by_weight: list[Score]
    of_part: list[Score]

    @property
    def release(self) -> Release:
        return self.score_set.release

    @cached_property
    def _threshold(self) -> int:
        return relevance_threshold(self.release)

    @cached_property
    def _standard(self) -> dict[str, Score]:
        return _by_bare_name(self.overall, self._threshold)

    @property
    def of_split(self) -> dict[str, Score]:
        """Over the phase's split: standard measures by their bare names, then those declared."""
        names = {measure.name for measure in declared_alone(self.release)}
        declared = {score.measure: score for score in self.of_part if score.measure in names}
        return _by_bare_name(self.of_part, self._threshold) | declared

    @property
    def means(self) -> dict[str, float | None]:
        """Of the standard measures, by their bare names."""
        return {name: score.mean for name, score in self._standard.items()}

    @property
    def ranges(self) -> dict[str, tuple[float | None, float | None]]:
        """The intervals of the standard measures, by their bare names."""
        return {
            name: (score.ci_low, score.ci_high)
            for name, score in self._standard.items()
            if score.ci_low is not None
        }

    @property
    def added(self) -> list[Score]:
        """Of the measures that are no standard ones."""
        standard = {measure.counting_from(self._threshold) for measure in MEASURES}
        others = (score for score in self.overall if score.measure not in standard)
        return sorted(others, key=lambda score: score.measure)

    @property
    def weighted(self) -> list[tuple[str, Score]]:
        """Name and score where queries have weights, in the order of the plain means."""
        labels = {measure.counting_from(self._threshold): measure.label for measure in MEASURES}
        labels |= {score.measure: score.measure for score in self.added}
        by_name = {score.measure: score for score in self.by_weight}
        return [
            (weighted_name(label), by_name[name])
            for name, label in labels.items()
            if name in by_name
        ]


def _by_bare_name(scores: Iterable[Score], threshold: int) -> dict[str, Score]:
    """The scores of the standard measures by their bare names."""
    by_name = {score.measure: score for score in scores}
    standard = {measure.name: by_name.get(measure.counting_from(threshold)) for measure in MEASURES}
    return {name: score for name, score in standard.items() if score is not None}


def score_sets_of_run(run: Run) -> QuerySet[ScoreSet]:
    """All score sets of a run, the newest release first."""
    return (
        ScoreSet.objects.filter(run=run, scorer_version=SCORER_VERSION)
        .select_related("release__benchmark")
        .order_by("-release__major", "-release__minor", "-release__patch")
    )


def score_sheets_of_run(run: Run) -> list[ScoreSheet]:
    """What is shown of each score set of a run, the newest release first."""
    scores = Score.objects.filter(slice_name__in=["", Score.WEIGHTED])
    score_sets = score_sets_of_run(run).prefetch_related(
        Prefetch("scores", queryset=scores, to_attr="shown")
    )
    return [
        ScoreSheet(
            score_set,
            overall=[score for score in score_set.shown if not score.slice_name],
            by_weight=[score for score in score_set.shown if score.slice_name],
            of_part=[],
        )
        for score_set in score_sets
    ]


@dataclass(frozen=True)
class QueryRow:
    qid: str
    text: str
    pk: int | None
    is_missing: bool
    values: dict[str, Any]


def per_query_values(score_set: ScoreSet) -> list[dict[str, Any]]:
    """A dict per query of the release: `qid`, `is_missing`, `n_retrieved`, values by measure."""
    import polars as pl

    return pl.read_parquet(files.local_path(score_set.per_query)).to_dicts()


def sorted_queries(
    rows: list[dict[str, Any]], *, column: str, is_descending: bool
) -> list[dict[str, Any]]:
    """The rows by one column; equal ones stay in the order of their ids, NaN goes last."""
    defined = [row for row in rows if row[column] == row[column]]
    undefined = [row for row in rows if row[column] != row[column]]
    return sorted(defined, key=lambda row: row[column], reverse=is_descending) + undefined


def query_rows(score_set: ScoreSet, rows: Iterable[dict[str, Any]]) -> list[QueryRow]:
    """Rows of one page with their texts as released, and the keys of their pages."""
    page = list(rows)
    texts = release_query_texts(score_set.release)
    queries = Query.objects.filter(
        benchmark=score_set.release.benchmark_id, qid__in=[row["qid"] for row in page]
    )
    keys = dict(queries.values_list("qid", "pk"))
    return [
        QueryRow(
            qid=row["qid"],
            text=texts.get(row["qid"], ""),
            pk=keys.get(row["qid"]),
            is_missing=row["is_missing"],
            values=row,
        )
        for row in page
    ]


def latencies_of(run: Run) -> RunLatencies | None:
    """The summary of a run's times, if they were measured here."""
    return RunLatencies.objects.filter(run=run).first()


def query_latencies(kept: RunLatencies) -> dict[str, float]:
    """{query: ms}, by the bytes of the ids."""
    import polars as pl

    frame = pl.read_parquet(files.local_path(kept.stored))
    return dict(frame.select("query", "ms").iter_rows())
