"""Rehearsals on the site: asked before a candidate is seen, frozen with the policy, shown."""

import json

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.retry import cancel
from benchmarks_app.models import Run
from benchwright.gates.errors import RehearsalError
from scoring.gates.selectors import rehearsal_told
from scoring.gates.services import rehearsing
from scoring.gates.services.errors import GateItselfError, RehearsalTooLateError
from scoring.gates.services.gating import start_gate, told
from scoring.gates.services.policies import make_policy
from scoring.models import GatePolicy, GateRehearsal
from tests import factories
from tests.scoring.gates.test_gates import a_candidate, bench, decided, old, ranked, release
from tests.scoring.hiding import HIDDEN, PUBLIC, hiding_benchmark, hiding_release, lines, plain_run

__all__ = ["bench", "old", "release"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def other(bench):
    return factories.run(bench, ranked(lambda n: 1 + n % 3), name="other", owner=bench.sam)


def asked(bench, old, release, runs, **content):
    return rehearsing.start_rehearsal(
        benchmark=bench,
        release=release,
        name="nightly",
        baseline=old,
        runs=runs,
        content=content,
        user=bench.sam,
    )


def test_a_rehearsal_whose_job_is_cancelled_or_fails_tells_why(bench, old, other, release):
    cancelled = asked(bench, old, release, [other])
    cancel(job=cancelled.job, user=bench.sam)
    cancelled.refresh_from_db()
    assert (cancelled.state, cancelled.error) == ("failed", "Cancelled by sam.")

    failed = asked(bench, old, release, [other])
    GateRehearsal.objects.filter(pk=failed.pk).update(content={"goal": "win"})
    jobs.run_queued()
    failed.refresh_from_db()
    assert failed.state == "failed"
    assert failed.error == failed.job.error != ""


def test_rates_are_frozen_with_the_policy_and_shown_with_its_verdict(
    bench, old, other, release, client
):
    rehearsal = asked(bench, old, release, [other])
    jobs.run_queued()
    rehearsal.refresh_from_db()
    assert (rehearsal.state, rehearsal.result["n_made"]) == ("done", 400)

    policy = rehearsing.freeze_rehearsed(rehearsal=rehearsal, user=bench.sam)
    gate = decided(bench, policy, a_candidate(bench), release)

    assert policy.rehearsal == rehearsal.result
    assert told(gate, bench.sam)["rehearsal"]["rows"] == rehearsal.result["rows"]
    client.force_login(bench.sam)
    page = client.get(gate.get_absolute_url()).content.decode()
    assert "How often this policy is right" in page
    assert "harm to a tenth of the queries" in page
    assert "a tenth of these queries lost 0.4" in page
    report = client.get(reverse("scoring:gate-report", args=[bench.slug, gate.pk, "md"]))
    assert "### How often this policy is right" in report.content.decode()


def test_rates_of_a_frozen_policy_never_change(bench, old, other, release):
    rehearsal = asked(bench, old, release, [other])
    jobs.run_queued()
    rehearsal.refresh_from_db()
    policy = rehearsing.freeze_rehearsed(rehearsal=rehearsal, user=bench.sam)

    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        GatePolicy.objects.filter(pk=policy.pk).update(rehearsal={})


def test_once_a_candidate_is_seen_nothing_is_rehearsed(bench, old, other, release):
    rehearsal = asked(bench, old, release, [other])
    jobs.run_queued()
    policy = rehearsing.freeze_rehearsed(rehearsal=rehearsal, user=bench.sam)
    candidate = a_candidate(bench)
    decided(bench, policy, candidate, release)

    with pytest.raises(RehearsalTooLateError, match="nightly v1 has been asked about 'new'"):
        asked(bench, old, release, [other])
    with pytest.raises(RehearsalTooLateError, match="'new' is a candidate of nightly"):
        asked(bench, old, release, [candidate], margin=0.05)
    assert asked(bench, old, release, [other], margin=0.05).state == "queued"


def test_gate_of_a_private_candidate_is_told_by_no_refusal(bench, old, other, release):
    """Neither that there is one, nor what its candidate is called."""
    tess = factories.member(bench, "tess", "submitter")
    policy = make_policy(benchmark=bench, name="nightly", baseline=old, content={}, user=bench.sam)
    decided(bench, policy, a_candidate(bench, visibility=Run.Visibility.OWNER), release)

    def ask(person):
        return rehearsing.start_rehearsal(
            benchmark=bench,
            release=release,
            name="nightly",
            baseline=old,
            runs=[other],
            content={},
            user=person,
        )

    assert ask(tess).state == "queued"
    with pytest.raises(RehearsalTooLateError, match="has been asked about 'new'"):
        ask(bench.sam)


def test_gate_of_a_keeper_is_told_by_no_refusal():
    hidden = hiding_benchmark()
    release, sam = hiding_release(hidden), factories.member(hidden, "sam", "submitter")
    olga = factories.member(hidden, "olga", "owner")
    old, other = (
        factories.run(hidden, lines(plain_run()), name=name, owner=sam) for name in ("old", "other")
    )
    content = {"guard_rails": {"measures": []}, "delta_min": 0.03}
    policy = make_policy(benchmark=hidden, name="of sam", baseline=old, content=content, user=sam)
    start_gate(policy=policy, candidate=other, release=release, user=olga)

    assert rehearsed_by(sam, release, [old, other], "of sam").state == "done"
    with pytest.raises(RehearsalTooLateError, match="'other' is a candidate of of sam"):
        rehearsed_by(olga, release, [old, other], "of sam")


def test_policy_has_the_rates_there_are_while_another_rehearsal_is_queued(
    bench, old, other, release
):
    asked(bench, old, release, [other])
    jobs.run_queued()
    asked(bench, old, release, [other])

    policy = make_policy(benchmark=bench, name="nightly", baseline=old, content={}, user=bench.sam)

    assert policy.rehearsal["n_made"] == 400


def test_policy_has_no_rates_of_a_rehearsal_that_its_maker_does_not_see(bench, old, release):
    """Of a private run of Sam's; what Tess rehearsed herself is hers, whoever did so later."""
    tess = factories.member(bench, "tess", "submitter")
    hushed = a_candidate(bench, name="hushed", visibility=Run.Visibility.OWNER)
    content = {"delta_min": 0.03}
    asked(bench, old, release, [hushed], **content)
    jobs.run_queued()

    of_tess, of_sam = (
        make_policy(benchmark=bench, name=name, baseline=old, content=content, user=person)
        for name, person in (("of tess", tess), ("of sam", bench.sam))
    )

    assert of_tess.digest == of_sam.digest
    assert (of_tess.rehearsal, bool(of_sam.rehearsal)) == ({}, True)


def test_one_to_ten_other_runs_are_wanted(bench, old, release):
    with pytest.raises(RehearsalError, match="0 runs are named"):
        asked(bench, old, release, [])
    with pytest.raises(GateItselfError):
        asked(bench, old, release, [old])


def test_a_run_that_somebody_does_not_see_has_no_name(bench, old, release):
    factories.run(factories.benchmark("elsewhere", visibility="public"), ranked(int), name="secret")
    fields = {"runs": [{"run": "old", "class": "near"}, {"run": "secret", "class": "near"}]}

    names = [run["run"] for run in rehearsal_told(bench.olga, bench, fields)["runs"]]

    assert names == ["old", "another run"]


def test_the_page_rehearses_a_draft_and_freezes_it(bench, old, other, release, client):
    client.force_login(bench.sam)
    draft = {
        "name": "nightly",
        "baseline": old.pk,
        "goal": "improve",
        "measure": "nDCG@10",
        "margin": 0.02,
        "delta_min": 0.01,
        "alpha": 0.05,
        "labels": "pooled",
        "guard_measures": "R@100",
        "worst_loss": 0.3,
        "worst_share": 0.05,
        "worst_rule": "tested",
        "do": "rehearse",
    }
    new = reverse("scoring:policy-new", args=[bench.slug])

    refused = client.post(new, draft)
    assert refused.status_code == 422
    assert "0 runs are named to rehearse with" in refused.content.decode()
    started = client.post(new, {**draft, "runs": [other.pk]})
    assert 'hx-trigger="every 1s"' in client.get(started.url).content.decode()
    jobs.run_queued()
    page = client.get(started.url).content.decode()
    assert "Freeze the policy" in page
    assert "nightly" in page
    client.post(started.url)

    policy = GatePolicy.objects.get()
    assert policy.rehearsal["baseline"] == "old"
    assert "How often it is right" in client.get(policy.get_absolute_url()).content.decode()


def test_the_api_rehearses_and_policies_tell_their_rates(bench, old, other, release, client):
    client.force_login(bench.sam)
    where = f"/api/v1/benchmarks/{bench.slug}/gates/"
    body = {"name": "nightly", "baseline": "old", "runs": ["other"], "seed": 3}

    def post(path, given):
        text = json.dumps(given)
        return client.post(where + path, text, content_type="application/json")

    many = post("rehearsals/", {**body, "runs": [f"run {number}" for number in range(11)]})
    assert (many.status_code, "no more than 10" in many.content.decode()) == (400, True)
    started = post("rehearsals/", body)
    assert (started.status_code, started.json()["state"]) == (202, "queued")
    jobs.run_queued()
    done = client.get(f"{where}rehearsals/{started.json()['id']}/").json()
    assert (done["state"], done["result"]["seed"]) == ("done", 3)

    answer = post("policies/", {"name": "nightly", "baseline": "old"})
    assert answer.json()["rehearsal"]["rows"] == done["result"]["rows"]
    assert GateRehearsal.objects.get().digest == answer.json()["digest"]


def rehearsed_by(person, release, runs, name):
    rehearsal = rehearsing.start_rehearsal(
        benchmark=release.benchmark,
        release=release,
        name=name,
        baseline=runs[0],
        runs=runs[1:],
        content={"guard_rails": {"measures": []}, "delta_min": 0.03},
        user=person,
    )
    jobs.run_queued()
    return GateRehearsal.objects.get(pk=rehearsal.pk)


def test_rates_rest_on_public_queries_for_who_may_not_see_the_others(client):
    hidden = hiding_benchmark()
    release, sam = hiding_release(hidden), factories.member(hidden, "sam", "submitter")
    olga = factories.member(hidden, "olga", "owner")
    runs = [
        factories.run(hidden, lines(plain_run(**changed)), name=name, owner=sam)
        for name, changed in (("old", {}), ("other", {qid: ["x"] for qid in HIDDEN[::2]}))
    ]

    by_sam = rehearsed_by(sam, release, runs, "of sam")
    whole = rehearsed_by(olga, release, runs, "of olga")
    policy = rehearsing.freeze_rehearsed(rehearsal=whole, user=olga)

    assert [attempt.result["n_queries"] for attempt in (by_sam, whole)] == [len(PUBLIC), 33]
    assert by_sam.result["runs"][0]["sigma"] == 0
    address = f"/api/v1/benchmarks/{hidden.slug}/gates/policies/{policy.pk}/"
    for person, is_told in ((sam, False), (olga, True)):
        client.force_login(person)
        assert bool(client.get(address).json()["rehearsal"]) == is_told
        page = client.get(policy.get_absolute_url()).content.decode()
        assert ("was held against" in page) == is_told
