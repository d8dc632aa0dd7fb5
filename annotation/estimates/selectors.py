"""What estimates are made of: a pool's draw, people's grades of it, a machine's of all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from annotation.common.selectors.ledger import ledger_events
from annotation.common.selectors.policies import policy_of
from annotation.models import Judgment, Pool, PoolEntry
from benchmarks_app.common.selectors.qrel_sets import machine_sets
from benchmarks_app.common.selectors.reading import qrels_of
from benchmarks_app.models import Benchmark, QrelSet, Query
from benchwright.files.external_sort import batched
from benchwright.qrels.rules import Derivation, Unresolved

if TYPE_CHECKING:
    from benchwright.pools import Pair

QUERIES_AT_ONCE = 500


def drawn_entries(pool: Pool) -> dict[Pair, float]:
    """{query and document: its probability} of what was drawn; what came in since is no part."""
    rows = pool.entries.filter(origin=PoolEntry.Origin.RUN).order_by()
    pairs = rows.values_list("query__qid", "document__docid", "inclusion_probability")
    return {(qid, docid): probability for qid, docid, probability in pairs}


def families_then(pool: Pool) -> dict[str, str]:
    """{query: family} of the queries that there were when the pool was drawn, by its last key."""
    last = pool.parameters["population"]["last_query"]
    rows = Query.objects.committed().filter(benchmark=pool.benchmark_id, pk__lte=last)
    return {qid: str(family) for qid, family in rows.values_list("qid", "family_id")}


@dataclass(frozen=True)
class Grades:
    """People's grade of each document that has one, and those that nobody could judge."""

    of: dict[Pair, int]
    cant_judge: frozenset[Pair]


def grades_by_rule(benchmark: Benchmark, as_of: int, pairs: Collection[Pair]) -> Grades:
    """The grades that qrels published now would have of these documents.

    Raises
    ------
    QrelsError
        If the benchmark's rule cannot be followed.
    """
    policy = policy_of(benchmark)
    settings = policy.settings
    if settings.unresolved == Unresolved.REFUSE:  # here such a document just has no grade yet
        settings = replace(settings, unresolved=Unresolved.LEAVE_OUT)
    wanted_pairs = frozenset(pairs)
    derived = Derivation(policy.rule, settings).of(ledger_events(benchmark, as_of))
    grades = {(row.query, row.docid): row.grade for row in derived}
    graded = {pair: grade for pair, grade in grades.items() if pair in wanted_pairs}
    return Grades(graded, _cant_judge(benchmark, as_of, wanted_pairs - graded.keys()))


def _cant_judge(benchmark: Benchmark, as_of: int, pairs: Collection[Pair]) -> frozenset[Pair]:
    """Of these documents, those that somebody looked at and could not judge."""
    judgments = Judgment.objects.current().wanted()
    judgments = judgments.filter(
        benchmark=benchmark, pk__lte=as_of, kind=Judgment.Kind.CANT_JUDGE, grade__isnull=True
    )
    unjudgeable_pairs: set[Pair] = set()
    for qids in batched(sorted({qid for qid, _ in pairs}), QUERIES_AT_ONCE):
        rows = judgments.filter(query__qid__in=qids).values_list("query__qid", "docid")
        unjudgeable_pairs |= {(qid, docid) for qid, docid in rows if (qid, docid) in pairs}
    return frozenset(unjudgeable_pairs)


@dataclass(frozen=True)
class Guess:
    """The newest set of a machine's that graded all documents; else one that graded `n` of them."""

    qrel_set: QrelSet | None = None
    grades: tuple[int, ...] = ()
    incomplete: QrelSet | None = None
    n: int = 0


def guess_of(benchmark: Benchmark, pairs: Iterable[Pair]) -> Guess:
    """A machine's grades of these documents, in their order.

    A set that lacks some is not used: where a machine was asked about drawn documents alone, its
    grade would tell what was drawn.
    """
    wanted_pairs = list(pairs)
    incomplete, most = None, 0
    for qrel_set in machine_sets(benchmark):
        rows = qrels_of(qrel_set)
        grades = {(qid, docid): grade for qid, docid, grade in rows if grade >= 0}
        n = sum(pair in grades for pair in wanted_pairs)
        if n == len(wanted_pairs):
            return Guess(qrel_set, tuple(grades[pair] for pair in wanted_pairs))
        if n > most:
            incomplete, most = qrel_set, n
    return Guess(incomplete=incomplete, n=most)
