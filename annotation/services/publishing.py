"""From the ledger to a set of qrels that says how it came about."""

from collections.abc import Iterator

from django.db import connection
from django.db.models import Count, Max
from django.urls import reverse

from annotation import selectors
from annotation.core.judging_errors import NothingJudgedError
from annotation.core.rules import Decision, NamedRule, decisions, qrels_digest, rule_named
from annotation.models import Judgment
from benchmarks_app.core.batches import batched
from benchmarks_app.core.import_errors import QrelSetNameTakenError
from benchmarks_app.models import Benchmark, Qrel, QrelSet
from benchmarks_app.services import audit, jobs

JOB_KIND = "publish-qrels"
ROWS_PER_BATCH = 500


def publishing_arguments(*, benchmark: Benchmark, name: str, rule: str) -> dict:
    """What `jobs.start` or `jobs.run_here` need to publish the ledger of a benchmark.

    Raises
    ------
    QrelSetNameTakenError
        If the benchmark has a set of this name.
    UnknownRuleError
        If there is no such rule.
    """
    _refuse_taken(benchmark, name)
    found = rule_named(rule)
    return {
        "kind": JOB_KIND,
        "title": f"Publish qrels {name}",
        "parameters": {"name": name, "rule": found.name, "rule_version": found.version},
    }


def publish_qrels(job: jobs.RunningJob) -> None:
    """The handler: derive a set of qrels from the ledger as it is now, and make it ready."""
    benchmark, name = job.benchmark, job.parameters["name"]
    rule = rule_named(job.parameters["rule"], job.parameters["rule_version"])
    _refuse_taken(benchmark, name)
    made = _begin(job, rule)
    relevant = set(benchmark.grades.filter(is_relevant=True).values_list("value", flat=True))
    written: list[Decision] = []
    keys = selectors.query_keys(benchmark)
    for batch in batched(qrels_as_of(benchmark, rule, made.as_of_event), ROWS_PER_BATCH):
        with job.fenced():
            Qrel.objects.bulk_create(
                Qrel(qrel_set=made, query_id=keys[row.query], docid=row.docid, grade=row.grade)
                for row in batch
            )
        written += batch
        job.progress(len(written), 0, f"{len(written):,} grades derived")
    if not written:
        raise NothingJudgedError
    digest = qrels_digest(written)
    with job.commit() as result:
        _refuse_taken(benchmark, name)
        QrelSet.objects.filter(pk=made.pk).update(
            state=QrelSet.State.READY,
            staged_by=None,
            digest=digest,
            n_qrels=len(written),
            n_queries=len({row.query for row in written}),
            n_relevant=sum(row.grade in relevant for row in written),
        )
        audit.record(
            actor=job.row.created_by,
            action="publish-qrels",
            benchmark=benchmark,
            target=name,
            digest=digest,
            as_of_event=made.as_of_event,
        )
        result.update(
            qrel_set=made.pk,
            digest=digest,
            n_qrels=len(written),
            as_of_event=made.as_of_event,
            url=reverse("qrels-list", args=[benchmark.slug]),
        )


def qrels_as_of(benchmark: Benchmark, rule: NamedRule, event: int) -> Iterator[Decision]:
    """The grades that a rule derives from the ledger up to an event: a replay from zero."""
    return decisions(selectors.ledger_events(benchmark, event), rule)


def _begin(job: jobs.RunningJob, rule: NamedRule) -> QrelSet:
    """The staged set, tied to the last event of a ledger that nobody was writing to."""
    with job.fenced():
        as_of = _last_event(job.benchmark)
        return QrelSet.objects.create(
            benchmark=job.benchmark,
            name=job.parameters["name"],
            kind=_kind(job.benchmark, as_of),
            rule=rule.name,
            rule_version=rule.version,
            as_of_event=as_of,
            parameters={"events": _events_by_kind(job.benchmark, as_of)},
            staged_by=job.row,
        )


def _kind(benchmark: Benchmark, as_of: int) -> str:
    """A set that holds nothing but labels from files is not called our own."""
    counts = _events_by_kind(benchmark, as_of)
    return QrelSet.Kind.HUMAN if Judgment.Kind.GRADE in counts else QrelSet.Kind.IMPORTED


def _events_by_kind(benchmark: Benchmark, as_of: int) -> dict[str, int]:
    """How many events of each kind a set rests on: where its labels came from."""
    events = Judgment.objects.filter(benchmark=benchmark, pk__lte=as_of)
    return dict(events.values_list("kind").annotate(n=Count("pk")).order_by("kind"))


def _last_event(benchmark: Benchmark) -> int:
    """The highest event id, with every writer of the ledger done or waiting.

    Ids are given out before they are committed: without the lock, a lower one could appear after
    the highest was read. On SQLite the surrounding transaction keeps other writers out.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {Judgment._meta.db_table} IN SHARE MODE")
    last = Judgment.objects.filter(benchmark=benchmark).aggregate(last=Max("pk"))["last"]
    if last is None:
        raise NothingJudgedError
    return last


def _refuse_taken(benchmark: Benchmark, name: str) -> None:
    if QrelSet.objects.ready().filter(benchmark=benchmark, name=name).exists():
        raise QrelSetNameTakenError(name=name)


def discard_unfinished(job_id: int) -> None:
    """Remove the set that an unfinished attempt of a job has staged."""
    QrelSet.objects.filter(staged_by=job_id, state=QrelSet.State.BUILDING).delete()
