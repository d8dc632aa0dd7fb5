"""From the ledger to a set of qrels that says how it came about."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, cast

from django.db import connection
from django.db.models import Count, Sum
from django.urls import reverse

from annotation.common.selectors import ledger
from annotation.common.selectors.names import pseudonyms_in
from annotation.common.selectors.policies import policy_of
from annotation.common.selectors.pools import labelled_for_estimates, n_not_asked
from annotation.judging.protocol.errors import NothingJudgedError
from annotation.models import Judgment, Pool
from annotation.models.judgments import JudgmentQuerySet
from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Qrel, QrelSet, User
from benchwright.files.external_sort import batched
from benchwright.formats.errors import QrelSetNameTakenError
from benchwright.qrels.errors import AsOfError, NotAnAnnotatorError
from benchwright.qrels.rules import (
    Decision,
    Derivation,
    NamedRule,
    Settings,
    qrels_digest,
    rule_named,
)

JOB_KIND = "publish-qrels"
ROWS_PER_BATCH = 500
# One person's view is what they said, whatever others or an adjudicator did.
OWN_VIEW_RULE = "single"


def publishing_arguments(
    *,
    benchmark: Benchmark,
    name: str = "",
    rule: str = "",
    settings: Settings | None = None,
    as_of: int | datetime | None = None,
    annotator: User | None = None,
    without: Iterable[User] = (),
) -> dict:
    """What `jobs.start` or `jobs.run_here` need to publish the ledger of a benchmark.

    Parameters
    ----------
    rule, settings
        By default the benchmark's policy.
    as_of
        The last event that counts, or a time: then the last event that was recorded by then.
    annotator
        Only what this person said, named by their pseudonym; the rule is then the first label.
    without
        People whose labels are left out; the set says how many there are, by pseudonym.

    Raises
    ------
    QrelSetNameTakenError
        If the benchmark has a set of this name.
    UnknownRuleError
        If there is no such rule.
    NotAnAnnotatorError
        If the annotator has graded nothing here.
    """
    policy = policy_of(benchmark)
    chosen = rule_named(OWN_VIEW_RULE if annotator else rule) if annotator or rule else policy.rule
    if annotator:
        _refuse_without_grades(benchmark, annotator)
        name = name or pseudonyms_in(benchmark)(annotator.pk)
    _refuse_taken(benchmark, name)
    return {
        "kind": JOB_KIND,
        "title": f"Publish qrels {name}",
        "parameters": {
            "name": name,
            "rule": chosen.name,
            "rule_version": chosen.version,
            "settings": (settings or policy.settings).as_json(),
            "as_of": as_of.isoformat() if isinstance(as_of, datetime) else as_of,
            "annotator": annotator and annotator.pk,
            "without": sorted(person.pk for person in without),
        },
    }


def publish_qrels(job: jobs.RunningJob) -> None:
    """The handler: derive a set of qrels from the ledger as it was, and make it ready."""
    benchmark, name = job.benchmark, job.parameters["name"]
    rule = rule_named(job.parameters["rule"], job.parameters["rule_version"])
    derivation = Derivation(rule, Settings(**job.parameters["settings"]))
    _refuse_taken(benchmark, name)
    qrel_set = _begin(job, rule)
    written = _write(job, qrel_set, derivation)
    if not written:
        raise NothingJudgedError
    digest = qrels_digest(written)
    relevant = set(benchmark.grades.filter(is_relevant=True).values_list("value", flat=True))
    with job.commit() as result:
        _refuse_taken(benchmark, name)
        QrelSet.objects.filter(pk=qrel_set.pk).update(
            state=QrelSet.State.READY,
            staged_by=None,
            digest=digest,
            parameters={**qrel_set.parameters, **_account(benchmark, derivation)},
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
            as_of_event=qrel_set.as_of_event,
        )
        result.update(
            qrel_set=qrel_set.pk,
            digest=digest,
            n_qrels=len(written),
            n_unresolved=len(derivation.unresolved),
            as_of_event=qrel_set.as_of_event,
            n_for_estimates=qrel_set.parameters.get("n_for_estimates", 0),
            url=reverse("qrels-list", args=[benchmark.slug]),
        )


def _write(job: jobs.RunningJob, qrel_set: QrelSet, derivation: Derivation) -> list[Decision]:
    written: list[Decision] = []
    keys = ledger.query_keys(job.benchmark)
    # What is derived here records the event it goes up to.
    events = ledger.ledger_events(
        job.benchmark,
        cast(int, qrel_set.as_of_event),
        actor=job.parameters["annotator"],
        without=job.parameters.get("without", ()),
    )
    for batch in batched(derivation.of(events), ROWS_PER_BATCH):
        with job.fenced():
            Qrel.objects.bulk_create(
                Qrel(qrel_set=qrel_set, query_id=keys[row.query], docid=row.docid, grade=row.grade)
                for row in batch
            )
        written += batch
        job.progress(len(written), 0, f"{len(written):,} grades derived")
    return written


def _account(benchmark: Benchmark, derivation: Derivation) -> dict[str, Any]:
    """What a reader of the set should know of how its grades came about."""
    account: dict[str, Any] = {
        "decided": {str(how): n for how, n in sorted(derivation.n_by_how.items())},
        "n_labels": derivation.n_labels,
        "n_unresolved": len(derivation.unresolved),
    }
    if derivation.fitted:
        name = pseudonyms_in(benchmark)
        raters = [name(actor, rater) for actor, rater in derivation.fitted["raters"]]
        account["dawid_skene"] = {**derivation.fitted, "raters": raters}
    return account


# --- as of when -------------------------------------------------------------------------------


def _begin(job: jobs.RunningJob, rule: NamedRule) -> QrelSet:
    """The staged set, tied to an event of a ledger that nobody was writing to."""
    benchmark, options = job.benchmark, job.parameters
    with job.fenced():
        as_of = _settled_event(benchmark, options["as_of"])
        events = ledger.said_by(
            Judgment.objects.wanted().filter(benchmark=benchmark, pk__lte=as_of),
            actor=options["annotator"],
            without=options.get("without", ()),
        )
        waived = Pool.objects.filter(benchmark=benchmark).aggregate(n=Sum("n_waived"))["n"]
        parameters = {
            "events": _by_kind(events),
            "settings": options["settings"],
            "n_waived": waived or 0,
        }
        if n_drawn := labelled_for_estimates(benchmark):
            parameters["n_for_estimates"] = n_drawn
        if n_spared := n_not_asked(benchmark):
            parameters["n_spared"] = n_spared
        if isinstance(options["as_of"], str):
            parameters["as_of_time"] = options["as_of"]
        if options["annotator"]:
            parameters["annotator"] = pseudonyms_in(benchmark)(options["annotator"])
        if options.get("without"):
            parameters["without"] = [*map(pseudonyms_in(benchmark), options["without"])]
        return QrelSet.objects.create(
            benchmark=benchmark,
            name=options["name"],
            kind=_kind(events, as_of, is_view=bool(options["annotator"])),
            rule=rule.name,
            rule_version=rule.version,
            as_of_event=as_of,
            parameters=parameters,
            staged_by=job.row,
        )


def _kind(events: JudgmentQuerySet, as_of: int, *, is_view: bool) -> str:
    """A set that holds nothing but labels from files is not called our own."""
    if is_view:
        return QrelSet.Kind.ANNOTATOR
    grades = events.filter(kind=Judgment.Kind.GRADE).exclude(superseded_by__pk__lte=as_of)
    return QrelSet.Kind.HUMAN if grades.exists() else QrelSet.Kind.IMPORTED


def _by_kind(events: JudgmentQuerySet) -> dict[str, int]:
    """How many events of each kind a set rests on: where its labels came from."""
    return dict(events.values_list("kind").annotate(n=Count("pk")).order_by("kind"))


def _settled_event(benchmark: Benchmark, as_of: int | str | None) -> int:
    """The event up to which the ledger counts, with every writer of it done or waiting.

    Ids are given out before they are committed: without the lock, a lower one could appear after
    this one was read. On SQLite the surrounding transaction keeps other writers out.

    Raises
    ------
    NothingJudgedError
        If there is no event yet.
    AsOfError
        If the ledger has not come to what was asked for, or had nothing then.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {Judgment._meta.db_table} IN SHARE MODE")
    last = ledger.last_event_of(benchmark)
    if not last:
        raise NothingJudgedError
    if as_of is None:
        return last
    return _event_by(benchmark, as_of) if isinstance(as_of, str) else _event(benchmark, as_of)


def _event(benchmark: Benchmark, event: int) -> int:
    newest = Judgment.events.order_by("-pk").values_list("pk", flat=True).first() or 0
    if event > newest:
        raise AsOfError(reason=f"There is no event {event} yet; the last one is {newest}.")
    if not ledger.rule_events(benchmark).filter(pk__lte=event).exists():
        raise AsOfError(reason=f"Nobody had judged anything as of event {event}.")
    return event


def _event_by(benchmark: Benchmark, moment: str) -> int:
    until = datetime.fromisoformat(moment)
    by_then = ledger.rule_events(benchmark).filter(created_at__lte=until)
    event = by_then.order_by("-pk").values_list("pk", flat=True).first()
    if event is None:
        raise AsOfError(reason=f"Nobody had judged anything by {until:%Y-%m-%d %H:%M}.")
    return event


# --- refusals ---------------------------------------------------------------------------------


def _refuse_without_grades(benchmark: Benchmark, annotator: User) -> None:
    if not ledger.own_grades(benchmark).filter(actor=annotator).exists():
        raise NotAnAnnotatorError(username=annotator.username)


def _refuse_taken(benchmark: Benchmark, name: str) -> None:
    if QrelSet.objects.ready().filter(benchmark=benchmark, name=name).exists():
        raise QrelSetNameTakenError(name=name)


def discard_unfinished(job_id: int) -> None:
    """Remove the set that an unfinished attempt of a job has staged."""
    QrelSet.objects.filter(staged_by=job_id, state=QrelSet.State.BUILDING).delete()
