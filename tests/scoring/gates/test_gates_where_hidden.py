"""Gates where grades are hidden: others than keepers get verdicts on public queries alone."""

import json

import pytest
from django.urls import reverse

from benchmarks_app.common.services.exposure import READ_ACTION
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, QueryFamily, Run
from scoring.gates.services import gating, policies, rehearsing
from scoring.models import ScoreSet, Submission
from scoring.submissions.services.phases import make_phase
from tests import factories
from tests.scoring.hiding import (
    HIDDEN,
    PUBLIC,
    hiding_benchmark,
    hiding_release,
    lines,
    plain_run,
)

pytestmark = pytest.mark.django_db
BETTER = {qid: [f"{qid}-good", f"{qid}-x"] for qid in HIDDEN}


@pytest.fixture
def bench():
    bench = hiding_benchmark()
    bench.sam = factories.member(bench, "sam", "submitter")
    bench.olga = factories.member(bench, "olga", "owner")
    return bench


@pytest.fixture
def release(bench):
    return hiding_release(bench)


@pytest.fixture
def policy(bench, release):
    old = factories.run(bench, lines(plain_run()), name="old", owner=bench.sam)
    content = {"guard_rails": {"measures": []}}
    return policies.make_policy(
        benchmark=bench, name="nightly", baseline=old, content=content, user=bench.sam
    )


def candidate(bench, name, **changed):
    return factories.run(bench, lines(plain_run(**changed)), name=name, owner=bench.sam)


def decided(policy, run, release, person):
    gate = gating.start_gate(policy=policy, candidate=run, release=release, user=person)
    jobs.run_queued()
    gate.refresh_from_db()
    return gate


def test_a_submitter_gets_a_verdict_on_the_public_queries(bench, release, policy, client):
    gate = decided(policy, candidate(bench, "new", **BETTER), release, bench.sam)

    client.force_login(bench.sam)
    page = client.get(gate.get_absolute_url()).content.decode()
    assert (gate.is_public, gate.report["n_queries"]) == (True, len(PUBLIC))
    assert gate.report["sentence"].startswith("On the public queries alone: ")
    assert "Over the public queries alone" in page


def test_what_a_candidate_does_on_hidden_queries_moves_no_public_verdict(bench, release, policy):
    reports = [
        decided(policy, candidate(bench, name, **changed), release, bench.sam).report
        for name, changed in (("run-a", {}), ("run-b", BETTER))
    ]

    plain, better = (json.dumps(report) for report in reports)
    assert plain.replace("run-a", "run-b") == better


def test_a_verdict_on_hidden_queries_is_for_keepers_alone(bench, release, policy, client):
    run = candidate(bench, "new", **BETTER)
    mine, whole = (decided(policy, run, release, person) for person in (bench.sam, bench.olga))

    assert (whole.is_public, whole.report["n_queries"]) == (False, 33)
    assert whole.job.result["made"] == ["a verdict for keepers: new"]
    listed = f"/api/v1/benchmarks/{bench.slug}/gates/"
    for person, code, keys in (
        (bench.sam, 404, {mine.pk}),
        (bench.olga, 200, {mine.pk, whole.pk}),
    ):
        client.force_login(person)
        for name, more in (("detail", []), ("state", []), ("report", ["md"])):
            address = reverse(f"scoring:gate-{name}", args=[bench.slug, whole.pk, *more])
            assert client.get(address).status_code == code
        assert client.get(f"{listed}{whole.pk}/").status_code == code
        assert {result["id"] for result in client.get(listed).json()["results"]} == keys


def test_that_a_keeper_reads_a_verdict_on_hidden_queries_is_written_down(
    bench, release, policy, client
):
    run = candidate(bench, "new", **BETTER)
    mine, whole = (decided(policy, run, release, person) for person in (bench.sam, bench.olga))
    reads = AuditEvent.objects.filter(benchmark=bench, action=READ_ACTION)

    client.force_login(bench.olga)
    client.get(mine.get_absolute_url())
    assert not reads.exists()
    client.get(whole.get_absolute_url())
    assert reads.get().target == f"gate {whole.pk}"
    client.get(reverse("scoring:gate-chart", args=[bench.slug, whole.pk, "csv"]))
    assert reads.filter(target=f"gate {whole.pk}").count() == 2


def test_a_public_gate_goes_on_as_a_public_one_whoever_asked(bench, release, policy):
    run = candidate(bench, "new", **BETTER)
    public = decided(policy, run, release, bench.sam)

    later = gating.start_gate(
        policy=policy,
        candidate=candidate(bench, "newer"),
        release=release,
        user=bench.olga,
        resumes=public,
    )

    assert later.is_public


def test_where_all_queries_are_hidden_a_gate_is_refused_and_says_why(bench, client):
    QueryFamily.objects.filter(queries__qid__in=PUBLIC).update(split="test")
    release = hiding_release(bench)
    old, new = candidate(bench, "old"), candidate(bench, "new")
    policy = policies.make_policy(
        benchmark=bench, name="nightly", baseline=old, content={}, user=bench.sam
    )
    client.force_login(bench.sam)

    sent = {"candidate": new.pk, "release": release.pk}
    page = client.post(policy.get_absolute_url(), sent)
    posted = client.post(
        f"/api/v1/benchmarks/{bench.slug}/gates/",
        {"policy": "nightly", "candidate": "new"},
        content_type="application/json",
    )

    assert (page.status_code, posted.status_code) == (422, 409)
    for answer in (page, posted):
        assert "All graded queries of release 1.0.0 are in hidden splits" in answer.content.decode()


# --- runs of a phase beside the hidden one ---------------------------------------------------


@pytest.fixture
def of_dev(bench, release):
    """A function that sends a run to the phase of the public split, which has its own limit."""
    phase = make_phase(release=release, split="dev", user=bench.olga, daily_limit=100)

    def of_dev(name, **changed):
        content = lines(plain_run(**changed))
        submission = factories.submission(phase, content, by=bench.sam, name=name)
        jobs.run_queued()
        return Run.objects.get(pk=Submission.objects.get(pk=submission.pk).run_id)

    return of_dev


def board_of(client, bench):
    address = f"/api/v1/benchmarks/{bench.slug}/releases/1.0.0/leaderboard/"
    return {row["run"] for row in client.get(address).json()["rows"]}


@pytest.mark.parametrize("asker", ["sam", "olga"])
def test_a_gate_brings_no_run_of_another_phase_to_the_board(
    bench, release, policy, of_dev, client, asker
):
    run = of_dev("beside", **BETTER)

    gate = decided(policy, run, release, getattr(bench, asker))

    assert gate.report["n_queries"] == (len(PUBLIC) if asker == "sam" else 33)
    assert set(run.score_sets.values_list("scorer_version", flat=True)) == {"3/dev"}
    assert board_of(client, bench) == {"old"}


def test_nor_does_a_rehearsal(bench, release, policy, of_dev, client):
    run = of_dev("beside", **BETTER)

    rehearsing.start_rehearsal(
        benchmark=bench,
        release=release,
        name="draft",
        baseline=policy.baseline,
        runs=[run],
        content={"guard_rails": {"measures": []}},
        user=bench.sam,
    )
    jobs.run_queued()

    assert ScoreSet.objects.filter(run=run, release=release).count() == 1
    assert "beside" not in board_of(client, bench)


def test_a_run_that_is_not_scored_gets_the_verdict_of_one_that_is(bench, release, policy, of_dev):
    changed = {PUBLIC[0]: [f"{PUBLIC[0]}-good"]}
    beside, scored = of_dev("run-a", **changed), candidate(bench, "run-b", **changed)

    reports = [decided(policy, run, release, bench.sam).report for run in (beside, scored)]

    plain, other = (json.dumps(report) for report in reports)
    assert plain.replace("run-a", "run-b") == other
