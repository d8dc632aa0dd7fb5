"""The scores of one run, over all queries and by query."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch

from benchmarks_app import files
from benchmarks_app.models import Query, Release, Run
from benchwright.evaluation.weighting import weighted_name
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.releases import (
    SCORER_VERSION,
    release_query_texts,
    relevance_threshold,
)
from scoring.scores.selectors.score_sets import n_answered
from scoring.scores.shown import MEASURES


def score_sets_of_run(run: Run) -> list[ScoreSet]:
    """All score sets of a run, the newest release first, with the overall means by measure."""
    shown = Score.objects.filter(slice_name__in=["", Score.WEIGHTED])
    sets = (
        ScoreSet.objects.filter(run=run, scorer_version=SCORER_VERSION)
        .select_related("release__benchmark")
        .prefetch_related(Prefetch("scores", queryset=shown, to_attr="shown"))
        .order_by("-release__major", "-release__minor", "-release__patch")
    )
    for one in sets:
        one.overall = [score for score in one.shown if not score.slice_name]
        one.by_weight = [score for score in one.shown if score.slice_name]
        complete(one)
    return list(sets)


def complete(score_set: ScoreSet) -> None:
    """Set what pages show, from the scores in its lists `overall` and `by_weight`.

    `means` and `ranges` have means and intervals of the standard measures by their bare names.

    `added` holds the scores of the others, `weighted` a list of name and score where queries have
    weights, in the order in which the plain means stand.
    """
    threshold = relevance_threshold(score_set.release)
    by_name = {score.measure: score for score in score_set.overall}
    found = {shown.name: by_name.pop(shown.counting_from(threshold), None) for shown in MEASURES}
    there = {name: score for name, score in found.items() if score}
    score_set.means = {name: score.mean for name, score in there.items()}
    score_set.ranges = {
        name: (score.ci_low, score.ci_high)
        for name, score in there.items()
        if score.ci_low is not None
    }
    score_set.added = [by_name[name] for name in sorted(by_name)]
    weighted = {score.measure: score for score in score_set.by_weight}
    labels = {shown.counting_from(threshold): shown.label for shown in MEASURES}
    labels |= {score.measure: score.measure for score in score_set.added}
    score_set.weighted = [
        (weighted_name(label), weighted[name]) for name, label in labels.items() if name in weighted
    ]
    score_set.n_answered = n_answered(score_set)


def score_set_of(*, run: Run, release: Release) -> ScoreSet | None:
    """The scores of a run on one release, or None."""
    return next((one for one in score_sets_of_run(run) if one.release_id == release.pk), None)


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
    known = Query.objects.filter(
        benchmark=score_set.release.benchmark_id, qid__in=[row["qid"] for row in page]
    )
    keys = dict(known.values_list("qid", "pk"))
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
