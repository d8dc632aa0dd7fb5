"""Slices made by rules, by hand and from files; confirmed by people; registered for good."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.core.batches import batched
from benchmarks_app.core.errors import FileProblemsError, Problem
from benchmarks_app.core.formats.sources import open_lines
from benchmarks_app.core.import_errors import NothingImportedError
from benchmarks_app.core.problems import Problems
from benchmarks_app.core.slicing.asked import AskedQuery, Reason
from benchmarks_app.core.slicing.expressions import parse_expression
from benchmarks_app.core.slicing.files import read_slice_file
from benchmarks_app.core.slicing.frequency import frequency_cuts
from benchmarks_app.core.slicing.names import checked_name
from benchmarks_app.core.slicing.rules import (
    NEEDS_RELEVANT,
    Rule,
    Surroundings,
    Taken,
    checked_rule,
    is_suggesting,
    taken_by,
)
from benchmarks_app.core.slicing_errors import (
    SliceAlreadyRegisteredError,
    SliceEmptyError,
    SliceHasSuggestionsError,
    SliceInUseError,
    SliceRegisteredError,
    SliceRuleError,
    SliceTakenError,
    SliceTooSmallError,
    SliceWithoutRuleError,
)
from benchmarks_app.models import Benchmark, Job, Query, Slice, SliceMember, Upload, User
from benchmarks_app.models.slices import SMALLEST_SLICE
from benchmarks_app.results_seen import n_results_seen
from benchmarks_app.selectors.asked_queries import (
    asked_queries,
    counted_queries,
    queries_with_texts,
    sampled_log_counts,
    sliceable_queries,
    word_weights,
)
from benchmarks_app.selectors.slices import slices_of
from benchmarks_app.services import audit, jobs, uploading

MAKE_KIND, IMPORT_KIND = "make-slice", "import-slices"
# More queries than a page waits for; a rule that reads texts waits for none.
QUICK_QUERIES = 20_000
PREVIEW_QUERIES, PREVIEW_ROWS = 200, 12
ROWS_PER_BATCH = 2_000
LONGEST_REASON = SliceMember._meta.get_field("reason").max_length


@dataclass(frozen=True)
class Wanted:
    """What a slice is to be: its name, what is said of it, and the rule that makes it."""

    name: str
    rule: Rule
    description: str = ""
    minimum: int = SMALLEST_SLICE


# --- rules ---------------------------------------------------------------------------------


def needs_texts(rule: Rule) -> bool:
    return rule.get("kind") in NEEDS_RELEVANT


def applied_rule(
    benchmark: Benchmark,
    rule: Rule,
    *,
    at_most: int | None = None,
    on_progress: Any = lambda done, total: None,
) -> Taken:
    """The queries of the benchmark that a rule takes; of the first `at_most` where told.

    Raises
    ------
    SliceRuleError, ExpressionError, FrequencyError
        If the rule is none, or says nothing of these queries.
    """
    whole = _cut_as_in_the_log(benchmark, checked_rule(rule))
    around = Surroundings(slices=_named_slices(benchmark, whole))
    is_counting = "relevant" in str(whole.get("expression", ""))
    queries = (counted_queries if is_counting else asked_queries)(benchmark)
    if not needs_texts(whole):
        return taken_by(whole, queries, around)
    looked_at = queries[:at_most]
    around = Surroundings(around.slices, word_weights(benchmark, looked_at))
    reasons: dict[str, Reason] = {}
    notes: dict[str, None] = {}
    has_texts, done = False, 0
    for batch in queries_with_texts(benchmark, looked_at):
        taken = taken_by(whole, batch, around)
        reasons |= taken.reasons
        notes |= dict.fromkeys(taken.notes)
        has_texts = has_texts or any(query.relevant for query in batch)
        done += len(batch)
        on_progress(done, len(looked_at))
    return Taken(reasons, () if has_texts else tuple(notes))


def _cut_as_in_the_log(benchmark: Benchmark, rule: dict[str, Any]) -> dict[str, Any]:
    """A rule of frequency with the cuts of the whole log that queries were drawn from.

    A sample has more of the head than the log: its own five percent are another head.
    """
    if rule["kind"] != "frequency" or "head_above" in rule:
        return rule
    counts = sampled_log_counts(benchmark)
    if counts is None:
        return rule
    cuts = frequency_cuts(counts, head_share=rule["head_share"], tail_share=rule["tail_share"])
    cut_at = {"head_above": cuts.head_above, "tail_below": cuts.tail_below}
    return {"kind": "frequency", "band": rule["band"], **cut_at}


def _named_slices(benchmark: Benchmark, rule: Rule) -> Mapping[str, set[str]]:
    if rule["kind"] != "expression":
        return {}
    known = slices_of(benchmark)
    named = parse_expression(rule["expression"], tuple(known)).slices
    # The others are there by name, so that a message can list them.
    return {name: set(qids) if name in named else set() for name, qids in known.items()}


@dataclass(frozen=True)
class Preview:
    """What a rule would take: how many, some of them with reasons, and what is to be said."""

    n_taken: int
    n_looked_at: int
    n_queries: int
    is_suggestion: bool
    rows: list[tuple[AskedQuery, Reason]]
    notes: tuple[str, ...]

    @property
    def share(self) -> float:
        return self.n_taken / self.n_looked_at if self.n_looked_at else 0.0


def preview_rule(benchmark: Benchmark, rule: Rule) -> Preview:
    """What a rule would take, quickly: rules that read texts look at the first queries only.

    Raises
    ------
    SliceRuleError, ExpressionError, FrequencyError
        As `applied_rule` does.
    """
    n_queries = sliceable_queries(benchmark).count()
    at_most = PREVIEW_QUERIES if needs_texts(rule) else None
    taken = applied_rule(benchmark, rule, at_most=at_most)
    shown = list(taken.reasons)[:PREVIEW_ROWS]
    texts = dict(benchmark.queries.filter(qid__in=shown).values_list("qid", "text"))
    return Preview(
        n_taken=len(taken.reasons),
        n_looked_at=min(n_queries, at_most) if at_most else n_queries,
        n_queries=n_queries,
        is_suggestion=is_suggesting(rule),
        rows=[(AskedQuery(qid, texts.get(qid, "")), taken.reasons[qid]) for qid in shown],
        notes=taken.notes,
    )


# --- making --------------------------------------------------------------------------------


def start_slice(*, benchmark: Benchmark, wanted: Wanted, actor: User) -> Slice | Job:
    """The slice, or the job that makes it where that takes long; raises as `make_slice` does."""
    checked_rule(wanted.rule)
    _refuse_name(benchmark, wanted.name)
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
    told = job.parameters
    wanted = Wanted(told["name"], told["rule"], told["description"], told["minimum"])
    taken = applied_rule(
        job.benchmark,
        wanted.rule,
        on_progress=lambda done, total: job.progress(done, total, "queries looked at"),
    )
    with job.commit() as result:
        if told["slice"]:
            made = Slice.objects.select_for_update().get(pk=told["slice"])
            _rewrite(made, wanted.rule, taken, actor=job.row.created_by)
        else:
            made = _create(job.benchmark, wanted, taken, actor=job.row.created_by)
        result["made"] = [f"slice '{made.name}' of {len(taken.reasons):,} queries"]
        result["notes"] = list(taken.notes)
        result["url"] = slice_url(made)


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
    _refuse_name(benchmark, wanted.name)
    taken = applied_rule(benchmark, wanted.rule)
    return _create(benchmark, wanted, taken, actor=actor)


def _create(benchmark: Benchmark, wanted: Wanted, taken: Taken, *, actor: User | None) -> Slice:
    _refuse_empty(benchmark, taken)
    name = _refuse_name(benchmark, wanted.name)
    rule = checked_rule(wanted.rule)
    try:
        with transaction.atomic():
            made = Slice.objects.create(
                benchmark=benchmark,
                name=name,
                kind=rule["kind"],
                rule=rule,
                description=wanted.description,
                minimum=max(wanted.minimum, SMALLEST_SLICE),
            )
    except IntegrityError as error:
        raise SliceTakenError(name=name) from error
    _add_taken(made, rule, taken)
    audit.record(actor=actor, action="make-slice", benchmark=benchmark, target=name, rule=rule)
    return made


def _refuse_name(benchmark: Benchmark, name: str, but: Slice | None = None) -> str:
    name = checked_name(name)
    others = Slice.objects.filter(benchmark=benchmark, name=name)
    if but is not None:
        others = others.exclude(pk=but.pk)
    if others.exists():
        raise SliceTakenError(name=name)
    return name


def _refuse_empty(benchmark: Benchmark, taken: Taken) -> None:
    if not taken.reasons:
        why = " ".join(taken.notes) or "Look at the preview, and change the rule."
        raise SliceEmptyError(n_queries=sliceable_queries(benchmark).count(), why=why)


def _add_taken(into: Slice, rule: Rule, taken: Taken) -> None:
    """Rows for the queries taken that have none in the slice."""
    state = _state_for(rule)
    known = set(into.members.values_list("query__qid", flat=True))
    keys = _keys(into.benchmark, (qid for qid in taken.reasons if qid not in known))
    _insert(
        SliceMember(
            slice=into,
            query_id=pk,
            source=SliceMember.Source.RULE,
            state=state,
            reason=str(taken.reasons[qid])[:LONGEST_REASON],
        )
        for qid, pk in keys.items()
    )


def _state_for(rule: Rule) -> SliceMember.State:
    """What a rule's queries are at first: guesses wait for a person."""
    return SliceMember.State.SUGGESTED if is_suggesting(rule) else SliceMember.State.MEMBER


def _keys(benchmark: Benchmark, qids: Iterable[str]) -> dict[str, int]:
    wanted = set(qids)
    rows = Query.objects.committed().filter(benchmark=benchmark).values_list("qid", "pk")
    return {qid: pk for qid, pk in rows.iterator(chunk_size=10_000) if qid in wanted}


def _insert(rows: Iterable[SliceMember]) -> None:
    for batch in batched(rows, ROWS_PER_BATCH):
        SliceMember.objects.bulk_create(batch, ignore_conflicts=True)


# --- applying the rule again ---------------------------------------------------------------


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
    _refuse_registered(of, "members" if rule is None else "rule")
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
    taken = applied_rule(locked.benchmark, rule)
    _rewrite(locked, rule, taken, actor=actor)
    return locked


def _rewrite(of: Slice, rule: Rule, taken: Taken, *, actor: User | None) -> None:
    _refuse_registered(of, "members")
    _refuse_empty(of.benchmark, taken)
    undecided = of.members.filter(source=SliceMember.Source.RULE, decided_by=None)
    rows = undecided.values_list("pk", "query__qid").iterator(chunk_size=10_000)
    _delete([pk for pk, qid in rows if qid not in taken.reasons])
    state = _state_for(rule)
    of.members.filter(source=SliceMember.Source.RULE, decided_by=None).update(state=state)
    of.rule, of.kind = checked_rule(rule), rule["kind"]
    of.save(update_fields=["rule", "kind"])
    _add_taken(of, rule, taken)
    audit.record(
        actor=actor, action="refresh-slice", benchmark=of.benchmark, target=of.name, rule=of.rule
    )


def _delete(keys: Sequence[int]) -> None:
    for batch in batched(keys, 500):
        SliceMember.objects.filter(pk__in=batch).delete()


# --- by hand -------------------------------------------------------------------------------


@transaction.atomic
def make_hand_slice(
    *,
    benchmark: Benchmark,
    name: str,
    qids: Sequence[str],
    actor: User,
    description: str = "",
    minimum: int = SMALLEST_SLICE,
) -> Slice:
    """A slice of the queries that somebody names.

    Raises
    ------
    SliceNameError, SliceTakenError
        If the name will not do.
    FileProblemsError
        If there are queries that the benchmark lacks; each is told.
    """
    made = Slice.objects.create(
        benchmark=benchmark,
        name=_refuse_name(benchmark, name),
        kind=Slice.Kind.HAND,
        description=description,
        minimum=max(minimum, SMALLEST_SLICE),
    )
    _add_named(made, qids, actor)
    audit.record(actor=actor, action="make-slice", benchmark=benchmark, target=made.name)
    return made


@transaction.atomic
def add_queries(*, to: Slice, qids: Sequence[str], actor: User) -> int:
    """Put queries into a slice by hand; returns how many it did not have.

    Raises
    ------
    SliceRegisteredError
        If the slice is registered.
    FileProblemsError
        If there are queries that the benchmark lacks; each is told.
    """
    locked = Slice.objects.select_for_update().get(pk=to.pk)
    _refuse_registered(locked, "members")
    n_new = _add_named(locked, qids, actor)
    audit.record(
        actor=actor, action="change-slice", benchmark=to.benchmark, target=to.name, added=n_new
    )
    return n_new


def _add_named(to: Slice, qids: Sequence[str], actor: User) -> int:
    keys = _keys(to.benchmark, qids)
    problems = [
        Problem("queries", line, f"query '{qid}' is not in the benchmark. Drop it, or import it.")
        for line, qid in enumerate(qids, start=1)
        if qid not in keys
    ]
    if problems:
        raise FileProblemsError(problems=problems[:100], is_cut=len(problems) > 100)
    before = to.members.filter(state=SliceMember.State.MEMBER).count()
    _confirm(to.members.filter(query__in=keys.values()), actor)
    _insert(
        SliceMember(slice=to, query_id=pk, source=SliceMember.Source.HUMAN, decided_by=actor)
        for pk in keys.values()
    )
    return to.members.filter(state=SliceMember.State.MEMBER).count() - before


# --- what people say of suggestions --------------------------------------------------------

CONFIRM, REJECT = "confirm", "reject"


@transaction.atomic
def decide_members(
    *, of: Slice, actor: User, verdict: str, members: Sequence[int] | None = None
) -> int:
    """Confirm or reject rows of a slice by their keys, or every suggestion where none are named.

    Raises
    ------
    SliceRegisteredError
        If the slice is registered.
    """
    locked = Slice.objects.select_for_update().get(pk=of.pk)
    _refuse_registered(locked, "members")
    if members is None:
        n = _decide(locked.members.filter(state=SliceMember.State.SUGGESTED), verdict, actor)
    else:
        chosen = batched(members, 500)
        n = sum(_decide(locked.members.filter(pk__in=keys), verdict, actor) for keys in chosen)
    if n:
        audit.record(
            actor=actor,
            action=f"{verdict}-slice-members",
            benchmark=locked.benchmark,
            target=locked.name,
            n=n,
        )
    return n


def _decide(rows: Any, verdict: str, actor: User) -> int:
    if verdict == CONFIRM:
        return _confirm(rows, actor)
    rejected = rows.exclude(state=SliceMember.State.REJECTED)
    return rejected.update(state=SliceMember.State.REJECTED, decided_by=actor)


def _confirm(rows: Any, actor: User) -> int:
    others = rows.exclude(state=SliceMember.State.MEMBER, decided_by__isnull=False)
    return others.update(state=SliceMember.State.MEMBER, decided_by=actor)


# --- changing, registering -----------------------------------------------------------------


def _refuse_registered(of: Slice, what: str) -> None:
    if of.is_registered:
        raise SliceRegisteredError(name=of.name, what=what)


@transaction.atomic
def change_slice(
    *, of: Slice, actor: User, name: str, description: str, minimum: int = SMALLEST_SLICE
) -> Slice:
    """Another name, description or minimum; of a registered slice only the description.

    Raises
    ------
    SliceRegisteredError
        If a registered slice would get another name or minimum.
    SliceNameError, SliceTakenError
        If the name will not do.
    SliceInUseError
        If another slice's rule names it.
    """
    locked = Slice.objects.select_for_update().select_related("benchmark").get(pk=of.pk)
    if name.strip() != locked.name:
        _refuse_registered(locked, "name")
        _refuse_named_elsewhere(locked)
        locked.name = _refuse_name(locked.benchmark, name, but=locked)
    if minimum != locked.minimum:
        _refuse_registered(locked, "minimum")
        locked.minimum = max(minimum, SMALLEST_SLICE)
    locked.description = description
    locked.save(update_fields=["name", "minimum", "description"])
    audit.record(actor=actor, action="change-slice", benchmark=locked.benchmark, target=locked.name)
    return locked


@transaction.atomic
def delete_slice(*, of: Slice, actor: User) -> None:
    """Remove a slice; its queries stay.

    Raises
    ------
    SliceRegisteredError
        If it is registered.
    SliceInUseError
        If another slice's rule names it.
    """
    locked = Slice.objects.select_for_update().select_related("benchmark").get(pk=of.pk)
    if locked.is_registered:
        raise SliceRegisteredError(name=locked.name, what="members, name and existence")
    _refuse_named_elsewhere(locked)
    audit.record(actor=actor, action="delete-slice", benchmark=locked.benchmark, target=locked.name)
    locked.delete()


def _refuse_named_elsewhere(of: Slice) -> None:
    others = Slice.objects.filter(benchmark=of.benchmark, kind=Slice.Kind.EXPRESSION)
    named = [
        one.name
        for one in others.exclude(pk=of.pk)
        if of.name in parse_expression(one.rule.get("expression", "id is missing")).slices
    ]
    if named:
        raise SliceInUseError(name=of.name, others=", ".join(f"'{name}'" for name in named))


@transaction.atomic
def register_slice(*, of: Slice, actor: User) -> Slice:
    """Fix a slice's members, rule and name for good, so that a gate may use it.

    Raises
    ------
    SliceAlreadyRegisteredError
        If it is registered.
    SliceHasSuggestionsError
        If there are suggestions that nobody has decided on.
    SliceTooSmallError
        If it has fewer members than its minimum.
    """
    locked = Slice.objects.select_for_update().select_related("benchmark").get(pk=of.pk)
    if locked.is_registered:
        since = f"{locked.registered_at:%Y-%m-%d}"
        raise SliceAlreadyRegisteredError(name=locked.name, since=since)
    n_suggested = locked.members.filter(state=SliceMember.State.SUGGESTED).count()
    qids = members_of(locked)
    if len(qids) < locked.minimum:
        raise SliceTooSmallError(
            name=locked.name,
            n_members=len(qids),
            minimum=locked.minimum,
            n_lacking=locked.minimum - len(qids),
        )
    if n_suggested:
        raise SliceHasSuggestionsError(name=locked.name, n_suggested=n_suggested)
    locked.is_registered = True
    locked.registered_at = timezone.now()
    locked.registered_by = actor
    locked.members_sha256 = members_digest(qids)
    locked.n_results_before = n_results_seen(locked.benchmark)
    locked.save()
    audit.record(
        actor=actor,
        action="register-slice",
        benchmark=locked.benchmark,
        target=locked.name,
        members_sha256=locked.members_sha256,
        n_results_before=locked.n_results_before,
    )
    return locked


def members_of(of: Slice) -> list[str]:
    """Ids of the confirmed members, by their bytes."""
    members = of.members.filter(state=SliceMember.State.MEMBER, query__staged_by=None)
    return sorted(members.values_list("query__qid", flat=True), key=str.encode)


def members_digest(qids: Iterable[str]) -> str:
    """The SHA-256 of the members' ids, a line each, by their bytes."""
    ordered = sorted(qid.encode() for qid in qids)
    return hashlib.sha256(b"".join(qid + b"\n" for qid in ordered)).hexdigest()


def slice_url(of: Slice) -> str:
    return reverse("slice-detail", args=[of.benchmark.slug, of.name])


# --- a file of slices ----------------------------------------------------------------------


@transaction.atomic
def start_import(*, benchmark: Benchmark, user: User, upload: Upload) -> Job:
    """Start a job that puts queries into slices as a file says."""
    job = jobs.start(benchmark=benchmark, user=user, **import_arguments(upload))
    audit.record(
        actor=user, action="import-slices", benchmark=benchmark, target=upload.name, job=job.pk
    )
    return job


def import_arguments(upload: Upload) -> dict[str, Any]:
    return {
        "kind": IMPORT_KIND,
        "title": f"Import slices from {upload.name}",
        "parameters": {"upload": upload.pk},
    }


def import_slices(job: jobs.RunningJob) -> None:
    """The handler: read the whole file, tell every wrong line, or else write all of it.

    Raises
    ------
    FileProblemsError
        If there are wrong lines.
    NothingImportedError
        If there is no line.
    """
    upload = Upload.objects.get(pk=job.parameters["upload"])
    benchmark, problems = job.benchmark, Problems()
    registered = set(
        Slice.objects.filter(benchmark=benchmark, is_registered=True).values_list("name", flat=True)
    )
    known = dict(benchmark.queries.committed().values_list("qid", "pk"))
    found = read_slice_file(
        open_lines(uploading.local(upload), file=upload.name),
        file=upload.name,
        problems=problems,
        known=known,
        refusal=lambda name: registered_refusal(name) if name in registered else "",
    )
    problems.raise_found()
    if not found:
        raise NothingImportedError(file=upload.name, what="slice")
    with job.commit() as result:
        for name, members in found.items():
            import_members(benchmark, name, [known[qid] for qid in members])
        n_rows = sum(map(len, found.values()))
        result["made"] = [f"{len(found):,} slices with {n_rows:,} queries in all"]
        result["notes"] = [str(warning) for warning in problems.warnings]
        result["url"] = reverse("slice-list", args=[benchmark.slug])
        uploading.mark_imported(upload, "slices")


def registered_refusal(name: str) -> str:
    return str(SliceRegisteredError(name=name, what="members"))


def import_members(benchmark: Benchmark, name: str, queries: Sequence[int]) -> None:
    into, _ = Slice.objects.get_or_create(
        benchmark=benchmark, name=name, defaults={"kind": Slice.Kind.IMPORT}
    )
    _refuse_registered(into, "members")
    for keys in batched(queries, 500):
        known = into.members.filter(query__in=keys)
        known.update(state=SliceMember.State.MEMBER, source=SliceMember.Source.IMPORT)
    _insert(
        SliceMember(slice=into, query_id=pk, source=SliceMember.Source.IMPORT) for pk in queries
    )
