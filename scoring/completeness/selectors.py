"""Documents worth judging as pages show them: with the texts of query and document."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.models import Query, Release
from benchwright.comparison.completeness import Worth
from scoring.scores.selectors.releases import release_query_texts

EXCERPT = 240


@dataclass(frozen=True)
class WorthRow:
    """A document of a list, with what can be read of it."""

    worth: Worth
    query: str
    query_key: int | None
    title: str
    text: str
    is_there: bool


def worth_rows(release: Release, worth: Sequence[Worth]) -> list[WorthRow]:
    """The documents of one page: a query for the keys, one read of the corpus."""
    docids = {entry.docid for entry in worth}
    stored = benchmark_documents(release.benchmark, docids)
    texts = release_query_texts(release)
    rows = Query.objects.filter(
        benchmark=release.benchmark_id, qid__in={entry.qid for entry in worth}
    )
    keys = dict(rows.values_list("qid", "pk"))
    return [
        WorthRow(
            worth=entry,
            query=texts.get(entry.qid, ""),
            query_key=keys.get(entry.qid),
            title=stored[entry.docid].title if entry.docid in stored else "",
            text=stored[entry.docid].text[:EXCERPT] if entry.docid in stored else "",
            is_there=entry.docid in stored,
        )
        for entry in worth
    ]
