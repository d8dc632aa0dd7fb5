"""Slices made by rules, by hand and from files; confirmed by people; registered for good."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.urls import reverse

from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, Slice, SliceMember, User
from benchmarks_app.models.slices import SMALLEST_SLICE
from benchmarks_app.queries.selectors import sliceable_queries
from benchmarks_app.slices.services.records import (
    insert_members,
    keys_of,
    refuse_name,
    refuse_registered,
    save_named,
)
from benchmarks_app.slices.services.rules import PREVIEW_QUERIES, applied_rule, needs_texts
from benchwright.files.external_sort import batched
from benchwright.slices.errors import (
    SliceEmptyError,
    SliceRuleError,
    SliceWithoutRuleError,
)
from benchwright.slices.expressions import parse_expression
from benchwright.slices.rules import Rule, Taken, checked_rule, is_suggesting
from benchwright.texts.counting import counted

MAKE_KIND = "make-slice"


# More queries than a page waits for; a rule that reads texts waits for none.
QUICK_QUERIES = 20_000


LONGEST_REASON = SliceMember._meta.get_field("reason").max_length


@dataclass(frozen=True)
class Wanted:
    """What a slice is to be: its name, what is said of it, and the rule that makes it."""

    name: str
    rule: Rule
    description: str = ""
    minimum: int = SMALLEST_SLICE


def start_slice(*, benchmark: Benchmark, wanted: Wanted, actor: User) -> Slice | Job:
    """The slice, or the job that makes it where that takes long; raises as `make_slice` does."""
    checked_rule(wanted.rule)
    refuse_name(benchmark, wanted.name)
    if is_quick(benchmark, wanted.rule):
        return make_slice(benchmark=benchmark, wanted=wanted, actor=actor)
    return jobs.start(benchmark=benchmark, user=actor, **making_arguments(wanted))


def is_quick(benchmark: Benchmark, rule: Rule) -> bool:
    """Whether a page can wait for a rule to be applied to the whole benchmark."""
    n_queries = sliceable_queries(benchmark).count()
    return n_queries <= (PREVIEW_QUERIES if needs_texts(rule) else QUICK_QUERIES)


def making_arguments(wanted: Wanted, into: Slice | None = None) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to make a slice, or to apply its rule again."""
    return {
        "kind": MAKE_KIND,
        "title": f"{'Refresh' if into else 'Make'} slice {wanted.name}",
        "parameters": {
            "name": wanted.name,
            "rule": dict(wanted.rule),
            "description": wanted.description,
            "minimum": wanted.minimum,
            "slice": into and into.pk,
        },
    }


def make_slice_job(job: jobs.RunningJob) -> None:
    """The handler: apply the rule, then write the slice and its members at once."""
    parameters = job.parameters
    wanted = Wanted(
        parameters["name"], parameters["rule"], parameters["description"], parameters["minimum"]
    )
    selection = applied_rule(
        job.benchmark,
        wanted.rule,
        on_progress=lambda done, total: job.progress(done, total, "queries looked at"),
    )
    with job.commit() as result:
        if parameters["slice"]:
            row = Slice.objects.select_for_update().filter(pk=parameters["slice"]).first()
            if row is None:
                result["notes"] = [f"Slice '{wanted.name}' was deleted meanwhile."]
                return
            _rewrite(row, wanted.rule, selection, actor=job.row.created_by)
        else:
            row = _create(job.benchmark, wanted, selection, actor=job.row.created_by)
        result["made"] = [f"slice '{row.name}' of {counted(len(selection.reasons), 'query')}"]
        result["notes"] = list(selection.notes)
        result["url"] = slice_url(row)


@transaction.atomic
def make_slice(*, benchmark: Benchmark, wanted: Wanted, actor: User) -> Slice:
    """A slice of the queries that a rule takes; what is a guess becomes suggestions.

    Raises
    ------
    SliceNameError, SliceTakenError
        If the name will not do.
    SliceRuleError, ExpressionError, FrequencyError
        If the rule will not do.
    SliceEmptyError
        If the rule takes no query.
    """
    refuse_name(benchmark, wanted.name)
    selection = applied_rule(benchmark, wanted.rule)
    return _create(benchmark, wanted, selection, actor=actor)


def _create(benchmark: Benchmark, wanted: Wanted, selection: Taken, *, actor: User | None) -> Slice:
    _refuse_empty(benchmark, selection)
    name = refuse_name(benchmark, wanted.name)
    rule = checked_rule(wanted.rule)
    row = save_named(
        Slice(
            benchmark=benchmark,
            name=name,
            kind=rule["kind"],
            rule=rule,
            description=wanted.description,
            minimum=max(wanted.minimum, SMALLEST_SLICE),
        )
    )
    _add_taken(row, rule, selection)
    audit.record(actor=actor, action="make-slice", benchmark=benchmark, target=name, rule=rule)
    return row


def _refuse_empty(benchmark: Benchmark, selection: Taken) -> None:
    if not selection.reasons:
        why = " ".join(selection.notes) or "Look at the preview, and change the rule."
        raise SliceEmptyError(n_queries=sliceable_queries(benchmark).count(), why=why)


def _add_taken(into: Slice, rule: Rule, selection: Taken) -> None:
    """Rows for the queries taken that have none in the slice."""
    state = _state_for(rule)
    known_qids = set(into.members.values_list("query__qid", flat=True))
    keys = keys_of(into.benchmark, (qid for qid in selection.reasons if qid not in known_qids))
    insert_members(
        SliceMember(
            slice=into,
            query_id=pk,
            source=SliceMember.Source.RULE,
            state=state,
            reason=str(selection.reasons[qid])[:LONGEST_REASON],
        )
        for qid, pk in keys.items()
    )


def _state_for(rule: Rule) -> SliceMember.State:
    """What a rule's queries are at first: guesses wait for a person."""
    return SliceMember.State.SUGGESTED if is_suggesting(rule) else SliceMember.State.MEMBER


def start_refresh(*, of: Slice, actor: User, rule: Rule | None = None) -> Slice | Job:
    """Apply a slice's rule, or another one, to the queries as they are now.

    Raises
    ------
    SliceRegisteredError
        If the slice is registered.
    SliceWithoutRuleError
        If it has no rule, and none is given.
    SliceRuleError, ExpressionError, FrequencyError, SliceEmptyError
        If the rule will not do.
    """
    refuse_registered(of, "members" if rule is None else "rule")
    if not rule and not of.rule:
        raise SliceWithoutRuleError(name=of.name, source=_source_of(of))
    new = checked_rule(rule or of.rule)
    _refuse_circle(of, new)
    if is_quick(of.benchmark, new):
        return refresh_slice(of=of, rule=new, actor=actor)
    wanted = Wanted(of.name, new, of.description, of.minimum)
    return jobs.start(benchmark=of.benchmark, user=actor, **making_arguments(wanted, of))


def _source_of(of: Slice) -> str:
    return "a file" if of.kind == Slice.Kind.IMPORT else "people"


def _refuse_circle(of: Slice, rule: Rule) -> None:
    if rule["kind"] == "expression" and of.name in parse_expression(rule["expression"]).slices:
        why = f"Slice '{of.name}' cannot be part of its own rule. Name another slice in it."
        raise SliceRuleError(why=why)


@transaction.atomic
def refresh_slice(*, of: Slice, rule: Rule, actor: User | None) -> Slice:
    """As `start_refresh`, now. What people have decided stays."""
    locked = Slice.objects.select_for_update().select_related("benchmark").get(pk=of.pk)
    selection = applied_rule(locked.benchmark, rule)
    _rewrite(locked, rule, selection, actor=actor)
    return locked


def _rewrite(of: Slice, rule: Rule, selection: Taken, *, actor: User | None) -> None:
    refuse_registered(of, "members")
    _refuse_empty(of.benchmark, selection)
    undecided = of.members.filter(source=SliceMember.Source.RULE, decided_by=None)
    rows = undecided.values_list("pk", "query__qid").iterator(chunk_size=10_000)
    _delete([pk for pk, qid in rows if qid not in selection.reasons])
    state = _state_for(rule)
    of.members.filter(source=SliceMember.Source.RULE, decided_by=None).update(state=state)
    of.rule, of.kind = checked_rule(rule), rule["kind"]
    of.save(update_fields=["rule", "kind"])
    _add_taken(of, rule, selection)
    audit.record(
        actor=actor, action="refresh-slice", benchmark=of.benchmark, target=of.name, rule=of.rule
    )


def _delete(keys: Sequence[int]) -> None:
    for batch in batched(keys, 500):
        SliceMember.objects.filter(pk__in=batch).delete()


def slice_url(of: Slice) -> str:
    return reverse("slice-detail", args=[of.benchmark.slug, of.name])
