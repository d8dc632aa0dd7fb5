"""What people change about families: merge, split, say of a pair what it is, confirm, undo.

Every change is one transaction that locks the benchmark, writes down memberships before and after,
and an audit event. Grades are attached to queries and are never touched: no label goes from one
wording to another.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from benchmarks_app.common.services import audit
from benchmarks_app.common.services.exposure import refuse_hiding
from benchmarks_app.families.selectors import last_change, options_in_force, seen_as
from benchmarks_app.models import Benchmark, FamilyChange, FamilyLink, Query, QueryFamily, User
from benchmarks_app.splits.selectors import WITHOUT_SPLIT
from benchwright.families import similar_pairs
from benchwright.families.clustering import kept_apart
from benchwright.families.errors import (
    EmptyPartError,
    FamiliesOfTwoBenchmarksError,
    FamilyChangedError,
    FamilyMemberError,
    FamilyWithItselfError,
    NoFamiliesError,
    NothingToUndoError,
    PairOfOneError,
    SplitChoiceError,
)
from benchwright.families.holding import Held, doubt_in
from benchwright.files.external_sort import batched

Verdict = FamilyLink.Verdict
Kind = FamilyChange.Kind
Reason = FamilyLink.Reason
# Beside the families in `before` and `after` of a change, which are named by their numbers.
STATES, LINKS = "states", "links"
_STATE = ("split", "doubt", "is_flagged", "reviewed_by_id", "reviewed_at")
_LINK = ("query_a_id", "query_b_id", "reason", "similarity", "verdict", "decided_by_id")


# --- what a person does ----------------------------------------------------------------------


@transaction.atomic
def merge_families(
    *,
    family: QueryFamily,
    other: QueryFamily,
    actor: User,
    split: str | None = None,
    seen: str = "",
) -> FamilyChange:
    """Make two families one: the larger takes the queries of the other, which goes away.

    Families on two splits need `split`, which the merged family takes; the split of the benchmark
    is outdated then. Verdicts "different" between the two are taken back.

    Raises
    ------
    FamilyWithItselfError, FamiliesOfTwoBenchmarksError, SplitChoiceError
        If there are no two families to merge, or it is not said on which split they will be.
    ExposedQueriesError
        If queries whose grades were public would come into a hidden split.
    """
    benchmark = _locked(family)
    if family.pk == other.pk:
        raise FamilyWithItselfError(family=family.pk)
    if family.benchmark_id != other.benchmark_id:
        raise FamiliesOfTwoBenchmarksError(other=other.pk, benchmark=benchmark.name)
    _refuse_stale(family, seen)
    _refuse_stale(other, "")
    change = _Change(benchmark, actor, Kind.MERGE, [family.pk, other.pk])
    members = {pk: change.members[pk] for pk in (family.pk, other.pk)}
    kept_pk, gone_pk = sorted(members, key=lambda pk: (-len(members[pk]), pk))
    chosen = _split_of_merged([family.split, other.split], split)
    both = [*members[kept_pk], *members[gone_pk]]
    if (chosen or WITHOUT_SPLIT) in benchmark.hidden_splits:
        refuse_hiding(benchmark=benchmark, hidden=both)
    _say_same(change, members[kept_pk], members[gone_pk])
    Query.objects.filter(family=gone_pk).update(family=kept_pk)
    QueryFamily.objects.filter(pk=kept_pk).update(split=chosen)
    QueryFamily.objects.filter(pk=gone_pk).delete()
    return change.done([kept_pk], reviewed=[kept_pk], split=chosen, merged=gone_pk)


def _split_of_merged(splits: Sequence[str], chosen: str | None) -> str:
    present = sorted({split for split in splits if split})
    if len(present) < 2:
        return present[0] if present else ""
    if chosen not in present:
        raise SplitChoiceError(splits=", ".join(present), choices=present)
    return chosen


@transaction.atomic
def split_family(
    *, family: QueryFamily, take_out: Collection[int], actor: User, seen: str = ""
) -> FamilyChange:
    """Make a family of its own of some of a family's queries, on the same split.

    Every pair between the two is different from then on: no grouping brings them together.

    Raises
    ------
    EmptyPartError
        If one of the two families would have no query.
    FamilyMemberError
        If a query is not in the family.
    """
    benchmark = _locked(family)
    _refuse_stale(family, seen)
    change = _Change(benchmark, actor, Kind.SPLIT, [family.pk])
    members = change.members[family.pk]
    taken_pks = sorted(set(take_out))
    for pk in taken_pks:
        if pk not in members:
            raise FamilyMemberError(query=pk, family=family.pk)
    left_pks = [pk for pk in members if pk not in taken_pks]
    if not taken_pks or not left_pks:
        raise EmptyPartError(family=family.pk, n=len(members))
    change.say(((a, b) for a in taken_pks for b in left_pks), Verdict.DIFFERENT)
    new = QueryFamily.objects.create(benchmark=benchmark, split=family.split)
    Query.objects.filter(pk__in=taken_pks).update(family=new)
    return change.done([family.pk, new.pk], n_taken_out=len(taken_pks))


@transaction.atomic
def judge_pair(*, a: Query, b: Query, is_same: bool, actor: User, seen: str = "") -> FamilyChange:
    """Say of two queries of one family whether they are one need.

    Two that differ are taken apart, and every other member stays with the one it is more surely
    linked to.

    Raises
    ------
    PairOfOneError
        If both are one query.
    FamilyMemberError
        If they are not in one family.
    """
    if a.pk == b.pk:
        raise PairOfOneError(query=a.qid)
    benchmark = _locked(a.family)
    _refuse_stale(a.family, seen)
    kind = Kind.CONFIRM if is_same else Kind.SPLIT
    change = _Change(benchmark, actor, kind, [a.family_id])
    for query in (a, b):
        if query.pk not in change.members[a.family_id]:
            raise FamilyMemberError(query=query.qid, family=a.family_id)
    change.say([(a.pk, b.pk)], Verdict.SAME if is_same else Verdict.DIFFERENT)
    touched = [a.family_id]
    if not is_same:
        touched += _taken_apart(change, a.family)
    return change.done(touched, pair=f"{a.qid}, {b.qid}")


def _taken_apart(change: "_Change", family: QueryFamily) -> list[int]:
    """Put members that differ into families of their own; the largest part keeps the family."""
    members = change.members[family.pk]
    links = FamilyLink.objects.filter(query_a__in=members, query_b__in=members)
    rows = list(links.values_list("query_a_id", "query_b_id", "similarity", "verdict"))
    different = {(a, b) for a, b, _, verdict in rows if verdict == Verdict.DIFFERENT}
    held_rows = [row for row in rows if row[:2] not in different]
    held_rows.sort(key=lambda row: (row[3] != Verdict.SAME, -row[2], row[0], row[1]))
    pairs = [(a, b) for a, b, _, _ in held_rows]
    # What no link holds stays, if it may, with the first.
    pairs += [(members[0], pk) for pk in members[1:]]
    root, _ = kept_apart(members, pairs, different)
    parts: dict[int, list[int]] = {}
    for pk in members:
        parts.setdefault(root[pk], []).append(pk)
    _, *others = sorted(parts.values(), key=lambda part: (-len(part), part[0]))
    families = []
    for part in others:
        new = QueryFamily.objects.create(benchmark=change.benchmark, split=family.split)
        Query.objects.filter(pk__in=part).update(family=new)
        families.append(new.pk)
    return families


@transaction.atomic
def confirm_family(*, family: QueryFamily, actor: User, seen: str = "") -> FamilyChange:
    """Say that all queries of a family are one need: it waits for review no more."""
    return confirm_families(families={family: seen}, actor=actor)


@transaction.atomic
def confirm_families(*, families: Mapping[QueryFamily, str], actor: User) -> FamilyChange:
    """Say of each of some families that all its queries are one need: one change, undone as one.

    `families` has what was seen of each (`seen_as`, or "").

    Raises
    ------
    NoFamiliesError
        If there is none.
    FamilyChangedError
        If one of them is another by now; then nothing is said of the others either.
    """
    if not families:
        raise NoFamiliesError
    benchmark = _locked(next(iter(families)))
    for family, seen in families.items():
        _refuse_stale(family, seen)
    keys = [family.pk for family in families]
    change = _Change(benchmark, actor, Kind.CONFIRM, keys)
    of_all = [pk for members in change.members.values() for pk in members]
    family_of = {pk: key for key, members in change.members.items() for pk in members}
    linked = FamilyLink.objects.filter(query_a__in=of_all, query_b__in=of_all)
    pairs = linked.values_list("query_a_id", "query_b_id")
    inside = {(a, b) for a, b in pairs if family_of[a] == family_of[b]}
    with_first = {(members[0], pk) for members in change.members.values() for pk in members[1:]}
    change.say(inside | with_first, Verdict.SAME)
    return change.done(keys, reviewed=keys)


# --- undoing ---------------------------------------------------------------------------------


@transaction.atomic
def undo_change(*, change: FamilyChange, actor: User) -> FamilyChange:
    """Put families and verdicts back to where they were before a change.

    Raises
    ------
    NothingToUndoError
        If it was undone already, or later changes built on it.
    ExposedQueriesError
        If queries whose grades were public meanwhile would come into a hidden split.
    """
    benchmark = Benchmark.objects.select_for_update().get(pk=change.benchmark_id)
    _refuse_undoing(change)
    before, after = _families(change.before), _families(change.after)
    _refuse_built_on(after)
    undoing = _Change(benchmark, actor, Kind.UNDO, list(after))
    _restore_links(change)
    states, splits = change.before.get(STATES, {}), _splits_to_come(change)
    _refuse_hiding_again(benchmark, before, splits)
    existing = set(QueryFamily.objects.filter(pk__in=before).values_list("pk", flat=True))
    QueryFamily.objects.bulk_create(
        QueryFamily(pk=pk, benchmark=benchmark) for pk in before if pk not in existing
    )
    for pk, members in before.items():
        _move(members, pk)
        if str(pk) in states:
            state = {**states[str(pk)], "split": splits[pk]}
            QueryFamily.objects.filter(pk=pk).update(**_read_state(state))
    QueryFamily.objects.filter(pk__in=set(after) - set(before), queries=None).delete()
    return undoing.done(list(before), judged=False, undoes=change)


def undo_last_change(*, benchmark: Benchmark, actor: User) -> FamilyChange:
    """Undo the newest change of this person that still stands.

    Raises
    ------
    NothingToUndoError
        If there is none.
    """
    change = last_change(benchmark, actor)
    if change is None:
        reason = "You have changed no family here that could be undone."
        raise NothingToUndoError(reason=reason)
    return undo_change(change=change, actor=actor)


def _refuse_undoing(change: FamilyChange) -> None:
    if change.kind == Kind.UNDO:
        reason = "This is itself an undoing. Make the change again instead."
        raise NothingToUndoError(reason=reason)
    if FamilyChange.objects.filter(undoes=change).exists():
        raise NothingToUndoError(reason="This change was undone already.")


def _refuse_built_on(after: dict[int, list[int]]) -> None:
    """A change can be undone while its families are what it made of them."""
    if _members(after) == {pk: sorted(members) for pk, members in after.items()}:
        return
    reason = (
        "These families were changed again since. Undo the later changes first, "
        "or change the families by hand."
    )
    raise NothingToUndoError(reason=reason)


def _splits_to_come(change: FamilyChange) -> dict[int, str]:
    """{family: its split when the change is undone}: the one before it, or where the queries were
    split anew since, the one they are on."""
    before, after = _families(change.before), _families(change.after)
    had, left = (written.get(STATES, {}) for written in (change.before, change.after))
    now = {int(pk): state["split"] for pk, state in states_of(after).items()}
    family_of = {query: pk for pk, members in after.items() for query in members}
    splits = {}
    for pk, members in before.items():
        # Itself first, if any of its queries stayed.
        present = sorted({family_of[query] for query in members}, key=lambda other: other != pk)
        is_split_anew = any(
            now[other] != left.get(str(other), {}).get("split", now[other]) for other in present
        )
        splits[pk] = now[present[0]] if is_split_anew else had.get(str(pk), {}).get("split", "")
    return splits


def _refuse_hiding_again(
    benchmark: Benchmark, before: dict[int, list[int]], splits: dict[int, str]
) -> None:
    hidden = [
        query
        for pk, members in before.items()
        if (splits[pk] or WITHOUT_SPLIT) in benchmark.hidden_splits
        for query in members
    ]
    now_hidden = Query.objects.filter(
        pk__in=hidden, family__split__in=[*benchmark.hidden_splits, *_unsplit(benchmark)]
    )
    stay = set(now_hidden.values_list("pk", flat=True))
    refuse_hiding(benchmark=benchmark, hidden=[pk for pk in hidden if pk not in stay])


def _unsplit(benchmark: Benchmark) -> list[str]:
    """What the column says of families that count as hidden without having been split."""
    return [""] if WITHOUT_SPLIT in benchmark.hidden_splits else []


def _restore_links(change: FamilyChange) -> None:
    had = {tuple(row[:3]): row for row in change.before.get(LINKS, [])}
    for row in change.after.get(LINKS, []):
        a, b, reason = row[:3]
        links = FamilyLink.objects.filter(query_a=a, query_b=b, reason=reason)
        if (a, b, reason) in had:
            _, _, _, _, verdict, decider, moment = had[a, b, reason]
            at = parse_datetime(moment) if moment else None
            links.update(verdict=verdict, decided_by=decider, decided_at=at)
        else:
            links.delete()


# --- writing changes down --------------------------------------------------------------------


def _locked(family: QueryFamily) -> Benchmark:
    """The family's benchmark, which nobody else changes families of until the commit."""
    return Benchmark.objects.select_for_update().get(pk=family.benchmark_id)


def _refuse_stale(family: QueryFamily, seen: str) -> None:
    """Refuse a family that is another by now; its split is read again, as it was before the lock.

    Raises
    ------
    FamilyChangedError
        If it is gone, or not what was `seen` of it.
    """
    members = _members([family.pk])
    if family.pk not in members or (seen and seen != seen_as(members[family.pk])):
        raise FamilyChangedError(family=family.pk)
    family.refresh_from_db(fields=["split"])


def _members(families: Iterable[int]) -> dict[int, list[int]]:
    """{family: its queries}, of families that have any."""
    members: dict[int, list[int]] = {}
    rows = Query.objects.committed().filter(family__in=list(families)).order_by("pk")
    for pk, family in rows.values_list("pk", "family_id"):
        members.setdefault(family, []).append(pk)
    return members


def _families(written: dict[str, Any]) -> dict[int, list[int]]:
    """The memberships of a change, without what stands beside them."""
    return {int(key): members for key, members in written.items() if key.isdecimal()}


def _move(queries: Sequence[int], family: int) -> None:
    for start in range(0, len(queries), 500):
        Query.objects.filter(pk__in=queries[start : start + 500]).update(family=family)


def states_of(families: Iterable[int]) -> dict[str, dict[str, Any]]:
    """Split, doubt and review of families, as JSON takes them."""
    return {
        str(row.pop("pk")): {
            key: value.isoformat() if hasattr(value, "isoformat") else value
            for key, value in row.items()
        }
        for keys in batched(families, 500)
        for row in QueryFamily.objects.filter(pk__in=keys).values("pk", *_STATE)
    }


def _read_state(state: dict[str, Any]) -> dict[str, Any]:
    moment = state.get("reviewed_at")
    return {**state, "reviewed_at": parse_datetime(moment) if moment else None}


class _Change:
    """One change under way: what it touches is remembered, then judged anew and written down."""

    def __init__(
        self, benchmark: Benchmark, actor: User, kind: str, families: Sequence[int]
    ) -> None:
        self.benchmark = benchmark
        self.actor = actor
        self.kind = kind
        self.at = timezone.now()
        self.families = list(families)
        self.members = _members(families)
        self.before = self._written(families)
        self.links_before: list[list[Any]] = []
        self.links_after: list[list[Any]] = []

    def _written(self, families: Iterable[int]) -> dict[str, Any]:
        families = list(families)
        members = {str(pk): queries for pk, queries in _members(families).items()}
        return {**members, STATES: states_of(families)}

    def say(self, pairs: Iterable[tuple[int, int]], verdict: str) -> None:
        """Write a verdict on every link of the pairs; a pair without a link gets one by hand."""
        wanted_pairs = {(min(pair), max(pair)) for pair in pairs}
        queries = {pk for pair in wanted_pairs for pk in pair}
        present = FamilyLink.objects.filter(query_a__in=queries, query_b__in=queries)
        links = [link for link in present if (link.query_a_id, link.query_b_id) in wanted_pairs]
        changed = [link for link in links if link.verdict != verdict]
        self.links_before += [_link_row(link) for link in changed]
        for link in changed:
            link.verdict, link.decided_by, link.decided_at = verdict, self.actor, self.at
        FamilyLink.objects.bulk_update(changed, ["verdict", "decided_by", "decided_at"], 200)
        missing = sorted(wanted_pairs - {(link.query_a_id, link.query_b_id) for link in links})
        new_links = self._made_by_hand(missing, verdict)
        self.links_after += [_link_row(link) for link in (*changed, *new_links)]

    def _made_by_hand(self, pairs: Sequence[tuple[int, int]], verdict: str) -> list[FamilyLink]:
        similarity = _wording_similarities(pairs)
        return FamilyLink.objects.bulk_create(
            FamilyLink(
                benchmark=self.benchmark,
                query_a_id=a,
                query_b_id=b,
                reason=Reason.HAND,
                similarity=similarity.get((a, b), 0.0),
                verdict=verdict,
                decided_by=self.actor,
                decided_at=self.at,
            )
            for a, b in pairs
        )

    def done(
        self,
        families: Sequence[int],
        *,
        reviewed: Collection[int] = (),
        judged: bool = True,
        undoes: FamilyChange | None = None,
        **detail: Any,
    ) -> FamilyChange:
        """Judge the families anew, and write the change down with its audit event."""
        if judged:
            judge_anew(self.benchmark, families, reviewed=reviewed, actor=self.actor, at=self.at)
        change = FamilyChange.objects.create(
            benchmark=self.benchmark,
            kind=self.kind,
            before={**self.before, LINKS: self.links_before},
            after={**self._written(families), LINKS: self.links_after},
            undoes=undoes,
            actor=self.actor,
            created_at=self.at,
        )
        keys = ", ".join(str(pk) for pk in sorted({*self.families, *families})[:10])
        audit.record(
            actor=self.actor,
            action=f"{self.kind}-family",
            benchmark=self.benchmark,
            target=keys,
            change=change.pk,
            **detail,
        )
        return change


def judge_anew(
    benchmark: Benchmark,
    families: Iterable[int],
    *,
    reviewed: Collection[int] = (),
    actor: User | None = None,
    at: datetime | None = None,
) -> None:
    """Doubt and review of families that a person has just looked at, or that have other members."""
    threshold = 1.0 - options_in_force(benchmark).merge_at + 1e-6
    for pk, members in _members(families).items():
        doubt = 0.0 if pk in reviewed else doubt_of(members)
        is_settled = doubt <= threshold
        QueryFamily.objects.filter(pk=pk).update(
            doubt=doubt,
            is_flagged=not is_settled,
            reviewed_by=actor if is_settled else None,
            reviewed_at=at if is_settled else None,
        )


def _say_same(change: _Change, ours: Sequence[int], theirs: Sequence[int]) -> None:
    """Say "same" of every link between two families, or of their first queries without one."""
    across = FamilyLink.objects.filter(query_a__in=ours, query_b__in=theirs).union(
        FamilyLink.objects.filter(query_a__in=theirs, query_b__in=ours)
    )
    pairs = {(link.query_a_id, link.query_b_id) for link in across}
    change.say(pairs or {(ours[0], theirs[0])}, Verdict.SAME)


def _link_row(link: FamilyLink) -> list[Any]:
    moment = link.decided_at.isoformat() if link.decided_at else None
    return [*(getattr(link, name) for name in _LINK), moment]


def _wording_similarities(
    pairs: Sequence[tuple[int, int]],
) -> dict[tuple[int, int], float]:
    """How alike the texts of pairs are, among themselves."""
    queries = sorted({pk for pair in pairs for pk in pair})
    texts = dict(Query.objects.filter(pk__in=queries).values_list("pk", "text"))
    similarities = similar_pairs([texts[pk] for pk in queries], threshold=0.01)
    alike = {(queries[a], queries[b]): similarity for a, b, similarity in similarities}
    return {pair: alike.get(pair, 0.0) for pair in pairs}


def doubt_of(members: Collection[int]) -> float:
    """1 less the weakest link that queries need to hang together; what people said is sure.

    Without links that hold them together it is 1.
    """
    links = FamilyLink.objects.filter(query_a__in=members, query_b__in=members).exclude(
        verdict=Verdict.DIFFERENT
    )
    rows = links.values_list("query_a_id", "query_b_id", "similarity", "verdict")
    held_links = [
        Held(a, b, 1.0 if verdict == Verdict.SAME else similarity)
        for a, b, similarity, verdict in rows
    ]
    return doubt_in(members, held_links)
