"""What corrected means are made of: a machine's qrels, a draw of queries, people's labels."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from benchmarks_app.common.selectors.reading import qrels_of, release_qrels
from benchmarks_app.models import QrelSet, QueryDraw, Release, Run
from benchmarks_app.releases.selectors import release_families
from benchwright.estimation.drawing import Draw, frame_of
from benchwright.judges.families import FAMILIES, families_in, texts_in


def family_of_queries(release: Release) -> dict[str, str]:
    """{query: its family} of every query of a release, graded or not."""
    return dict(release_families(release))


def draw_for(release: Release) -> QueryDraw | None:
    """The largest draw of the release's own families, else the newest there is."""
    draws = release.benchmark.query_draws.order_by("-n_drawn", "-pk")
    frame = frame_of(set(family_of_queries(release).values()))
    return draws.filter(frame=frame).first() or draws.order_by("-pk").first()


def as_draw(row: QueryDraw) -> Draw:
    return Draw(row.seed, row.frame, tuple(row.families), row.n_population)


def labelled_queries(release: Release) -> frozenset[str]:
    """The queries of which people judged every pooled document, by the release's own files."""
    return frozenset(
        qid
        for qid, grades in release_qrels(release).items()
        if grades and min(grades.values()) >= 0
    )


def machine_grades(qrel_set: QrelSet, queries: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """{query: {document: grade}} of the machine's set, of these queries."""
    grades: dict[str, dict[str, int]] = {}
    for qid, docid, grade in qrels_of(qrel_set):
        if qid in queries and grade >= 0:
            grades.setdefault(qid, {})[docid] = grade
    return grades


def queries_graded(qrel_set: QrelSet) -> frozenset[str]:
    """The queries that a machine's set grades."""
    rows = qrel_set.qrels.filter(grade__gte=0).order_by()
    return frozenset(rows.values_list("query__qid", flat=True).distinct())


def is_of_judges_family(run: Run, parameters: Mapping[str, Any]) -> bool:
    """Whether a run says that it used a model of the family of the judge that is told of."""
    families = settings.JUDGE_FAMILIES or FAMILIES
    own = families_in(
        " | ".join([parameters.get("judge", ""), *parameters.get("models", ())]), families
    )
    words = " | ".join(texts_in([run.description, run.metadata]))
    return bool(own & families_in(words, families))
