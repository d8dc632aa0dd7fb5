"""A rule that spares people a machine's zeros: audited, followed, switched off by itself."""

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.judging.selectors.queue import queue_rows
from annotation.judging.selectors.work import Work, work_state
from annotation.judging.services.judging import record_judgment
from annotation.judging.services.pacing import progress
from annotation.judging.services.tokens import Shown
from annotation.models import Campaign, Judgment, KnownGrade, Pool, Slot, SparingRule, ZeroEntry
from annotation.pools.services.pooling import set_pool_state
from annotation.sparing.errors import (
    SparingActiveError,
    SparingCampaignError,
    SparingIdleError,
    SparingPoolError,
    TooFewZerosError,
)
from annotation.sparing.selectors import sparing_of, zeros_of
from annotation.sparing.services import ask_to_spare, follow, follow_all, stop_sparing
from benchmarks_app.models import AuditEvent, SliceMember
from tests import factories
from tests.annotation import making
from tests.annotation.sparing.making import add_graded, entries, graded_pool, n_spared, say

pytestmark = pytest.mark.django_db
AUDIT, CHECK, SPARED = ZeroEntry.Part.AUDIT, ZeroEntry.Part.CHECK, ZeroEntry.Part.SPARED


@pytest.fixture
def campaign(benchmark):
    return graded_pool(benchmark)


@pytest.fixture
def pool(campaign):
    return campaign.pool


@pytest.fixture
def rule(campaign, owner):
    """An audit of 200 is drawn, the other hundred wait."""
    return ask_to_spare(campaign=campaign, user=owner)


@pytest.fixture
def allowed(rule, ada):
    say(entries(rule, AUDIT), ada)
    follow(rule=rule)
    rule.refresh_from_db()
    return rule


def wanted(pool):
    return Pool.objects.get(pk=pool.pk).n_wanted


def add_more(campaign):
    """More documents of grade 0 in the campaign's pool."""
    queries = [campaign.benchmark.queries.get(qid="q0")]
    campaign.pool.refresh_from_db()
    add_graded(campaign, queries, [f"more{number:03}" for number in range(250)], 0)


def actions():
    return list(
        AuditEvent.objects.filter(action__startswith="sparing")
        .order_by("pk")
        .values_list("action", flat=True)
    )


# --- asking --------------------------------------------------------------------------------------


def test_audit_is_drawn_of_what_nobody_judged_and_the_others_wait(campaign, pool, owner, ada):
    judged = list(pool.entries.order_by("priority")[:50:5])
    say(judged, ada)

    rule = ask_to_spare(campaign=campaign, user=owner)

    drawn, checks, spared = (entries(rule, part) for part in (AUDIT, CHECK, SPARED))
    assert (rule.n_zeros, len(drawn)) == (290, 200)
    assert len(drawn) + len(checks) + len(spared) == 290
    assert not {entry.pk for entry in judged} & {zero.entry_id for zero in rule.zeros.all()}
    assert set(rule.zeros.filter(part=AUDIT).values_list("probability", flat=True)) == {200 / 290}
    assert set(rule.zeros.filter(part=CHECK).values_list("probability", flat=True)) <= {0.05}
    assert n_spared(pool) == 90
    assert wanted(pool) == pool.n_wanted - 90
    assert actions() == ["sparing-audit"]


def test_draw_hangs_on_the_pool_alone_and_a_larger_one_holds_it(campaign, owner):
    first = ask_to_spare(campaign=campaign, user=owner)
    drawn = {entry.pk for entry in entries(first, AUDIT)}
    stop_sparing(pool=campaign.pool, user=owner)

    again = ask_to_spare(campaign=campaign, user=owner, n_audit=250)

    assert drawn < {entry.pk for entry in entries(again, AUDIT)}


def test_each_registered_slice_has_its_share(benchmark, campaign, owner):
    query = benchmark.queries.get(qid="q0")
    registered = factories.query_slice(
        benchmark,
        "short",
        query,
        is_registered=True,
        registered_at=timezone.now(),
        members_sha256="a",
    )
    assert SliceMember.objects.filter(slice=registered).count() == 1

    rule = ask_to_spare(campaign=campaign, user=owner)

    in_slice = [zero for zero in zeros_of_all(campaign) if zero.query.qid == "q0"]
    drawn = [entry for entry in entries(rule, AUDIT) if entry.query.qid == "q0"]
    assert abs(len(drawn) - 200 * len(in_slice) / 300) < 1


def zeros_of_all(campaign):
    return list(campaign.pairs.filter(judgment__grade=0).select_related("query"))


def test_what_cannot_be_asked_is_refused_with_the_reason(benchmark, campaign, pool, owner):
    with pytest.raises(TooFewZerosError, match=r"300 documents .* an audit of 300"):
        ask_to_spare(campaign=campaign, user=owner, n_audit=300)
    Campaign.objects.filter(pk=campaign.pk).update(state="running")
    campaign.refresh_from_db()
    with pytest.raises(SparingCampaignError, match="not done"):
        ask_to_spare(campaign=campaign, user=owner)
    Campaign.objects.filter(pk=campaign.pk).update(state="done")
    campaign.refresh_from_db()
    for state in ({"state": "closed"}, {"state": "open", "strategy": "estimate"}):
        Pool.objects.filter(pk=pool.pk).update(**state)
        with pytest.raises(SparingPoolError):
            ask_to_spare(campaign=campaign, user=owner)
    with pytest.raises(SparingIdleError):
        stop_sparing(pool=pool, user=owner)
    Pool.objects.filter(pk=pool.pk).update(strategy="depth-k")
    ask_to_spare(campaign=campaign, user=owner)
    with pytest.raises(SparingActiveError):
        ask_to_spare(campaign=campaign, user=owner)
    assert n_spared(pool) == 100


def test_two_models_are_two_judges_and_refused(benchmark, campaign, owner):
    add_graded(campaign, [benchmark.queries.get(qid="q0")], ["by another"], 0, model="m-2")

    with pytest.raises(SparingCampaignError, match="several models"):
        ask_to_spare(campaign=campaign, user=owner)


def test_known_grades_and_what_somebody_holds_are_no_part_of_it(campaign, pool, owner, ada):
    making.begun(pool, ada)
    held = making.claimed(pool, ada)
    gold = pool.entries.exclude(pk__in=[slot.entry_id for slot in held]).first()
    KnownGrade.objects.create(entry=gold, purpose="gold", grade=0, set_by=owner)

    keys = {zero.entry for zero in zeros_of(campaign)}

    assert not keys & {gold.pk, *(slot.entry_id for slot in held)}
    assert len(keys) == 300 - 1 - len(held)


# --- the audit -----------------------------------------------------------------------------------


def test_rule_waits_until_all_of_the_audit_is_judged(rule, pool, ada):
    drawn = entries(rule, AUDIT)
    say(drawn[:-1], ada)

    output = follow(rule=rule)

    assert output.rule.state == SparingRule.State.AUDITING
    assert output.sentence.startswith("Not allowed yet: 1 of 200 drawn documents wait for people")
    say(drawn[-1:], ada)
    follow_all()
    rule.refresh_from_db()
    assert (rule.state, rule.allowed_at is not None) == ("on", True)
    n_checks = rule.zeros.filter(part=CHECK).count()
    assert n_spared(pool) == 100 - n_checks
    assert wanted(pool) == pool.n_wanted - 100 + n_checks
    assert actions() == ["sparing-audit", "sparing-on"]
    sentence = sparing_of(rule).sentence
    assert sentence.startswith("Allowed: 0 of 200 documents that it gave 0 were relevant")
    assert "bound 0.0149 not above 0.02" in sentence


def test_too_many_relevant_ones_are_not_allowed_and_all_come_back(rule, pool, ada):
    drawn = entries(rule, AUDIT)
    say(drawn[:9], ada, grade=1)
    say(drawn[9:], ada)

    output = follow(rule=rule)

    assert output.rule.state == SparingRule.State.REFUSED
    assert n_spared(pool) == 0
    assert wanted(pool) == pool.n_wanted
    # B(.95; 10, 191), and the least n at which 9 are few enough.
    assert output.sentence == (
        "Not allowed: 9 of 200 documents that it gave 0 are relevant, bound 0.0773 above 0.02. "
        "At least 782 audited in all would be needed, with no further relevant one."
    )
    assert actions() == ["sparing-audit", "sparing-refused"]


def test_first_relevant_one_of_two_hundred_ends_it_as_nothing_could_save_it(rule, pool, ada):
    say(entries(rule, AUDIT)[:1], ada, grade=1)

    assert follow(rule=rule).rule.state == SparingRule.State.REFUSED
    assert n_spared(pool) == 0


def test_what_nobody_could_judge_counts_as_relevant(rule, ada):
    say(entries(rule, AUDIT)[:1], ada, grade=None)

    output = follow(rule=rule)

    assert (output.audit.n_relevant, output.rule.state) == (1, "refused")


def test_adjudicator_settles_what_one_person_found_relevant(rule, ada, owner):
    first = entries(rule, AUDIT)[0]
    (label,) = say([first], ada, grade=1)
    facts = {"benchmark": label.benchmark, "query": label.query, "docid": label.docid}
    settled = {"kind": "adjudicate", "outcome": "override", "grade": 0, "actor": owner}
    Judgment.objects.create(**facts, **settled, client_id="0" * 32)

    assert sparing_of(rule).audit.n_relevant == 0


def test_refused_audit_counts_in_the_next_one(rule, campaign, ada, owner, benchmark):
    say(entries(rule, AUDIT)[:1], ada, grade=1)
    say(entries(rule, AUDIT)[1:], ada)
    follow(rule=rule)
    add_more(campaign)

    again = ask_to_spare(campaign=campaign, user=owner)
    say(entries(again, AUDIT), ada)
    output = follow(rule=again)

    assert (output.audit.n_audited, output.audit.n_relevant, output.n_before) == (400, 1, 200)
    assert output.rule.state == SparingRule.State.ON


def test_what_was_drawn_and_not_judged_is_drawn_again_and_counts_once(rule, campaign, ada, owner):
    first = entries(rule, AUDIT)
    say(first[:1], ada, grade=1)
    follow(rule=rule)
    add_more(campaign)

    again = ask_to_spare(campaign=campaign, user=owner, n_audit=300)
    say(entries(again, AUDIT), ada)
    output = follow(rule=again)

    assert (output.audit.n_relevant, output.rule.state) == (1, "on")
    shared = {entry.pk for entry in first[1:]} & {entry.pk for entry in entries(again, AUDIT)}
    assert shared
    drawn = {entry.pk for entry in [*first[:1], *entries(again, AUDIT)]}
    others = {entry.pk for entry in first} - drawn
    assert output.audit.n_audited == len(drawn)
    assert not others or output.audit.n_audited < len(drawn | others)


# --- checks --------------------------------------------------------------------------------------


def test_checks_switch_it_off_and_what_was_spared_comes_back(allowed, pool, ada):
    checks = entries(allowed, CHECK)
    assert checks
    before = n_spared(pool)
    say(checks[:1], ada, grade=1)

    follow_all()

    allowed.refresh_from_db()
    assert (allowed.state, n_spared(pool)) == ("off", 0)
    assert before
    assert wanted(pool) == pool.n_wanted
    assert actions()[-1] == "sparing-off"
    event = AuditEvent.objects.get(action="sparing-off")
    assert event.actor is None
    assert (event.detail["n_checked_relevant"], event.detail["n_labels"]) == (1, before)
    assert sparing_of(allowed).sentence.startswith("Switched off: of the last 201 audited")


def test_rule_stays_on_while_checks_find_nothing(allowed, pool, ada):
    say(entries(allowed, CHECK), ada)

    output = follow(rule=allowed)

    assert output.rule.state == SparingRule.State.ON
    assert output.n_checked == output.n_checks == len(entries(allowed, CHECK))
    assert output.running.bound < output.audit.bound


def test_rule_that_was_off_begins_anew_with_other_documents(allowed, campaign, owner, ada):
    say(entries(allowed, CHECK)[:1], ada, grade=1)
    follow(rule=allowed)
    add_more(campaign)

    again = ask_to_spare(campaign=campaign, user=owner)

    assert sparing_of(again).n_before == 0
    assert not {e.pk for e in entries(again, AUDIT)} & {e.pk for e in entries(allowed, AUDIT)}


def test_who_asked_may_stop_it(allowed, pool, owner):
    stop_sparing(pool=pool, user=owner)

    allowed.refresh_from_db()
    assert (allowed.state, n_spared(pool), wanted(pool)) == ("stopped", 0, pool.n_wanted)
    assert AuditEvent.objects.get(action="sparing-stopped").actor == owner
    assert sparing_of(allowed).sentence.startswith("Stopped by a person")


def test_sweeper_goes_on_with_other_rules_where_one_breaks(rule, monkeypatch):
    from annotation.sparing import services

    def broken(*, rule):
        raise ValueError

    monkeypatch.setattr(services, "follow", broken)
    follow_all()


# --- people --------------------------------------------------------------------------------------


def test_spared_documents_are_not_asked_and_leave_no_trace_in_what_people_see(
    allowed, pool, ada, benchmark
):
    making.begun(pool, ada)
    spared = {entry.document.docid for entry in entries(allowed, SPARED)}
    fresh = Pool.objects.select_related("benchmark__corpus").get(pk=pool.pk)
    asked: set[str] = set()
    while slots := making.claimed(fresh, ada, 50):
        asked |= making.docids(slots)
        for slot in slots:
            making.judge(slot, ada, 0)

    assert not asked & spared
    assert work_state(fresh, ada).work == Work.FINISHED
    (row,) = queue_rows([fresh], ada)
    assert (row.state.work, row.n_left, row.share) == (Work.FINISHED, 0, 1.0)
    result = progress(fresh, ada.pk)
    assert result["pool"] == {"done": fresh.n_wanted, "total": fresh.n_wanted}


def test_place_in_a_query_counts_what_is_asked_alone(rule, pool, ada):
    from annotation.common.services import statements

    query = pool.benchmark.queries.get(qid="q0")
    n_all = pool.entries.filter(query=query).count()
    n_set_aside = pool.slots.filter(query=query, state=Slot.State.SPARED).count()

    assert n_set_aside
    assert statements.place(pool.pk, query.pk, ada.pk) == (n_all - n_set_aside,) * 2


def test_label_of_a_spared_document_is_extra_and_fills_no_place(allowed, pool, ada):
    entry = entries(allowed, SPARED)[0]
    slot = entry.slots.get()
    label = record_judgment(slot=slot, actor=ada, grade=1, display=Shown(), client_id="1" * 32)

    assert label.is_surplus
    slot.refresh_from_db()
    assert slot.state == Slot.State.SPARED


def test_spared_documents_are_unjudged_in_qrels(allowed, pool, owner, benchmark):
    call_command("publish_qrels", benchmark.slug, name="ours")
    record = benchmark.qrel_sets.get(name="ours")

    pairs = set(record.qrels.values_list("query__qid", "docid"))
    spared = {(e.query.qid, e.document.docid) for e in entries(allowed, SPARED)}
    assert len(pairs) == 200
    assert not pairs & spared
    assert record.parameters["n_spared"] == len(spared)


# --- what must never be false --------------------------------------------------------------------


BROKEN = [
    {"n_audit": 199},
    {"n_zeros": 200},
    {"most_missed": 0.03},
    {"most_missed": 0},
    {"checked_share": 0.01},
    {"state": "on"},
    {"state": "stopped"},
    {"ended_at": timezone.now()},
]


@pytest.mark.parametrize("change", BROKEN)
def test_database_refuses_rules_that_cannot_be(rule, change):
    with pytest.raises(IntegrityError), transaction.atomic():
        SparingRule.objects.filter(pk=rule.pk).update(**change)


def test_database_refuses_a_second_live_rule_and_draws_without_probability(rule):
    with pytest.raises(IntegrityError), transaction.atomic():
        rule.pk = None
        rule.save()
    zero = ZeroEntry.objects.filter(part=AUDIT).first()
    for change in ({"part": SPARED}, {"probability": None}, {"probability": 1.5}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ZeroEntry.objects.filter(pk=zero.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        ZeroEntry.objects.create(rule=zero.rule, entry=zero.entry, part=SPARED)


# --- the pool it is of ---------------------------------------------------------------------------


def test_closing_a_pool_ends_its_rule_and_opening_it_asks_about_every_document(
    pool, allowed, owner
):
    waiting, before = n_spared(pool), wanted(pool)

    set_pool_state(pool=pool, state=Pool.State.CLOSED, actor=owner)
    closed = (n_spared(pool), wanted(pool))
    set_pool_state(pool=pool, state=Pool.State.OPEN, actor=owner)

    allowed.refresh_from_db()
    assert allowed.state == SparingRule.State.STOPPED
    assert closed == (waiting, before)
    assert waiting > 0
    assert (n_spared(pool), wanted(pool)) == (0, before + waiting)
    assert actions()[-1] == "sparing-stopped"


def test_pausing_a_pool_leaves_its_rule(pool, allowed, owner):
    waiting = n_spared(pool)

    set_pool_state(pool=pool, state=Pool.State.PAUSED, actor=owner)
    set_pool_state(pool=pool, state=Pool.State.OPEN, actor=owner)

    allowed.refresh_from_db()
    assert allowed.state == SparingRule.State.ON
    assert n_spared(pool) == waiting
