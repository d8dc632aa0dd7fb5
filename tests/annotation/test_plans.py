"""What PostgreSQL reads for a claim in a benchmark that it has no statistics of yet."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from annotation.common.services import statements
from annotation.models import Judgment, Pool
from tests import factories
from tests.annotation.making import large_pool

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans without statistics"),
]
N_QUERIES, N_DOCUMENTS = 20, 100


def judged(slug: str) -> Pool:
    """A pool in a benchmark of its own, each document with a label, some with one too many."""
    pool = large_pool(factories.benchmark(slug), n_queries=N_QUERIES, n_documents=N_DOCUMENTS)
    other = factories.member(pool.benchmark, "other", "annotator")
    factories.member(pool.benchmark, "ada", "annotator")
    rows = pool.entries.values_list("query", "document__docid")
    Judgment.objects.bulk_create(
        Judgment(
            benchmark=pool.benchmark,
            query_id=query,
            docid=docid,
            kind=Judgment.Kind.GRADE,
            grade=1,
            actor=other,
            pool=pool,
            purpose="label",
            client_id=uuid.uuid4(),
            is_surplus=number % 20 == 0,
        )
        for number, (query, docid) in enumerate(rows)
    )
    return pool


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)


def rows_read(sql: str, table: str, **values: Any) -> float:
    """How many rows of a table a statement looks at, whether it needs them or not."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", values)
        (plan,) = cursor.fetchone()
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in nodes(plan[0]["Plan"])
        if node.get("Relation Name") == table
    )


def test_tables_that_a_job_filled_are_analysed(tmp_path, django_capture_on_commit_callbacks):
    young = judged("young")
    owner = factories.member(young.benchmark, "olga", "owner")
    path = tmp_path / "labels.qrels"
    path.write_text("q0 0 large-0 2\n")

    def known() -> float:
        with connection.cursor() as cursor:
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'annotation_judgment'")
            return cursor.fetchone()[0]

    before = known()
    with django_capture_on_commit_callbacks(execute=True):
        call_command("import_judgments", "young", path, user=owner.username)

    assert before < Judgment.objects.count() == known()


def test_claim_reads_neither_all_judgments_nor_the_whole_queue_of_a_young_benchmark():
    judged("old")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    young = judged("young")
    query = young.entries.order_by("priority").values_list("query", flat=True)[0]
    me = young.benchmark.memberships.get(user__username="ada").user_id
    sql = statements._written(statements._OPEN_OF_QUERY, "postgresql")
    values = {
        "pool": young.pk,
        "benchmark": young.benchmark_id,
        "query": query,
        "me": me,
        "now": statements.clock(),
        "n": 12,
    }

    assert rows_read(sql, "annotation_judgment", **values) <= N_DOCUMENTS
    assert rows_read(sql, "annotation_slot", **values) <= 3 * N_DOCUMENTS
