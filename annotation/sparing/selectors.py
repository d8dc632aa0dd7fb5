"""Documents of machine grade 0, what people said of them, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, QuerySet

from annotation.common.selectors.ledger import judged_pairs, last_event
from annotation.models import (
    Campaign,
    CampaignPair,
    Judgment,
    Pool,
    Slot,
    SparingRule,
    ZeroEntry,
)
from benchmarks_app.common.selectors.qrel_sets import relevant_values
from benchmarks_app.models import Benchmark
from benchwright.files.external_sort import batched

if TYPE_CHECKING:
    from benchwright.estimation.auditing import Audit, RunningAudit

STATES = SparingRule.State
PARTS = ZeroEntry.Part
QUERIES_AT_ONCE = 500
Key = tuple[int, str]


def rules_of(pool: Pool) -> QuerySet[SparingRule]:
    """The rules that a pool has and had, the newest first."""
    related = ("pool__benchmark", "campaign", "created_by")
    return pool.sparing_rules.select_related(*related).order_by("-pk")


def campaigns_to_spare_by(pool: Pool) -> QuerySet[Campaign]:
    """The campaigns of a pool that are done, the newest first."""
    return pool.campaigns.filter(state=Campaign.State.DONE).order_by("-pk")


# --- which documents ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Zero:
    """A document that a machine gave 0 and that waits for people."""

    entry: int
    query: int
    qid: str
    docid: str


def zeros_of(campaign: Campaign) -> list[Zero]:
    """What the campaign gave 0 and nobody has judged, nor has in hand, in the pool's order.

    Documents of known grade are for practice and checks, and none of them.
    """
    pool = campaign.pool
    begun = Slot.objects.filter(entry=OuterRef("pk"), kind=Slot.Kind.LABEL)
    zeros = campaign.pairs.filter(state=CampaignPair.State.GRADED, judgment__grade=0)
    gave = set(zeros.values_list("query", "docid"))
    judged = judged_pairs(pool.benchmark, last_event(pool.benchmark))
    waiting = (
        pool.entries.filter(Exists(begun.filter(state=Slot.State.FREE)), known_grade=None)
        .exclude(Exists(begun.exclude(state__in=[Slot.State.FREE, Slot.State.WAIVED])))
        .order_by("priority")
        .values_list("pk", "query", "query__qid", "document__docid")
    )
    return [
        Zero(*row)
        for row in waiting.iterator()
        if (row[1], row[3]) in gave and (row[2], row[3]) not in judged
    ]


def groups_of(benchmark: Benchmark, zeros: Iterable[Zero]) -> list[str]:
    """The registered slices of each document's query, by which an audit gives each its share."""
    # Its plans load arrays, which nobody needs before they draw.
    from benchmarks_app.slices.selectors import confirmed_members

    rows = confirmed_members(benchmark.slices.filter(is_registered=True))
    slices: dict[int, list[str]] = {}
    for query, key in rows.order_by("slice_id").values_list("query_id", "slice_id"):
        slices.setdefault(query, []).append(str(key))
    return [",".join(slices.get(zero.query, ())) for zero in zeros]


# --- what people said of them --------------------------------------------------------------------


def outcomes_of(rules: Sequence[SparingRule], part: str) -> list[bool]:
    """Whether each document of a part that people judged is relevant, in the order of the labels.

    An adjudicated grade settles it; else one person's word is enough, and a document that nobody
    could judge counts as relevant: the rule errs to people's side.
    """
    drawn = ZeroEntry.objects.filter(rule__in=rules, part=part)
    keys = set(drawn.values_list("entry__query", "entry__document__docid"))
    if not keys:
        return []
    benchmark = rules[0].pool.benchmark
    relevant = relevant_values(benchmark)
    first: dict[Key, int] = {}
    is_relevant: dict[Key, bool] = {}
    settled: dict[Key, bool] = {}
    for number, key, kind, grade in _said(benchmark, keys):
        if grade is None and kind != Judgment.Kind.CANT_JUDGE:
            continue
        says_so = grade is not None and (grade in relevant if relevant else grade > 0)
        first[key] = min(number, first.get(key, number))
        if kind == Judgment.Kind.ADJUDICATE:
            settled[key] = says_so
        is_relevant[key] = is_relevant.get(key, False) or says_so or grade is None
    is_relevant |= settled
    return [is_relevant[key] for key in sorted(first, key=lambda key: first[key])]


def _said(benchmark: Benchmark, keys: set[Key]) -> Iterator[tuple[int, Key, str, int | None]]:
    """What people stand by of these documents: event, document, kind, grade."""
    labels = Judgment.objects.current().wanted().filter(benchmark=benchmark).order_by("pk")
    for batch in batched(sorted({query for query, _ in keys}), QUERIES_AT_ONCE):
        rows = labels.filter(query__in=batch).values_list("pk", "query", "docid", "kind", "grade")
        for number, query, docid, kind, grade in rows.iterator():
            if (query, docid) in keys:
                yield number, (query, docid), kind, grade


# --- the verdict ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sparing:
    """What an audit and its checks say of a rule, as it is now.

    `audit` counts the documents of `n_before` drawn earlier beside its own: who asks again and
    again does not begin anew. `running` is None until it was allowed.
    """

    rule: SparingRule
    audit: Audit
    n_own: int
    n_before: int
    running: RunningAudit | None
    n_checks: int
    n_checked: int
    n_checked_relevant: int
    n_spared: int

    @property
    def is_complete(self) -> bool:
        return self.n_own >= self.rule.n_audit

    @property
    def is_beyond_hope(self) -> bool:
        """Whether the audit could not allow it any more, were all the others not relevant."""
        from benchwright.estimation.auditing import most_relevant

        n = self.n_before + self.rule.n_audit
        return most_relevant(self.audit.n_relevant, n) > self.rule.most_missed

    @property
    def n_needed(self) -> int:
        """How many would have to be audited in all, were no further one relevant."""
        from benchwright.estimation.auditing import least_audited

        return least_audited(self.audit.n_relevant, most_missed=self.rule.most_missed)

    @property
    def bound(self) -> float:
        """The bound that decides: over the last 300 once it is on, else of the audit."""
        return self.running.bound if self.running else self.audit.bound

    @property
    def told_bounds(self) -> tuple[str, str]:
        """The bound of the audit, and the one over the last 300 ("" until it was on), in words."""
        from benchwright.estimation.auditing import bound_in_words

        running = bound_in_words(self.running.bound) if self.running else ""
        return bound_in_words(self.audit.bound), running

    @property
    def sentence(self) -> str:
        """What decides, with its numbers, and what would be needed."""
        rule, audit = self.rule, self.audit
        share = f"{audit.n_relevant:,} of {audit.n_audited:,} documents that it gave 0"
        at = f"bound {self.told_bounds[0]}"
        limit = f"{rule.most_missed:g}"
        match rule.state:
            case STATES.AUDITING:
                n_left = rule.n_audit - self.n_own
                return (
                    f"Not allowed yet: {n_left:,} of {rule.n_audit:,} drawn documents wait for "
                    f"people; so far {share} are relevant."
                )
            case STATES.REFUSED:
                return (
                    f"Not allowed: {share} are relevant, {at} above {limit}. At least "
                    f"{self.n_needed:,} audited in all would be needed, with no further relevant "
                    "one."
                )
            case STATES.ON:
                checks = f"{self.n_checked_relevant:,} of {self.n_checked:,} checked since"
                return (
                    f"Allowed: {share} were relevant in the audit, {at} not above {limit}, and "
                    f"{checks}. {self.n_spared:,} documents are not asked."
                )
            case STATES.OFF:
                return (
                    f"Switched off: of the last {len(self.running.last) if self.running else 0:,} "
                    f"audited and checked so many were relevant that the bound rose above {limit}. "
                    "All documents are asked again; a new audit begins anew."
                )
        what = "all documents are asked again"
        if rule.pool.state == Pool.State.CLOSED:
            what = "nobody is asked while the pool is closed"
        return f"Stopped by a person: {what}. In the audit {share} were relevant."


def counted_with(rule: SparingRule) -> list[SparingRule]:
    """The rule, and the earlier audits that count beside it: those since one was last allowed."""
    earlier = SparingRule.objects.filter(
        pool=rule.pool_id, campaign=rule.campaign_id, pk__lt=rule.pk
    )
    allowed = earlier.filter(allowed_at__isnull=False).order_by("-pk").first()
    if allowed:
        earlier = earlier.filter(pk__gt=allowed.pk)
    return [*earlier.order_by("pk"), rule]


def sparing_of(rule: SparingRule) -> Sparing:
    """What people's labels say of a rule by now; nothing is written."""
    from benchwright.estimation.auditing import RunningAudit, audited

    own = outcomes_of([rule], PARTS.AUDIT)
    # What an earlier audit drew and nobody judged is drawn again, and counts once.
    counted = counted_with(rule)
    outcomes = outcomes_of(counted, PARTS.AUDIT) if len(counted) > 1 else own
    checks = outcomes_of([rule], PARTS.CHECK) if rule.allowed_at else []
    running = None
    if rule.allowed_at:
        running = RunningAudit.begun(outcomes, most_missed=rule.most_missed)
        for outcome in checks:
            running.add(outcome)
    spared = Slot.objects.filter(pool=rule.pool_id, state=Slot.State.SPARED)
    return Sparing(
        rule=rule,
        audit=audited(len(outcomes), sum(outcomes), most_missed=rule.most_missed),
        n_own=len(own),
        n_before=len(outcomes) - len(own),
        running=running,
        n_checks=rule.zeros.filter(part=PARTS.CHECK).count(),
        n_checked=len(checks),
        n_checked_relevant=sum(checks),
        n_spared=spared.values("entry").distinct().count() if rule.is_live else 0,
    )
