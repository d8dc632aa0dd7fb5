"""Documents that a run has high up and nobody has judged, with their texts."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from benchmarks_app.common.selectors.reading import benchmark_documents, run_path
from benchmarks_app.models import Query
from benchwright.evaluation.stored_hits import DEPTH, QueryHoles, query_holes
from scoring.models import ScoreSet
from scoring.scores.selectors.releases import release_query_texts
from scoring.scores.selectors.score_sets import score_files


@dataclass(frozen=True)
class HoleRow:
    rank: int
    docid: str
    title: str
    text: str


@dataclass(frozen=True)
class QueryHolesRow:
    """The holes of a query with texts; `pk` is that of its page, None where there is no more."""

    qid: str
    pk: int | None
    text: str
    holes: tuple[HoleRow, ...]
    n_top: int
    at_stake: float


def holes_of(
    score_set: ScoreSet, *, depth: int = DEPTH, without: Collection[str] = (), only: str = ""
) -> list[QueryHoles]:
    """The unjudged documents of a scored run down to a depth; see `core.holes.query_holes`."""
    return query_holes(
        run_path(score_set.run),
        score_files(score_set),
        depth=depth,
        without=without,
        only=only or None,
        is_complete=score_set.release.is_complete,
    )


def hole_rows(score_set: ScoreSet, holes: Iterable[QueryHoles]) -> list[QueryHolesRow]:
    """Holes with the texts of their queries and documents, in their order."""
    rows, release = list(holes), score_set.release
    texts = release_query_texts(release)
    wanted = {hole.docid for row in rows for hole in row.holes}
    documents = benchmark_documents(release.benchmark, wanted)
    queries = Query.objects.filter(
        benchmark=release.benchmark_id, qid__in=[row.qid for row in rows]
    )
    keys = dict(queries.values_list("qid", "pk"))

    def hole_row(rank: int, docid: str) -> HoleRow:
        document = documents.get(docid)
        title, text = (document.title, document.text) if document else ("", "")
        return HoleRow(rank, docid, title, text)

    return [
        QueryHolesRow(
            qid=row.qid,
            pk=keys.get(row.qid),
            text=texts.get(row.qid, ""),
            holes=tuple(hole_row(*hole) for hole in row.holes),
            n_top=row.n_top,
            at_stake=row.at_stake,
        )
        for row in rows
    ]
