"""Campaigns against a judge on the loopback: asked once, written as they come, gone on with."""

from collections import Counter

import pytest

from annotation.campaigns.selectors import counts_of
from annotation.campaigns.services import asking
from annotation.campaigns.services.drafting import (
    delete_campaign,
    estimate_of,
    prompt_version,
)
from annotation.campaigns.services.errors import (
    CampaignActiveError,
    CampaignBegunError,
    CampaignCapUsedError,
    CampaignDoneError,
    CampaignIdleError,
    CampaignJudgeError,
    CampaignNameError,
    CampaignPricesError,
    ConflictError,
    NoPairsError,
    RunsNeededError,
    TrialPairsError,
)
from annotation.campaigns.services.running import (
    cancel_campaign,
    judge_here,
    pause_campaign,
    start_campaign,
    start_trial,
)
from annotation.models import Campaign, Judgment
from benchmarks_app.judges.services.errors import JudgeInUseError
from benchmarks_app.judges.services.judges import change_judge, delete_judge
from benchmarks_app.models import DocumentContent, Grade, Job
from benchwright.grading.errors import TemplateError
from tests import factories
from tests.annotation import making, making_machines
from tests.annotation.campaigns.making import GRADES, draft, labels, say

pytestmark = pytest.mark.django_db


# --- from draft to labels ------------------------------------------------------------------------


def test_a_campaign_writes_a_label_for_every_document_with_all_that_is_told_of_it(pool, judge):
    campaign = judge_here(campaign=draft(pool, judge, name="first"), user=pool.created_by)

    assert labels() == GRADES
    assert campaign.state == "done"
    assert (campaign.n_pairs, campaign.n_graded, campaign.n_failed) == (5, 5, 0)
    event = Judgment.machines.get(docid="d4")
    assert (event.rater, event.pool, event.slot, event.purpose) == ("umbrela2", pool, None, "")
    assert event.note == "It says so 3 times."
    assert event.content_hash == "hash of d4"
    machine = event.machine
    assert (machine.model, machine.judge_name) == ("m-1-2026-01-01", "umbrela2")
    assert len(machine.prompt.digest) == 64
    assert '"grade": 3' in machine.raw
    # The stub might have said 4 three times in ten, which is no grade of the scale.
    assert machine.probabilities == {"0": 0.0, "1": 0.0, "2": 0.0, "3": 1.0}
    assert machine.cost == (machine.tokens_in * 1.0 + machine.tokens_out * 2.0) / 1_000_000
    paid = sum(Judgment.machines.values_list("machine__cost", flat=True))
    assert campaign.cost == pytest.approx(paid)
    assert not pool.slots.exclude(state="free").exists()


def test_the_judge_is_asked_with_scale_guideline_and_description(benchmark, pool, judge, stub):
    making.guideline(benchmark, 3)
    benchmark.queries.filter(qid="q1").update(description="All of it", narrative="And more")
    Grade.objects.filter(benchmark=benchmark, value=1).update(anchor="It is near")

    judge_here(campaign=draft(pool, judge), user=pool.created_by)

    asked = next(request for request in stub.requests if "All of it" in request.text)
    assert "Read, then grade." in asked.text
    assert "And more" in asked.text
    assert "It is near" in asked.text
    prompt = Campaign.objects.get().prompt
    assert (prompt.version, prompt.guideline.version) == (1, 3)
    assert {event.guideline for event in Judgment.machines.all()} == {prompt.guideline}


def test_the_same_words_are_one_version_and_others_the_next(benchmark, owner):
    words = {"benchmark": benchmark, "user": owner}

    first = prompt_version(template="{query} {document}", **words)
    same = prompt_version(template="{query} {document}", **words)
    cut = prompt_version(template="{query} {document}", max_characters=500, **words)
    making.guideline(benchmark, 2)
    later = prompt_version(template="{query} {document}", **words)

    assert first == same
    assert [judge_prompt.version for judge_prompt in (first, cut, later)] == [1, 2, 3]
    assert later.guideline.version == 2


def test_a_template_without_its_slots_is_refused(pool, judge):
    with pytest.raises(TemplateError, match="document"):
        draft(pool, judge, template="only {query}")


def test_a_second_campaign_pays_for_nothing_that_was_answered(pool, judge, stub):
    judge_here(campaign=draft(pool, judge), user=pool.created_by)
    asked = len(stub.requests)

    again = judge_here(campaign=draft(pool, judge), user=pool.created_by)

    assert (asked, len(stub.requests)) == (5, 5)
    assert (again.n_graded, again.cost, counts_of(again).n_cached) == (5, 0.0, 5)
    of_second = Judgment.machines.filter(machine__campaign=again)
    assert set(of_second.values_list("machine__is_cached", flat=True)) == {True}
    assert sorted(labels()) == sorted([*GRADES, *GRADES])


@pytest.mark.parametrize("change", [{"template": "{query}\n{document}"}, {"max_characters": 200}])
def test_another_prompt_is_another_question(pool, judge, stub, change):
    judge_here(campaign=draft(pool, judge), user=pool.created_by)

    judge_here(campaign=draft(pool, judge, **change), user=pool.created_by)

    assert len(stub.requests) == 10


# --- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("refusal", "judge-refusal"),
        ("filter", "judge-filter"),
        ("length", "judge-length"),
        ("bad-json", "judge-answer"),
        ("out-of-scale", "judge-answer"),
        ("injected", "judge-answer"),
        ("no-grade", "judge-answer"),
        ("500", "judge-server"),
        ("cut", "judge-connection"),
    ],
)
def test_an_answer_of_no_use_is_an_error_of_its_pair_and_is_asked_again_on_wish(
    pool, judge, stub, fault, code
):
    stub.script("nothing", fault, fault)

    campaign = judge_here(campaign=draft(pool, judge), user=pool.created_by)

    (failed,) = campaign.pairs.failed()
    assert (failed.docid, failed.state) == ("d2", "failed")
    assert failed.error
    assert failed.error_code == code
    assert (campaign.n_graded, campaign.n_failed, campaign.state) == (4, 1, "done")
    stub.scripts.clear()
    mended = judge_here(campaign=campaign, user=pool.created_by, with_failed=True)
    assert (mended.n_graded, mended.n_failed) == (5, 0)
    assert labels() == GRADES
    assert Counter(request.document() for request in stub.requests)["A title\nuseful useful\n"] == 1


def test_a_document_without_a_text_fails_alone(pool, judge):
    DocumentContent.objects.filter(document__docid="d2").update(title="", text="")

    campaign = judge_here(campaign=draft(pool, judge), user=pool.created_by)

    (failed,) = campaign.pairs.failed()
    assert failed.docid == "d2"
    assert campaign.n_graded == 4


def test_no_access_ends_the_campaign_with_its_reason(pool, judge, stub):
    stub.key = "another"

    campaign = judge_here(campaign=draft(pool, judge, concurrency=1), user=pool.created_by)

    assert campaign.state == "failed"
    assert "key" in campaign.error
    assert len(stub.requests) == 1
    stub.key = ""
    assert judge_here(campaign=campaign, user=pool.created_by, with_failed=True).n_graded == 5


def test_the_money_limit_ends_it_and_a_higher_one_goes_on(pool, judge, stub):
    campaign = draft(pool, judge, cost_cap=1e-9, concurrency=1)
    campaign = judge_here(campaign=campaign, user=pool.created_by)

    assert (campaign.state, campaign.n_graded) == ("capped", 1)
    with pytest.raises(CampaignCapUsedError):
        start_campaign(campaign=campaign, user=pool.created_by)
    done = judge_here(campaign=campaign, user=pool.created_by, cost_cap=1.0)
    assert (done.state, done.n_graded, len(stub.requests)) == ("done", 5, 5)


def test_a_pause_lets_what_is_under_way_end_and_begins_nothing(pool, judge, stub, monkeypatch):
    monkeypatch.setattr(asking, "LOOKS_EVERY_SECONDS", 0.0)
    keep = asking._Course.keep

    def keep_and_pause(self, *kept):
        pause_campaign(campaign=self.campaign, user=pool.created_by)
        keep(self, *kept)

    monkeypatch.setattr(asking._Course, "keep", keep_and_pause)
    campaign = judge_here(campaign=draft(pool, judge, concurrency=1), user=pool.created_by)

    assert campaign.state == "paused"
    assert 1 <= campaign.n_graded < 5
    monkeypatch.setattr(asking._Course, "keep", keep)
    resumed = judge_here(campaign=campaign, user=pool.created_by)
    assert (resumed.state, labels(), len(stub.requests)) == ("done", GRADES, 5)


def test_an_attempt_after_a_lost_one_pays_for_nothing_that_was_written(pool, judge, stub, do_jobs):
    """As after kill -9: the row says running, and some pairs have their labels."""
    campaign = draft(pool, judge)
    start_campaign(campaign=campaign, user=pool.created_by)
    whole = asking._Course.keep
    kept = []

    def keep_two(self, *one):
        if len(kept) == 2:
            raise SystemExit  # nothing is tidied up after it
        kept.append(whole(self, *one))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking._Course, "keep", keep_two)
        with pytest.raises(SystemExit):
            do_jobs()
    Job.objects.update(state="queued", token=None)  # as the sweeper does
    written = set(Judgment.machines.values_list("query__qid", "docid"))
    assert len(written) == 2
    before = len(stub.requests)

    do_jobs()

    assert labels() == GRADES
    asked_again = len(stub.requests) - before
    assert asked_again == 5 - len(written)


# --- what is refused -----------------------------------------------------------------------------


def test_starting_twice_and_deleting_under_way_are_refused(pool, judge):
    campaign = draft(pool, judge)
    start_campaign(campaign=campaign, user=pool.created_by)
    campaign.refresh_from_db()

    for forbidden in (start_campaign, delete_campaign, start_trial):
        with pytest.raises(CampaignActiveError):
            forbidden(campaign=campaign, user=pool.created_by)
    with pytest.raises(JudgeInUseError):
        delete_judge(judge=judge, user=pool.created_by)


def test_a_cancelled_campaign_keeps_its_labels_and_goes_on(pool, judge):
    campaign = draft(pool, judge)
    start_campaign(campaign=campaign, user=pool.created_by)
    campaign.refresh_from_db()

    cancel_campaign(campaign=campaign, user=pool.created_by)

    campaign.refresh_from_db()
    assert campaign.state == "cancelled"
    assert judge_here(campaign=campaign, user=pool.created_by).n_graded == 5
    campaign.refresh_from_db()
    with pytest.raises(CampaignDoneError):
        start_campaign(campaign=campaign, user=pool.created_by)
    with pytest.raises(CampaignIdleError):
        pause_campaign(campaign=campaign, user=pool.created_by)
    with pytest.raises(CampaignBegunError):
        delete_campaign(campaign=campaign, user=pool.created_by)


def test_a_draft_can_be_deleted(pool, judge):
    campaign = draft(pool, judge)

    delete_campaign(campaign=campaign, user=pool.created_by)

    assert not Campaign.objects.exists()


def test_another_model_behind_the_judge_needs_a_campaign_of_its_own(pool, judge):
    campaign = draft(pool, judge)
    change_judge(judge=judge, user=pool.created_by, model="m-2")
    campaign.refresh_from_db()

    with pytest.raises(CampaignJudgeError, match="another model"):
        start_campaign(campaign=campaign, user=pool.created_by)


def test_a_deleted_judge_leaves_its_labels_under_its_name(pool, judge):
    judge_here(campaign=draft(pool, judge), user=pool.created_by)

    delete_judge(judge=judge, user=pool.created_by)

    assert labels() == GRADES
    assert Campaign.objects.get().judge is None


def test_a_limit_without_prices_and_a_name_twice_are_refused(benchmark, pool, judge):
    free = making_machines.judge(benchmark, "free")
    draft(pool, judge, name="one")

    with pytest.raises(CampaignPricesError):
        draft(pool, free, cost_cap=1.0)
    with pytest.raises(CampaignNameError):
        draft(pool, judge, name="one")


# --- which documents -----------------------------------------------------------------------------


def test_a_sample_is_drawn_by_its_seed_with_its_probability(pool, judge):
    first = draft(pool, judge, choice="sample", n_sample=2, seed=11)
    second = draft(pool, judge, choice="sample", n_sample=2, seed=11)

    picked = [
        list(chosen_campaign.pairs.values_list("query", "docid"))
        for chosen_campaign in (first, second)
    ]
    assert picked[0] == picked[1]
    assert set(first.pairs.values_list("probability", flat=True)) == {0.4}
    assert (first.n_pairs, first.seed, first.n_sample) == (2, 11, 2)


def test_unjudged_documents_of_a_run_leave_out_what_people_judged(benchmark, pool, judge, ada):
    run = factories.run(benchmark, "q1 Q0 d1 1 1.0 s", name="bm25")
    pool.pool_runs.create(run=run, depth=3)
    say(ada, "d1", 2, pool)

    campaign = draft(pool, judge, choice="unjudged", runs=["bm25"])

    assert "d1" not in set(campaign.pairs.values_list("docid", flat=True))
    assert campaign.n_pairs == 4
    for wrong in ([], ["another"]):
        with pytest.raises(RunsNeededError, match="bm25"):
            draft(pool, judge, choice="unjudged", runs=wrong)
    for choice in ("all", "sample"):
        with pytest.raises(RunsNeededError, match="and with that choice alone; this one is "):
            draft(pool, judge, choice=choice, runs=["bm25"])


def test_a_pool_without_documents_is_refused(benchmark, judge):
    with pytest.raises(NoPairsError):
        draft(making.pool(benchmark, {}, name="empty"), judge)


def test_estimate_counts_every_question(pool, judge, stub):
    campaign = draft(pool, judge)

    estimate = estimate_of(campaign)

    judge_here(campaign=campaign, user=pool.created_by)
    n_tokens = sum(len(request.system) + len(request.text) for request in stub.requests) // 4
    assert (estimate.n_pairs, estimate.n_queries) == (5, 2)
    assert estimate.tokens_in == pytest.approx(n_tokens, rel=0.02)
    assert estimate.tokens_out == 5 * 80
    cost = (estimate.tokens_in * 1.0 + estimate.tokens_out * 2.0) / 1e6
    assert estimate.cost == pytest.approx(cost)


# --- the trial -----------------------------------------------------------------------------------


def test_a_trial_shows_peoples_grades_beside_and_writes_nothing_into_the_ledger(
    pool, judge, stub, ada, do_jobs
):
    say(ada, "d1", 3, pool)
    campaign = draft(pool, judge)
    start_trial(campaign=campaign, user=pool.created_by)

    do_jobs()

    campaign.refresh_from_db()
    (row,) = campaign.trial["rows"]
    assert (row["docid"], row["people"], row["grade"]) == ("d1", [3], 2)
    assert not Judgment.machines.exists()
    assert counts_of(campaign).cost == campaign.trial["cost"] > 0
    done = judge_here(campaign=campaign, user=pool.created_by)
    assert len(stub.requests) == 5  # what the trial asked is not asked again
    assert done.cost == pytest.approx(sum(done.labels.values_list("cost", flat=True)))


def test_a_trial_needs_something_that_people_judged(pool, judge):
    with pytest.raises(TrialPairsError):
        start_trial(campaign=draft(pool, judge), user=pool.created_by)


# --- conflicts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "reason", "is_refused"),
    [
        ("refuse", "we looked", True),
        ("explain", " ", True),
        ("explain", "we looked at it by hand", False),
        ("tell", "", False),
    ],
)
def test_a_judge_of_a_runs_family_is_refused_by_default(
    pool, judge, own_work, settings, rule, reason, is_refused
):
    settings.JUDGE_CONFLICTS = rule

    if is_refused:
        with pytest.raises(ConflictError, match=r"reranked \(openai\)"):
            draft(pool, judge, conflict_reason=reason)
    else:
        assert draft(pool, judge, conflict_reason=reason).conflict_reason == reason


def test_the_sites_families_take_the_place_of_the_known_ones(pool, judge, own_work, settings):
    settings.JUDGE_FAMILIES = {"ours": ("bert",)}

    assert draft(pool, judge).n_pairs == 5
