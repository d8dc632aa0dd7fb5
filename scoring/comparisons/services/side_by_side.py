"""The result lists of runs for one query of a release, with grades and texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchmarks_app.common.selectors.reading import (
    corpus_documents,
    release_file_path,
    release_qrels,
    run_path,
)
from benchmarks_app.models import Release, Run
from benchwright.comparison.side_by_side import Column, side_by_side
from benchwright.corpora.store import StoredDocument
from benchwright.formats.unlisted import NOT_LISTED_GRADE, unlisted_of

# How far down a list is looked for a document that stands among the first of another.
HORIZON = 1000
DEPTHS = (5, 10, 20, 50)


@dataclass(frozen=True)
class Lists:
    """A column for each run, and the texts of the documents in them as far as there are any."""

    columns: list[Column]
    documents: Mapping[str, StoredDocument]
    grade_names: Mapping[int, str]
    n_relevant: int


def result_lists(*, release: Release, runs: Sequence[Run], qid: str, depth: int = 10) -> Lists:
    """The first results of each run for a query; runs by their keys as text."""
    grades = _grades(str(release_file_path(release, "qrels.trec")), release.pk).get(qid, {})
    rankings = {str(run.pk): ranking_of(run, qid) for run in runs}
    columns = side_by_side(
        rankings, grades, depth=depth, unlisted=NOT_LISTED_GRADE[unlisted_of(release.manifest)]
    )
    docids = {place.docid for column in columns for place in (*column.places, *column.lacking)}
    scale = release.manifest.get("grades") or []
    relevant = {grade["value"] for grade in scale if grade["is_relevant"]}
    return Lists(
        columns=columns,
        documents=_documents(release, docids),
        grade_names={grade["value"]: grade.get("name", "") for grade in scale},
        n_relevant=sum(grade in relevant or (not scale and grade > 0) for grade in grades.values()),
    )


def ranking_of(run: Run, qid: str) -> list[str]:
    """The documents a run has for a query, in rank order, as far down as is looked."""
    import polars as pl

    rows = pl.scan_parquet(run_path(run)).filter(pl.col("qid") == qid, pl.col("rank") <= HORIZON)
    docids: list[str] = rows.sort("rank").select("docid").collect()["docid"].to_list()
    return docids


def _documents(release: Release, docids: set[str]) -> dict[str, StoredDocument]:
    version = release.corpus_version
    if version is None or not release.benchmark.corpus.has_texts:
        return {}
    return corpus_documents(version, docids)


# A release's files never change; the path tells sites apart, and what was made anew.
@lru_cache(maxsize=2)
def _grades(path: str, release_id: int) -> dict[str, dict[str, int]]:
    return release_qrels(Release.objects.get(pk=release_id))
