"""The queries of a benchmark as rules of slices see them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import Q, QuerySet

from benchmarks_app.common.selectors.qrel_sets import relevant_values
from benchmarks_app.common.selectors.reading import benchmark_documents, corpus_reader, run_path
from benchmarks_app.common.selectors.words import holds
from benchmarks_app.logs.selectors import log_path
from benchmarks_app.models import Benchmark, Qrel, QrelSet, Query, QueryDraw, QueryLog, Run
from benchwright.files.external_sort import batched
from benchwright.releases.canonical import family_names
from benchwright.runs.store import top_k
from benchwright.slices.asked import AskedQuery, RelevantDocument
from benchwright.slices.words import weights_of, words_of

BATCH = 500
# Texts of relevant documents that a rule looks at; who has more is judged by these.
MOST_TEXTS = 20
# Documents in which the rarity of words is counted: enough for words that queries use.
COUNTED_DOCUMENTS = 50_000
LEXICAL_RUN = "bm25"
FIELDS = (
    "pk",
    "qid",
    "text",
    "lang",
    "frequency",
    "clicks",
    "first_seen_at",
    "last_seen_at",
    "metadata",
)


def queries_with(benchmark: Benchmark, words: str) -> QuerySet[Query]:
    """The queries of a benchmark, with their families; those with these words, or of this id."""
    queries = benchmark.queries.committed().select_related("family").order_by("pk")
    return queries.filter(holds("text", words) | Q(qid=words)) if words else queries


def sliceable_queries(benchmark: Benchmark) -> Any:
    """The queries that rules look at: those that no split leaves out."""
    return Query.objects.committed().filter(benchmark=benchmark, excluded_reason="")


def families_to_draw(benchmark: Benchmark) -> dict[str, str]:
    """{query: family, called by its smallest query id}, of the queries that a release would hold.

    In the order of the bytes of the ids.
    """
    rows = sliceable_queries(benchmark).values_list("qid", "family_id")
    family_of = dict(sorted(rows, key=lambda row: row[0].encode()))
    return family_names(family_of, family_of)


def newest_draw(benchmark: Benchmark) -> QueryDraw | None:
    """The families that were drawn last for people to label."""
    return benchmark.query_draws.order_by("-pk").first()


def queries_drawn(draw: QueryDraw) -> frozenset[str]:
    """The ids of the queries of a draw, as its families are now."""
    families = frozenset(draw.families)
    members = families_to_draw(draw.benchmark).items()
    return frozenset(qid for qid, family in members if family in families)


def queries_in_draw(draw: QueryDraw) -> list[tuple[str, str]]:
    """(query, family) of a draw as they are now, family by family in the order drawn."""
    members: dict[str, list[str]] = {}
    for qid, family in families_to_draw(draw.benchmark).items():
        members.setdefault(family, []).append(qid)
    return [(qid, family) for family in draw.families for qid in members.get(family, ())]


def sampled_log_counts(benchmark: Benchmark) -> Any:
    """How often each distinct query of the log was asked that the queries were drawn from.

    Of the newest such log; None where no query was drawn from one.
    """
    logs = QueryLog.objects.filter(benchmark=benchmark, samples__queries__benchmark=benchmark)
    log = logs.order_by("-pk").first()
    if log is None:
        return None
    import polars as pl

    return pl.read_parquet(log_path(log), columns=["count"])["count"].to_numpy()


def grades_set(benchmark: Benchmark) -> QrelSet | None:
    """The set of qrels that says what is relevant: the newest that people or a file gave."""
    trusted = [QrelSet.Kind.HUMAN, QrelSet.Kind.IMPORTED]
    sets = QrelSet.objects.ready().filter(benchmark=benchmark, kind__in=trusted)
    return sets.order_by("-created_at", "-pk").first()


def relevant_grades(benchmark: Benchmark) -> Q:
    """The grades that count as relevant."""
    values = relevant_values(benchmark)
    return Q(grade__in=values) if values else Q(grade__gt=0)


def asked_queries(benchmark: Benchmark) -> list[AskedQuery]:
    """Every query with what its own row says, by the bytes of ids."""
    rows = sliceable_queries(benchmark).values_list(*FIELDS)
    queries = [_asked(row) for row in rows.iterator(chunk_size=10_000)]
    return sorted(queries, key=lambda query: query.qid.encode())


def counted_queries(benchmark: Benchmark) -> list[AskedQuery]:
    """As `asked_queries`, with how many documents are relevant for each."""
    qrel_set = grades_set(benchmark)
    if qrel_set is None:
        return asked_queries(benchmark)
    counts: dict[str, int] = {}
    rows = Qrel.objects.filter(relevant_grades(benchmark), qrel_set=qrel_set)
    for qid in rows.values_list("query__qid", flat=True).iterator(chunk_size=10_000):
        counts[qid] = counts.get(qid, 0) + 1
    graded = set(
        Qrel.objects.filter(qrel_set=qrel_set).values_list("query__qid", flat=True).distinct()
    )
    return [
        replace(query, n_relevant=counts.get(query.qid, 0)) if query.qid in graded else query
        for query in asked_queries(benchmark)
    ]


def queries_with_texts(
    benchmark: Benchmark, queries: Sequence[AskedQuery]
) -> Iterator[list[AskedQuery]]:
    """Batches of the queries with their relevant documents' texts, and what BM25 has first."""
    qrel_set = grades_set(benchmark)
    first = _first_documents(benchmark)
    is_relevant = relevant_grades(benchmark)
    for batch in batched(queries, BATCH):
        relevant = _relevant_documents(benchmark, qrel_set, is_relevant, batch)
        texts = _texts(benchmark, relevant)
        yield [
            replace(
                query,
                n_relevant=len(relevant.get(query.qid, ())),
                relevant=tuple(
                    texts[docid] for docid in relevant.get(query.qid, ()) if docid in texts
                ),
                is_lexical_hit=None
                if first is None
                else first.get(query.qid) in relevant.get(query.qid, ()),
            )
            for query in batch
        ]


def word_weights(benchmark: Benchmark, queries: Sequence[AskedQuery]) -> dict[str, float]:
    """The rarity of the queries' words among the corpus' first documents."""
    version = benchmark.current_corpus_version
    if version is None or not benchmark.corpus.has_texts:
        return {}
    query_words = {word for query in queries for word in words_of(query.text)}
    documents = islice(corpus_reader(version).iterate(), COUNTED_DOCUMENTS)
    return weights_of(
        (set(words_of(f"{document.title} {document.text}")) for document in documents), query_words
    )


def _asked(row: tuple[Any, ...]) -> AskedQuery:
    _, qid, text, lang, frequency, clicks, first_seen, last_seen, metadata = row
    return AskedQuery(
        qid=qid,
        text=text,
        lang=lang,
        frequency=frequency,
        clicks=_counts(clicks),
        first_seen=_day(first_seen),
        last_seen=_day(last_seen),
        metadata=metadata if isinstance(metadata, dict) else {},
    )


def _counts(clicks: Any) -> dict[str, int]:
    if not isinstance(clicks, dict):
        return {}
    return {docid: n for docid, n in clicks.items() if isinstance(n, int) and n > 0}


def _day(moment: datetime | None) -> Any:
    return moment.date() if moment else None


def _first_documents(benchmark: Benchmark) -> dict[str, str] | None:
    """What the benchmark's own BM25 run has first for each query; None without that run."""
    run = Run.objects.filter(benchmark=benchmark, name=LEXICAL_RUN).first()
    return {row.qid: row.docid for row in top_k(run_path(run), 1)} if run else None


def _relevant_documents(
    benchmark: Benchmark, qrel_set: QrelSet | None, is_relevant: Q, batch: Sequence[AskedQuery]
) -> dict[str, list[str]]:
    if qrel_set is None:
        return {}
    rows = Qrel.objects.filter(
        is_relevant, qrel_set=qrel_set, query__qid__in=[query.qid for query in batch]
    )
    relevant: dict[str, list[str]] = {}
    for qid, docid in rows.order_by("-grade", "docid").values_list("query__qid", "docid"):
        relevant.setdefault(qid, []).append(docid)
    return relevant


def _texts(benchmark: Benchmark, relevant: dict[str, list[str]]) -> dict[str, RelevantDocument]:
    wanted_ids = {docid for docids in relevant.values() for docid in docids[:MOST_TEXTS]}
    documents = benchmark_documents(benchmark, wanted_ids)
    return {
        docid: RelevantDocument(docid, document.title, document.text)
        for docid, document in documents.items()
    }
