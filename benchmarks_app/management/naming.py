"""What commands are told by name: found, or refused with the names there are."""

from typing import Any

from django.core.management.base import CommandError
from django.db.models import Manager, QuerySet

from benchmarks_app.models import Benchmark, QrelSet, Role, User


def benchmark_of(slug: str) -> Benchmark:
    benchmark = Benchmark.objects.select_related("corpus").filter(slug=slug).first()
    if benchmark is None:
        known_slugs = ", ".join(Benchmark.objects.values_list("slug", flat=True)[:10]) or "none yet"
        raise CommandError(f"No benchmark '{slug}'. There are: {known_slugs}.")
    return benchmark


def named(
    rows: QuerySet | Manager,
    name: str,
    refusal: str,
    *,
    none: str = "none yet",
    most: int | None = None,
) -> Any:
    """The row of that name; or the refusal, which the names there are end."""
    row = rows.filter(name=name).first()
    if row is None:
        known_names = ", ".join(rows.values_list("name", flat=True)[:most]) or none
        raise CommandError(f"{refusal} {known_names}.")
    return row


def qrels_of(benchmark: Benchmark, name: str) -> QrelSet:
    """The ready set of this name."""
    refusal = f"No qrels '{name}' in '{benchmark.slug}'. There are:"
    qrel_set: QrelSet = named(ready_qrels(benchmark), name, refusal, none="none", most=10)
    return qrel_set


def ready_qrels(benchmark: Benchmark) -> QuerySet[QrelSet]:
    return QrelSet.objects.ready().filter(benchmark=benchmark)


def person_named(username: str) -> User:
    """The account of that name."""
    person = User.objects.filter(username=username).first()
    if person is None:
        raise CommandError(f"No user '{username}'.")
    return person


def actor_of(benchmark: Benchmark, username: str | None) -> User:
    if username:
        return person_named(username)
    owners = User.objects.filter(memberships__benchmark=benchmark, memberships__role=Role.OWNER)
    actor = owners.order_by("pk").first()
    if actor is None:
        raise CommandError("The benchmark has no owner.")
    return actor


def existing_benchmark(slug: str) -> Benchmark:
    """Like `benchmark_of`, for those who need not know which others there are."""
    benchmark = Benchmark.objects.filter(slug=slug).first()
    if benchmark is None:
        raise CommandError(f"There is no benchmark '{slug}'.")
    return benchmark
