"""Queries whose SQL is made once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from benchmarks_app.models import AuditEvent, Benchmark
from benchmarks_app.prepared import prepared
from tests import factories


@prepared
def benchmarks(slug: str, earliest: datetime) -> QuerySet[Benchmark]:
    named = Benchmark.objects.filter(Q(slug=slug) | Q(name=slug), created_at__gte=earliest)
    return named.select_related("corpus").order_by("slug")


@prepared
def slugs(slug: str) -> QuerySet:
    return Benchmark.objects.filter(slug=slug).values_list("slug", flat=True)


def test_each_call_has_its_own_values(db, django_assert_num_queries):
    a, b = factories.benchmark(slug="a"), factories.benchmark(slug="b")
    long_ago, later = timezone.now() - timedelta(days=1), timezone.now() + timedelta(days=1)

    with django_assert_num_queries(5):
        assert [benchmarks("a", long_ago), benchmarks("b", long_ago)] == [[a], [b]]
        assert benchmarks("a", later) == benchmarks("c", long_ago) == []
        (again,) = benchmarks("a", long_ago)
        assert (again.corpus, again.created_at) == (a.corpus, a.created_at)


def test_rows_are_read_anew(db):
    benchmark = factories.benchmark(slug="a")
    assert slugs("a") == ["a"]

    Benchmark.objects.filter(pk=benchmark.pk).update(slug="b")

    assert (slugs("a"), slugs("b")) == ([], ["b"])


def test_other_threads_ask_by_their_own_connection(transactional_db):
    factories.benchmark(slug="a")
    assert slugs("a") == ["a"]

    def elsewhere() -> list[str]:
        try:
            return slugs("a")
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result() == ["a"]


def test_query_that_depends_on_when_it_was_made_is_refused(db):
    @prepared
    def coming(action: str) -> QuerySet[AuditEvent]:
        return AuditEvent.objects.filter(action=action, at__gt=timezone.now())

    with pytest.raises(ValueError, match="another query each time: SELECT"):
        coming("submit-run")
