"""Reads of splits: what there is to split, how it is split now, and whether that is outdated."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, cast

from django.core.cache import cache
from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.utils.dateparse import parse_date, parse_datetime

from benchmarks_app.common.selectors.reading import corpus_reader
from benchmarks_app.models import (
    Benchmark,
    FamilyLink,
    Qrel,
    QrelSet,
    Query,
    QueryFamily,
    SliceMember,
    SplitPlan,
)
from benchwright.files.external_sort import batched
from benchwright.leaks import LeakQuery
from benchwright.splits import SplitQuery, inputs_sha256
from benchwright.splits.given import NO_SPLIT
from benchwright.splits.types import EXCLUDED, Assignment

WITHOUT_SPLIT = "test"
"""Where queries of a benchmark count that was never split."""

DOCUMENTS_AT_ONCE = 1_000
PRIME = 1_000_003
OFFICIAL = [QrelSet.Kind.HUMAN, QrelSet.Kind.IMPORTED]


@dataclass(frozen=True)
class Splittable:
    """The queries of a benchmark that can be in a split, as rows and as the splitter sees them."""

    rows: list[dict[str, Any]]
    queries: list[SplitQuery]
    relevant: dict[int, set[str]] = field(default_factory=dict)

    @property
    def pk_of(self) -> dict[str, int]:
        return {row["qid"]: row["pk"] for row in self.rows}

    @property
    def family_of(self) -> dict[str, str]:
        return {query.qid: query.family for query in self.queries}


def queries_to_split(benchmark: Benchmark) -> QuerySet[Query]:
    """Queries that are not left out for a reason of their own; a split may leave some out."""
    of_benchmark = Query.objects.committed().filter(benchmark=benchmark)
    return of_benchmark.filter(Q(excluded_reason="") | Q(excluded_reason__startswith=EXCLUDED))


def splittable(benchmark: Benchmark, qrel_set: QrelSet | None = None) -> Splittable:
    """The queries with families, slices, dates, and the documents relevant by a set of qrels."""
    columns = ("pk", "qid", "text", "family_id", "first_seen_at", "excluded_reason")
    rows = list(queries_to_split(benchmark).values(*columns, "family__split"))
    slices = _slices_by_query(benchmark)
    relevant = relevant_documents(qrel_set) if qrel_set else {}
    queries = [
        SplitQuery(
            qid=row["qid"],
            family=str(row["family_id"]),
            slices=tuple(slices.get(row["pk"], ())),
            n_relevant=len(relevant.get(row["pk"], ())),
            first_seen=row["first_seen_at"],
        )
        for row in rows
    ]
    return Splittable(rows, queries, relevant)


def _slices_by_query(benchmark: Benchmark) -> dict[int, list[str]]:
    members = SliceMember.objects.filter(
        slice__benchmark=benchmark, state=SliceMember.State.MEMBER
    ).order_by("slice__name")
    names_of: dict[int, list[str]] = {}
    for query, name in members.values_list("query_id", "slice__name").iterator():
        names_of.setdefault(query, []).append(name)
    return names_of


def relevant_documents(qrel_set: QrelSet) -> dict[int, set[str]]:
    """{query: its relevant documents}, by the benchmark's scale."""
    scale = qrel_set.benchmark.grades.filter(is_relevant=True).values_list("value", flat=True)
    relevant_qrels = Qrel.objects.filter(qrel_set=qrel_set, grade__in=list(scale))
    documents: dict[int, set[str]] = {}
    for query, docid in relevant_qrels.values_list("query_id", "docid").iterator(chunk_size=10_000):
        documents.setdefault(query, set()).add(docid)
    return documents


def default_qrels(benchmark: Benchmark) -> QrelSet | None:
    """The newest set of grades by people or from a file."""
    ready = QrelSet.objects.ready().filter(benchmark=benchmark, kind__in=OFFICIAL)
    return ready.order_by("-created_at", "-pk").first()


# --- how it is split now -------------------------------------------------------------------


def current_plan(benchmark: Benchmark) -> SplitPlan | None:
    """The split in force: the newest that was made."""
    plans = SplitPlan.objects.filter(benchmark=benchmark).select_related("created_by")
    return plans.order_by("-created_at", "-pk").first()


def plan_facts(plan: SplitPlan) -> dict[str, Any]:
    """What everybody is told of how queries were split; JSON.

    Where a split is hidden, without the digest of how many documents are relevant to each query.
    """
    left_out = {"strata_sha256"} if plan.benchmark.hidden_splits else set()
    return {
        "mode": plan.mode,
        "seed": plan.seed,
        "algorithm": plan.algorithm,
        "parameters": {
            name: value for name, value in plan.parameters.items() if name not in left_out
        },
        "cuts": plan.parameters.get("cuts") or {},
        "inputs_sha256": plan.inputs_sha256,
        "assignment_sha256": plan.digest,
        "sizes": plan.sizes,
        "n_excluded": plan.n_excluded,
    }


def current_assignment(benchmark: Benchmark, splittable: Splittable) -> Assignment:
    """Where each query is now; what was never split counts as test."""
    splits, excluded = {}, {}
    for row in splittable.rows:
        if row["excluded_reason"]:
            excluded[row["qid"]] = row["excluded_reason"]
        else:
            splits[row["qid"]] = row["family__split"] or WITHOUT_SPLIT
    families = {str(row["family_id"]): row["family__split"] for row in splittable.rows}
    return Assignment(families, splits, excluded)


def split_sizes(benchmark: Benchmark) -> dict[str, int]:
    """Queries by split, counted in SQL; those of "" were never split."""
    kept_queries = queries_to_split(benchmark).filter(excluded_reason="")
    counted = kept_queries.values_list("family__split").annotate(n=Count("pk")).order_by()
    return dict(counted)


def is_outdated(benchmark: Benchmark, plan: SplitPlan) -> bool:
    """Whether queries, families or dates are others than those that were split."""
    return inputs_digest(benchmark) != plan.inputs_sha256


def inputs_digest(benchmark: Benchmark) -> str:
    """The SHA-256 of what a split would be made of now; computed once for each state."""
    key = f"split-inputs:{benchmark.pk}:{fingerprint(benchmark)}"
    return cast(str, cache.get_or_set(key, lambda: _inputs_digest(benchmark)))


def _inputs_digest(benchmark: Benchmark) -> str:
    rows = queries_to_split(benchmark).values_list("qid", "family_id", "first_seen_at")
    return inputs_sha256(
        SplitQuery(qid, str(family), first_seen=moment) for qid, family, moment in rows.iterator()
    )


def fingerprint(benchmark: Benchmark) -> str:
    """A few counts and sums that differ whenever what is split, or shown of it, does."""
    queries = Query.objects.committed().filter(benchmark=benchmark)
    families = QueryFamily.objects.filter(benchmark=benchmark)
    different = FamilyLink.objects.filter(benchmark=benchmark, verdict=FamilyLink.Verdict.DIFFERENT)
    parts = [
        queries.aggregate(
            Count("pk"),
            Max("pk"),
            Sum("family_id"),
            Max("first_seen_at"),
            # A log that is sampled tells when queries that are here were seen.
            n_dated=Count("first_seen_at"),
            n_out=Count("pk", filter=~Q(excluded_reason="")),
        ),
        benchmark.family_changes.aggregate(Max("pk")),
        benchmark.split_plans.aggregate(Max("pk")),
        dict(families.values_list("split").annotate(n=Count("pk")).order_by("split")),
        different.aggregate(Count("pk"), Max("decided_at")),
        list(
            SliceMember.objects.filter(
                slice__benchmark=benchmark, state=SliceMember.State.MEMBER, query__staged_by=None
            )
            .values_list("slice__name", "slice__minimum", "slice__is_registered")
            # Squares: of as many other queries even the sum of the keys may be the same.
            .annotate(
                Count("pk"), Sum("query_id"), squares=Sum(F("query_id") * F("query_id") % PRIME)
            )
            .order_by("slice__name")
        ),
        QrelSet.objects.ready().filter(benchmark=benchmark).aggregate(Count("pk"), Max("pk")),
        sorted(benchmark.hidden_splits),
    ]
    return hash_of(parts)


def hash_of(parts: Any) -> str:
    """A short digest of plain values."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:40]


# --- for the leak report -------------------------------------------------------------------


def leak_queries(splittable: Splittable, assignment: Assignment) -> list[LeakQuery]:
    """The queries that are in a split, with their texts and relevant documents."""
    query_of = {query.qid: query for query in splittable.queries}
    return [
        LeakQuery(
            qid=row["qid"],
            text=row["text"],
            family=str(row["family_id"]),
            split=assignment.splits[row["qid"]],
            slices=query_of[row["qid"]].slices,
            relevant=frozenset(splittable.relevant.get(row["pk"], ())),
            first_seen=row["first_seen_at"],
        )
        for row in splittable.rows
        if row["qid"] in assignment.splits
    ]


def told_apart(benchmark: Benchmark) -> set[tuple[str, str]]:
    """Pairs of query ids that a person said are different needs."""
    links = FamilyLink.objects.filter(benchmark=benchmark, verdict=FamilyLink.Verdict.DIFFERENT)
    return set(links.values_list("query_a__qid", "query_b__qid"))


def document_date_keys(benchmark: Benchmark) -> list[str]:
    """Keys of the documents' metadata that may hold a date."""
    version = benchmark.current_corpus_version
    kinds = version.metadata_kinds if version else {}
    return sorted(key for key, values in kinds.items() if "string" in values)


def document_dates(benchmark: Benchmark, docids: Iterable[str], key: str) -> dict[str, datetime]:
    """When documents appeared, by a key of their metadata; what has no date is absent."""
    version = benchmark.current_corpus_version
    if version is None or not key:
        return {}
    reader = corpus_reader(version)
    moments: dict[str, datetime] = {}
    for batch in batched(sorted(docids), DOCUMENTS_AT_ONCE):
        for docid, document in reader.get(batch).items():
            moment = moment_of(document.metadata.get(key))
            if moment:
                moments[docid] = moment
    return moments


def moment_of(value: Any) -> datetime | None:
    """An ISO date or time as UTC; what is neither is None.

    >>> moment_of("2024-02-01")
    datetime.datetime(2024, 2, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if not isinstance(value, str):
        return None
    try:
        day: date | None = parse_date(value)
        moment = datetime(day.year, day.month, day.day) if day else parse_datetime(value)
    except ValueError:
        return None
    return moment and (moment if moment.tzinfo else moment.replace(tzinfo=UTC))


# --- for pages -----------------------------------------------------------------------------


def assignment_rows(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    """(query id, split) by the bytes of the ids; `none` is a query that is left out."""
    rows = queries_to_split(benchmark).values_list("qid", "family__split", "excluded_reason")
    for qid, split, reason in sorted(rows.iterator(), key=lambda row: row[0].encode()):
        yield qid, NO_SPLIT if reason else split or WITHOUT_SPLIT


def query_keys(benchmark: Benchmark, qids: Iterable[str]) -> dict[str, tuple[int, int]]:
    """{query id: (its key, its family's)}."""
    keys: dict[str, tuple[int, int]] = {}
    rows = Query.objects.committed().filter(benchmark=benchmark)
    for batch in batched(sorted(qids), 500):
        named = rows.filter(qid__in=batch).values_list("qid", "pk", "family_id")
        keys.update((qid, (pk, family)) for qid, pk, family in named)
    return keys
