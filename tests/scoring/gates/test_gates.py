"""Gates of the site: frozen policies, verdicts by jobs, waiting for labels, what is hidden."""

import hashlib
import json
import xml.etree.ElementTree as ElementTree
from datetime import timedelta

import pytest
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import ProtectedError
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.retry import cancel
from benchmarks_app.models import (
    CandidateList,
    ContaminatedQuery,
    ContaminationCheck,
    Job,
    Qrel,
    QrelSet,
    Query,
    QueryFamily,
    Run,
    Team,
    User,
)
from benchmarks_app.people.services.api_tokens import create_api_token
from benchwright.gates.errors import PolicyFormatError, PolicySplitError
from benchwright.gates.policy import canonical
from scoring.gates import selectors
from scoring.gates.services import gating, online, policies
from scoring.gates.services.errors import (
    GateItselfError,
    GateRunError,
    GateUndecidedError,
    OnlineIntervalError,
    PolicyAfterCandidateError,
    PolicyRetiredError,
    PolicySlicesError,
    PolicyThereError,
)
from scoring.models import GatePolicy, GateResult, OnlineResult, Submission
from scoring.scores.services.slice_scores import slice_parts
from scoring.scores.shown import any_measure
from tests import factories
from tests.benchwright.cli.sites import sites

pytestmark = pytest.mark.django_db
N = 40
QIDS = [f"q{n:02}" for n in range(N)]


def ranked(rank_of, name="run", queries=QIDS):
    """A run that puts the relevant document of query n at rank `rank_of(n)`, from 0, of four."""
    lines = []
    for n, qid in enumerate(queries):
        order = ["d1", "d2", "d3"]
        order.insert(rank_of(n), "d0")
        lines += [f"{qid} Q0 {docid} {i} {9 - i} {name}" for i, docid in enumerate(order, 1)]
    return "\n".join(lines)


def labels(bench, grades, name=""):
    """Qrels that can be released."""
    qrels = factories.qrel_set(bench, {}, name)
    keys = dict(bench.queries.values_list("qid", "pk"))
    Qrel.objects.bulk_create(
        Qrel(qrel_set=qrels, query_id=keys[qid], docid=docid, grade=grade)
        for (qid, docid), grade in grades.items()
    )
    QrelSet.objects.filter(pk=qrels.pk).update(n_qrels=len(grades), n_relevant=N)
    qrels.refresh_from_db()
    return qrels


def graded(judged=("d0", "d1", "d2", "d3")):
    return {(qid, docid): int(docid == "d0") for qid in QIDS for docid in judged}


@pytest.fixture
def bench():
    """Forty queries with four graded documents each; 30 of them are a registered slice."""
    result = factories.benchmark("bench", visibility="public")
    families = QueryFamily.objects.bulk_create(QueryFamily(benchmark=result) for _ in QIDS)
    Query.objects.bulk_create(
        Query(benchmark=result, qid=qid, text=qid, family=family)
        for qid, family in zip(QIDS, families, strict=True)
    )
    result.olga = factories.member(result, "olga", "owner")
    result.sam = factories.member(result, "sam", "submitter")
    factories.query_slice(result, "most", *result.queries.filter(qid__in=QIDS[:30]), minimum=30)
    return result


def registered(of):
    from benchmarks_app.slices.services.changes import register_slice

    register_slice(of=of, actor=of.benchmark.olga)


@pytest.fixture
def old(bench):
    return factories.run(bench, ranked(lambda n: 2 + n % 2), name="old", owner=bench.sam)


@pytest.fixture
def release(bench, old, do_jobs):
    grades = labels(bench, graded())
    result = factories.release(grades, by=bench.olga)
    do_jobs()
    return result


def a_policy(bench, old, **content):
    return policies.make_policy(
        benchmark=bench, name="nightly", baseline=old, content=content, user=bench.sam
    )


def a_candidate(bench, rank_of=lambda n: n % 2, name="new", **more):
    return factories.run(bench, ranked(rank_of, name), name=name, owner=bench.sam, **more)


def decided(bench, policy, candidate, release):
    gate = gating.start_gate(policy=policy, candidate=candidate, release=release, user=bench.sam)
    jobs.run_queued()
    gate.refresh_from_db()
    return gate


# --- policies ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("bpref", "Rprec", "F@10", "R_cap@5", "SetR", "R(judged_only=True)@100", "RR@10"),
        *("P(rel=3)@5", "P(rel=1)@5"),
    ],
)
def test_measures_of_a_policy_count_the_grades_that_boards_count(
    bench, old, release, name, monkeypatch
):
    monkeypatch.setattr(policies, "relevance_threshold", lambda _: 2)

    policy = a_policy(bench, old, measure=name, guard_rails={"measures": [name]})

    shown = any_measure(name, 2).name
    assert ("rel=" in shown) == ("rel=1" not in name)
    assert policy.content["measure"] == shown
    assert policy.content["guard_rails"]["measures"] == [shown]


def test_a_policy_is_whole_and_has_the_digest_of_its_content(bench, old, release):
    policy = a_policy(bench, old, goal="not_worse")

    assert (policy.version, policy.content["baseline"], policy.content["margin"]) == (
        1,
        "old",
        0.02,
    )
    canonical = json.dumps(policy.content, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(canonical.encode()).hexdigest() == policy.digest


def test_a_policy_from_before_the_rule_decides_by_its_hard_limit(bench, old, release):
    rails = {"worst_loss": 0.05}
    result = policies.policy_of(bench, {"guard_rails": rails}, baseline=old).as_dict()
    del result["guard_rails"]["worst_rule"]
    digest = hashlib.sha256(canonical(result).encode()).hexdigest()
    record = GatePolicy.objects.create(
        benchmark=bench,
        name="before",
        version=1,
        baseline=old,
        content=result,
        digest=digest,
        created_by=bench.sam,
    )
    tested = a_policy(bench, old, guard_rails={**rails, "worst_rule": "tested"})
    candidate = a_candidate(bench, lambda n: 3 if n < 12 else n % 2)

    gate = decided(bench, record, candidate, release)

    assert (gate.verdict, gate.report["policy_sha256"]) == ("block", digest)
    assert gate.report["policy"]["guard_rails"]["worst_rule"] == "share"
    assert decided(bench, tested, candidate, release).verdict == "pass"


CHANGES = [
    {"content": {}},
    {"digest": "0" * 64},
    {"name": "other"},
    {"version": 7},
    {"created_at": timezone.now() - timedelta(days=9)},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: next(iter(one)))
def test_a_policy_refuses_every_change_by_every_path(bench, old, release, change):
    policy = a_policy(bench, old)

    with pytest.raises(IntegrityError, match="gate policy never changes"), transaction.atomic():
        GatePolicy.objects.filter(pk=policy.pk).update(**change)
    with pytest.raises(IntegrityError, match="gate policy never changes"), transaction.atomic():
        for name, value in change.items():
            setattr(policy, name, value)
        policy.save()
    assert GatePolicy.objects.get(pk=policy.pk).content["baseline"] == "old"


def test_neither_its_baseline_nor_the_policy_itself_can_be_taken_away(bench, old, release):
    policy = a_policy(bench, old)
    other = a_candidate(bench)

    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        GatePolicy.objects.filter(pk=policy.pk).update(baseline=other)
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        policy.delete()
    with pytest.raises(ProtectedError):
        old.delete()


def test_a_policy_is_retired_once_and_for_all(bench, old, release):
    policy = policies.retire_policy(policy=a_policy(bench, old), user=bench.sam)
    first = GatePolicy.objects.get(pk=policy.pk).retired_at

    policies.retire_policy(policy=policy, user=bench.sam)
    assert GatePolicy.objects.get(pk=policy.pk).retired_at == first
    for change in (None, timezone.now()):
        with pytest.raises(IntegrityError), transaction.atomic():
            GatePolicy.objects.filter(pk=policy.pk).update(retired_at=change)
    with pytest.raises(PolicyRetiredError, match="was retired on"):
        decided(bench, policy, a_candidate(bench), release)


def test_retiring_and_changing_at_once_is_refused(bench, old, release):
    policy = a_policy(bench, old)

    with pytest.raises(IntegrityError), transaction.atomic():
        GatePolicy.objects.filter(pk=policy.pk).update(retired_at=timezone.now(), digest="1" * 64)


def test_a_change_is_a_new_version_and_none_is_refused(bench, old, release):
    a_policy(bench, old)
    with pytest.raises(PolicyThereError, match="nightly v1 says the same already"):
        a_policy(bench, old)

    assert a_policy(bench, old, margin=0.05).version == 2


def test_a_policy_that_was_retired_is_made_again_as_a_new_version(bench, old, release):
    policies.retire_policy(policy=a_policy(bench, old), user=bench.sam)

    assert a_policy(bench, old).version == 2


def test_slices_of_a_policy_are_registered_ones(bench, old, release):
    with pytest.raises(
        PolicySlicesError, match=r"slices most are not registered on release 1\.0\.0"
    ):
        a_policy(bench, old, slices=["most"])


def test_a_policy_with_a_wrong_field_is_told(bench, old, release):
    with pytest.raises(PolicyFormatError, match="goal is 'win'"):
        a_policy(bench, old, goal="win")


def test_runs_of_elsewhere_and_withdrawn_ones_are_no_baselines(bench, old, release):
    other = factories.run(factories.benchmark("other"), "q Q0 d 1 1 t", name="x")
    with pytest.raises(GateRunError, match="belongs to another benchmark"):
        a_policy(bench, other)
    old.withdrawn_at = timezone.now()
    with pytest.raises(GateRunError, match="was withdrawn"):
        a_policy(bench, old)


# --- verdicts ------------------------------------------------------------------------------------


def test_a_better_candidate_passes_with_its_whole_report(bench, old, release):
    gate = decided(bench, a_policy(bench, old), a_candidate(bench), release)

    assert (gate.state, gate.verdict) == ("decided", "pass")
    assert "strong candidate for an A/B test" in gate.report["sentence"]
    assert gate.report["policy_sha256"] == gate.policy.digest
    assert [check["name"] for check in gate.report["checks"]] == [
        *("comparable", "overall", "slices", "guard_rails", "process")
    ]


@pytest.mark.parametrize(
    ("rank_of", "goal", "verdict"),
    [
        (lambda n: 2 + n % 2, "improve", "inconclusive"),
        (lambda n: 2 + n % 2, "not_worse", "pass"),
        (lambda n: 3, "improve", "block"),
    ],
)
def test_the_verdict_is_that_of_the_numbers(bench, old, release, rank_of, goal, verdict):
    gate = decided(bench, a_policy(bench, old, goal=goal), a_candidate(bench, rank_of), release)

    assert gate.verdict == verdict


def test_a_candidate_seen_before_the_policy_is_held_back(bench, old, release):
    candidate = a_candidate(bench)
    gate = decided(bench, a_policy(bench, old), candidate, release)

    assert gate.verdict == "hold"
    assert "Policy before candidate (flagged)" in gate.report["sentence"]


def test_a_policy_changed_after_the_upload_is_refused(bench, old, release):
    a_policy(bench, old)
    candidate = a_candidate(bench)

    with pytest.raises(PolicyAfterCandidateError, match="nightly v2 was changed after 'new'"):
        decided(bench, a_policy(bench, old, margin=0.1), candidate, release)


def test_asked_twice_it_is_decided_once_and_never_changes(bench, old, release):
    policy, candidate = a_policy(bench, old), a_candidate(bench)
    gate = decided(bench, policy, candidate, release)

    assert decided(bench, policy, candidate, release) == gate
    assert GateResult.objects.count() == 1
    for change in ({"verdict": "block"}, {"report": {}}, {"state": "queued"}):
        with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
            GateResult.objects.filter(pk=gate.pk).update(**change)


def test_of_two_who_ask_at_once_both_get_one_gate(bench, old, release, monkeypatch):
    policy, candidate = a_policy(bench, old), a_candidate(bench)
    terms = {"policy": policy, "candidate": candidate, "release": release}

    def another_is_first(*_):
        GateResult.objects.create(**terms, created_by=bench.olga)

    monkeypatch.setattr(gating, "_check", another_is_first)
    gate = gating.start_gate(**terms, user=bench.sam)

    assert (GateResult.objects.get(), gate.created_by) == (gate, bench.olga)


def test_the_baseline_is_no_candidate(bench, old, release):
    with pytest.raises(GateItselfError, match="'old' is the baseline of nightly v1"):
        decided(bench, a_policy(bench, old), old, release)


def test_a_withdrawn_run_is_no_candidate(bench, old, release):
    withdrawn = a_candidate(bench)
    withdrawn.withdrawn_at = timezone.now()
    with pytest.raises(GateRunError, match="'new' was withdrawn"):
        decided(bench, a_policy(bench, old), withdrawn, release)


def test_nothing_is_held_against_a_baseline_that_was_withdrawn(bench, old, release):
    policy = a_policy(bench, old)
    Run.objects.filter(pk=old.pk).update(withdrawn_at=timezone.now())
    policy.refresh_from_db()

    with pytest.raises(GateRunError, match="'old' was withdrawn"):
        decided(bench, policy, a_candidate(bench), release)


def test_unanswered_queries_are_not_comparable_and_wait_for_nothing(bench, old, release):
    policy = a_policy(bench, old)
    few = factories.run(bench, ranked(lambda n: 0, queries=QIDS[:37]), name="few", owner=bench.sam)
    gate = decided(bench, policy, few, release)

    assert (gate.verdict, gate.state, gate.n_waiting) == ("not_comparable", "decided", 0)
    assert "q37, q38, q39" in gate.report["sentence"]


def test_a_failure_is_told_and_can_be_asked_again(bench, old, release):
    policy, candidate = a_policy(bench, old, measure="AP"), a_candidate(bench)
    Run.objects.filter(pk=candidate.pk).update(parquet="runs/gone.parquet")
    gate = decided(bench, policy, candidate, release)
    assert (gate.state, gate.verdict) == ("failed", "")
    assert gate.error == gate.job.error != ""

    Run.objects.filter(pk=candidate.pk).update(parquet=candidate.parquet)
    assert decided(bench, policy, candidate, release).verdict == "pass"


def test_a_gate_whose_job_is_cancelled_has_failed_and_can_be_asked_again(bench, old, release):
    policy, candidate = a_policy(bench, old), a_candidate(bench)
    gate = gating.start_gate(policy=policy, candidate=candidate, release=release, user=bench.sam)

    cancel(job=gate.job, user=bench.sam)

    gate.refresh_from_db()
    assert (gate.state, gate.error) == ("failed", "Cancelled by sam.")
    again = decided(bench, policy, candidate, release)
    assert (again, again.verdict, again.error) == (gate, "pass", "")


def test_a_gate_whose_job_gets_another_attempt_waits_for_it(bench, old, release, monkeypatch):
    policy, candidate = a_policy(bench, old), a_candidate(bench)

    def away(**_):
        raise OperationalError("the database restarts")

    with monkeypatch.context() as patch:
        patch.setattr(gating, "evidence_of", away)
        gate = decided(bench, policy, candidate, release)

    assert (gate.state, gate.error) == ("queued", "")


def test_a_registered_slice_decides_and_another_one_is_exploratory(bench, old, do_jobs):
    most = bench.slices.get()
    most.benchmark = bench
    registered(most)
    factories.query_slice(bench, "late", *bench.queries.filter(qid__in=QIDS[5:]), minimum=30)
    release = factories.release(labels(bench, graded()), by=bench.olga)
    do_jobs()
    policy = a_policy(bench, old, slices=["most"])
    gate = decided(bench, policy, a_candidate(bench, lambda n: 3 if n < 30 else 0), release)

    outcomes = {
        finding["name"]: finding["outcome"] for finding in gate.report["checks"][2]["findings"]
    }
    assert outcomes == {"most": "regression", "late": "exploratory"}
    assert gate.verdict == "block"


def test_a_policy_of_a_split_looks_at_its_queries_alone(bench, old, release, monkeypatch):
    splits = {"dev": tuple(QIDS[:6]), "test": tuple(QIDS[6:])}
    monkeypatch.setattr("scoring.gates.services.policies.release_splits", lambda release: splits)
    with pytest.raises(PolicySplitError, match=r"split 'train'.*expected one of dev, test"):
        a_policy(bench, old, split="train")
    policy = a_policy(bench, old, split="test")
    few = factories.run(
        bench, ranked(lambda n: n % 2, queries=QIDS[6:]), name="few", owner=bench.sam
    )
    gate = decided(bench, policy, few, release)

    assert (gate.verdict, gate.report["n_queries"]) == ("pass", N - 6)


def test_contaminated_queries_and_stale_labels_of_other_splits_do_not_count(
    bench, old, release, monkeypatch
):
    from benchmarks_app import label_facts
    from benchmarks_app.label_facts import LabelRecord

    splits = {"train": tuple(QIDS[:30]), "test": tuple(QIDS[30:])}
    monkeypatch.setattr("scoring.gates.services.policies.release_splits", lambda release: splits)
    # Of train 20 queries, of test 4 are contaminated; all labels of train are old, and 8 of 40.
    check = ContaminationCheck.objects.create(
        benchmark=bench,
        name="list",
        kind="queries",
        n_outside=9,
        n_exact=0,
        n_near=24,
        n_possible=0,
        created_by=bench.olga,
    )
    for query in bench.queries.filter(qid__in=[*QIDS[:20], *QIDS[30:34]]):
        ContaminatedQuery.objects.create(
            check_made=check, query=query, degree="near", similarity=0.9
        )
    # What may be alike is not counted.
    ContaminatedQuery.objects.create(
        check_made=check, query=bench.queries.get(qid=QIDS[39]), degree="possible", similarity=0.6
    )
    long_ago = timezone.now() - timedelta(days=500)
    rows = [
        LabelRecord(qid, docid, "", long_ago if qid in QIDS[:32] else timezone.now())
        for qid, docid in graded()
    ]
    monkeypatch.setattr(label_facts, "RECORDERS", [lambda qrel_set: rows])

    policy = a_policy(bench, old, split="test", slices=[])
    gate = decided(bench, policy, a_candidate(bench), release)

    process = next(check for check in gate.report["checks"] if check["name"] == "process")
    facts = {finding["name"]: finding for finding in process["findings"]}
    contamination, fresh = facts["Contamination"], facts["Fresh labels"]
    assert contamination["numbers"] == {"n": 4, "share": 0.4}
    assert fresh["numbers"] == {"share": 8 / 40}
    assert fresh["reason"].startswith("20.0 % of the labels are stale")


# --- waiting for labels --------------------------------------------------------------------------


@pytest.fixture
def half(bench, old, do_jobs):
    """A release in which half of the first documents are judged."""
    result = factories.release(labels(bench, graded(("d0", "d1"))), by=bench.olga)
    do_jobs()
    return result


@pytest.fixture
def waiting(bench, old, half):
    return decided(bench, a_policy(bench, old), a_candidate(bench), half)


def test_too_little_judged_waits_for_so_many_labels(waiting):
    assert (waiting.state, waiting.verdict) == ("waiting", "not_comparable")
    assert waiting.n_waiting == waiting.candidates.n_documents > 0
    assert waiting.report["changes"] == [f"Judge {waiting.n_waiting} documents."]


def test_a_release_that_holds_the_labels_decides_by_itself(bench, waiting, do_jobs):
    later = factories.release(labels(bench, graded(), "all"), "1.1.0", by=bench.olga)
    while do_jobs():
        pass

    resumed = GateResult.objects.get(resumes=waiting)
    assert (resumed.release, resumed.verdict) == (later, "pass")
    waiting.refresh_from_db()
    assert waiting.state == "waiting"


def test_a_gate_that_was_asked_for_on_a_later_release_waits_no_more(bench, waiting, do_jobs):
    """Its labels are not there yet; once they are, the newest of the two goes on alone."""
    some = factories.release(labels(bench, graded(("d0", "d1")), "some"), "1.1.0", by=bench.olga)
    do_jobs()
    by_hand = decided(bench, waiting.policy, waiting.candidate, some)
    assert by_hand.state == "waiting"

    factories.release(labels(bench, graded(), "all"), "1.2.0", by=bench.olga)
    while do_jobs():
        pass

    assert GateResult.objects.get(resumes=by_hand).verdict == "pass"
    assert not GateResult.objects.filter(resumes=waiting).exists()
    assert not selectors.waiting_gates(bench).exists()


def test_of_two_releases_with_the_labels_the_first_goes_on(bench, waiting, do_jobs):
    releases = [
        factories.release(labels(bench, graded(), version), version, by=bench.olga)
        for version in ("1.1.0", "1.2.0")
    ]
    while do_jobs():
        pass

    assert GateResult.objects.get(resumes=waiting).release == releases[0]
    assert [job.state for job in Job.objects.filter(kind=gating.RESUME_KIND)] == ["done", "done"]


def test_a_release_that_lacks_one_of_the_labels_leaves_it_waiting(bench, waiting, do_jobs):
    qid, docid = gating.awaited(waiting)[-1]
    grades = {pair: of for pair, of in graded().items() if pair != (qid, docid)}
    factories.release(labels(bench, grades, "most"), "1.1.0", by=bench.olga)
    do_jobs()

    assert not GateResult.objects.filter(resumes=waiting).exists()


def test_a_gate_whose_split_is_gone_keeps_no_other_from_going_on(
    bench, old, half, waiting, do_jobs, monkeypatch
):
    splits = {half.version: {"dev": tuple(QIDS)}}
    monkeypatch.setattr(
        "scoring.gates.services.policies.release_splits", lambda of: splits.get(of.version, {})
    )
    of_split = policies.make_policy(
        benchmark=bench, name="split", baseline=old, content={"split": "dev"}, user=bench.sam
    )
    stuck = decided(bench, of_split, waiting.candidate, half)
    assert stuck.state == "waiting"

    later = factories.release(labels(bench, graded(), "all"), "1.1.0", by=bench.olga)
    while do_jobs():
        pass

    job = Job.objects.get(kind=gating.RESUME_KIND)
    assert GateResult.objects.get(release=later).resumes == waiting
    assert (job.state, job.result["made"]) == (Job.State.DONE, ["1 gate asked for again"])
    (note,) = job.result["notes"]
    assert "by split v1: " in note
    assert "split 'dev'" in note


def test_a_retired_policy_is_not_resumed(bench, waiting, do_jobs):
    policies.retire_policy(policy=waiting.policy, user=bench.sam)
    factories.release(labels(bench, graded(), "all"), "1.1.0", by=bench.olga)
    do_jobs()

    assert GateResult.objects.count() == 1


@pytest.mark.parametrize("name", ["new", "old"])
def test_a_gate_of_a_withdrawn_run_is_not_resumed(bench, waiting, do_jobs, name):
    Run.objects.filter(benchmark=bench, name=name).update(withdrawn_at=timezone.now())
    factories.release(labels(bench, graded(), "all"), "1.1.0", by=bench.olga)
    while do_jobs():
        pass

    assert GateResult.objects.get() == waiting


def test_a_release_that_is_complete_decides_where_half_is_listed(bench, old, do_jobs):
    """The same grades as `half`, whose gate waits for labels."""
    grades = labels(bench, graded(("d0", "d1")))
    QrelSet.objects.filter(pk=grades.pk).update(unlisted=QrelSet.Unlisted.NOT_RELEVANT)
    grades.refresh_from_db()
    release = factories.release(grades, by=bench.olga)
    do_jobs()

    gate = decided(bench, a_policy(bench, old), a_candidate(bench), release)

    assert (gate.state, gate.verdict) == (GateResult.State.DECIDED, "pass")
    assert gate.n_waiting == 0


def test_sparse_labels_are_compared_all_the_same(bench, old, half):
    gate = decided(bench, a_policy(bench, old, labels="sparse"), a_candidate(bench), half)

    assert gate.verdict == "pass"
    assert not CandidateList.objects.exists()
    assert "Labels are sparse" in json.dumps(gate.report)


# --- pages ---------------------------------------------------------------------------------------


def url(name, *args):
    return reverse(f"scoring:{name}", args=["bench", *args])


def test_without_a_policy_the_page_says_what_to_choose_and_what_can_be_shown(
    bench, release, client
):
    client.force_login(bench.sam)
    page = client.get(url("gate-list")).content.decode()

    assert "Choose baseline, goal and slices before uploading" in page
    assert "These 40 queries show a difference of" in page


def test_a_policy_is_made_and_a_candidate_decided_by_forms(bench, old, release, client):
    client.force_login(bench.sam)
    form = client.get(url("policy-new")).context["form"]
    sent = {name: field.initial for name, field in form.fields.items() if field.initial is not None}
    answer = client.post(url("policy-new"), {**sent, "name": "nightly", "baseline": old.pk})
    policy = GatePolicy.objects.get()
    assert answer.url == policy.get_absolute_url()

    candidate = a_candidate(bench)
    asked = client.post(answer.url, {"candidate": candidate.pk, "release": release.pk})
    jobs.run_queued()
    page = client.get(asked.url).content.decode()
    assert "strong candidate for an A/B test" in page
    assert policy.digest[:12] in page
    assert "--policy &quot;nightly&quot; --wait" in page or '--policy "nightly" --wait' in page


def test_guarded_measures_may_have_several_options(bench, old, release, client):
    client.force_login(bench.sam)
    names = ["R(rel=2,judged_only=True)@50", "nDCG(gains={1:1,2:3})@10", "RR@10"]
    form = client.get(url("policy-new")).context["form"]
    sent = {name: field.initial for name, field in form.fields.items() if field.initial is not None}
    sent |= {"name": "nightly", "baseline": old.pk}
    written = "R(rel=2, judged_only=True)@50 nDCG(gains={1:1,2:3})@10, RR@10"

    client.post(url("policy-new"), {**sent, "guard_measures": written})

    assert GatePolicy.objects.get().content["guard_rails"]["measures"] == names


def test_what_is_wrong_of_a_policy_stands_on_the_form(bench, old, release, client):
    client.force_login(bench.sam)
    page = client.post(url("policy-new"), {"name": "x", "baseline": old.pk, "margin": "0"})

    assert page.status_code == 422


def test_a_queued_gate_asks_for_itself_and_then_loads_anew(bench, old, release, client):
    gate = gating.start_gate(
        policy=a_policy(bench, old), candidate=a_candidate(bench), release=release, user=bench.sam
    )
    client.force_login(bench.sam)
    assert 'hx-trigger="every 1s"' in client.get(gate.get_absolute_url()).content.decode()

    jobs.run_queued()
    done = client.get(url("gate-state", gate.pk), headers={"HX-Request": "true"})
    assert done["HX-Refresh"] == "true"


def test_reports_and_the_chart_are_downloaded(bench, old, release, client):
    gate = decided(bench, a_policy(bench, old), a_candidate(bench), release)
    client.force_login(bench.sam)

    texts = {
        kind: client.get(url("gate-report", gate.pk, kind)).content.decode()
        for kind in ("md", "json", "xml")
    }
    assert texts["md"].startswith("## PASS: new")
    assert json.loads(texts["json"])["release"] == "1.0.0"
    assert ElementTree.fromstring(texts["xml"].encode()).get("failures") == "0"
    assert client.get(url("gate-report", gate.pk, "pdf")).status_code == 404
    assert client.get(url("gate-chart", gate.pk, "csv")).content.startswith(b"part,queries")


def test_gates_are_listed_by_verdict_policy_and_name(bench, old, release, client):
    policy = a_policy(bench, old)
    decided(bench, policy, a_candidate(bench), release)
    decided(bench, policy, a_candidate(bench, lambda n: 3, "bad"), release)

    def names(**query):
        return [gate.candidate.name for gate in client.get(url("gate-list"), query).context["page"]]

    assert names() == ["bad", "new"]
    assert names(verdict="block") == ["bad"]
    assert names(q="NE") == ["new"]
    assert names(policy=policy.pk) == ["bad", "new"]
    assert names(policy="x", verdict="y") == ["bad", "new"]


def test_who_may_not_see_a_run_sees_neither_policy_nor_gate(bench, old, release, client):
    hidden = a_candidate(bench, name="mine", visibility="owner")
    gate = decided(bench, a_policy(bench, old), hidden, release)

    assert client.get(gate.get_absolute_url()).status_code == 404
    assert "mine" not in client.get(url("gate-list")).content.decode()
    assert client.get(gate.policy.get_absolute_url()).status_code == 200
    Run.objects.filter(pk=old.pk).update(visibility="owner")
    assert client.get(gate.policy.get_absolute_url()).status_code == 404


def test_who_may_not_see_the_lexical_run_sees_neither_policy_nor_gate(bench, old, release, client):
    lexical = a_candidate(bench, name="secret-words", visibility="owner")
    policy = policies.make_policy(
        benchmark=bench, name="exact", baseline=old, lexical=lexical, content={}, user=bench.sam
    )
    gate = decided(bench, policy, a_candidate(bench), release)
    addresses = (policy.get_absolute_url(), gate.get_absolute_url())

    assert [client.get(address).status_code for address in addresses] == [404, 404]
    api = client.get(reverse("api:gate-policy-list", args=[bench.slug]))
    assert "secret-words" not in api.content.decode()
    client.force_login(bench.sam)
    assert [client.get(address).status_code for address in addresses] == [200, 200]


def test_who_made_a_policy_is_a_secret_as_long_as_whose_a_run_of_it_is(bench, old, release, client):
    lexical = a_candidate(bench, name="words")
    policy = policies.make_policy(
        benchmark=bench, name="exact", baseline=old, lexical=lexical, content={}, user=bench.sam
    )
    runs = {run.pk: Run.objects.filter(pk=run.pk) for run in (old, lexical)}

    def page():
        return client.get(policy.get_absolute_url()).content.decode()

    assert "made by sam" in page()
    for run in runs.values():
        run.update(anonymous_until=timezone.now() + timedelta(days=1))
        assert "made by" not in page()
        run.update(anonymous_until=None)
    Run.objects.filter(pk=old.pk).update(anonymous_until=timezone.now() + timedelta(days=1))
    client.force_login(bench.olga)
    assert "made by sam" in page()


def test_only_its_maker_and_keepers_retire_a_policy(bench, old, release, client):
    policy = a_policy(bench, old)
    for person, code in (("ed", 403), ("olga", 302)):
        who = getattr(bench, person, None) or factories.member(bench, person, "submitter")
        client.force_login(who)
        assert client.post(url("policy-retire", policy.pk)).status_code == code
    policy.refresh_from_db()
    assert policy.retired_at is not None


def test_who_submits_no_more_retires_no_policy_of_their_own(bench, old, release):
    policy = a_policy(bench, old)
    assert policies.may_retire(bench.sam, policy)

    bench.memberships.filter(user=bench.sam).update(role="viewer")

    assert not policies.may_retire(User.objects.get(pk=bench.sam.pk), policy)


# --- hidden splits -------------------------------------------------------------------------------


def test_earlier_submissions_are_counted_where_a_split_is_hidden(bench, old, release, monkeypatch):
    from scoring.gates.services import evidence

    candidate = a_candidate(bench)
    phase = bench.phases.get()
    for name in ("one", "two"):
        run = a_candidate(bench, name=name)
        Submission.objects.create(
            phase=phase,
            run=run,
            name=name,
            submitter=bench.sam,
            state="scored",
            created_at=candidate.created_at - timedelta(days=1),
        )
    policy = a_policy(bench, old)
    known = evidence.process_of(policy=policy, release=release, candidate=candidate, queries=QIDS)
    assert known.prior_submissions is None

    monkeypatch.setattr(evidence, "hidden_queries", lambda release: frozenset(QIDS))
    known = evidence.process_of(policy=policy, release=release, candidate=candidate, queries=QIDS)
    assert known.prior_submissions == 2


@pytest.mark.parametrize(
    ("changed", "n_prior"),
    [
        ({}, 2),
        ({"state": "failed"}, 1),
        ({"created_at": timezone.now() + timedelta(days=1)}, 1),
        ({"submitter": "olga"}, 2),
        ({"team": None}, 1),
    ],
    ids=lambda value: str(value)[:16],
)
def test_earlier_submissions_are_those_of_the_team(
    bench, old, release, monkeypatch, changed, n_prior
):
    from scoring.gates.services import evidence

    monkeypatch.setattr(evidence, "hidden_queries", lambda release: frozenset(QIDS))
    team = Team.objects.create(name="team")
    candidate = a_candidate(bench, team=team)
    changed = {**changed, **({"submitter": bench.olga} if "submitter" in changed else {})}
    for name, more in (("one", {}), ("two", changed)):
        fields = {"submitter": bench.sam, "team": team, "state": "scored"}
        fields["created_at"] = candidate.created_at - timedelta(days=1)
        run = a_candidate(bench, name=name)
        Submission.objects.create(
            phase=bench.phases.get(), run=run, name=name, **{**fields, **more}
        )

    known = evidence.process_of(
        policy=a_policy(bench, old), release=release, candidate=candidate, queries=QIDS
    )

    assert known.prior_submissions == n_prior


def test_submissions_of_who_is_anonymous_are_counted_for_keepers_alone(bench, old, monkeypatch):
    from scoring.gates.services import evidence

    monkeypatch.setattr(evidence, "hidden_queries", lambda release: frozenset(QIDS))
    monkeypatch.setattr(evidence, "_contaminated", lambda release, queries: None)
    release = factories.release(labels(bench, graded()), by=bench.olga)
    candidate, earlier = a_candidate(bench), a_candidate(bench, name="one")
    Submission.objects.create(
        phase=bench.phases.get(),
        run=earlier,
        name="one",
        submitter=bench.sam,
        state="scored",
        created_at=candidate.created_at - timedelta(days=1),
    )
    policy = a_policy(bench, old)

    def prior_submissions(is_public):
        candidate.refresh_from_db()
        known = evidence.process_of(
            policy=policy,
            release=release,
            candidate=candidate,
            queries=QIDS,
            is_public=is_public,
        )
        return known.prior_submissions

    assert prior_submissions(is_public=True) == 1
    later = timezone.now() + timedelta(days=1)
    Run.objects.filter(pk=earlier.pk).update(anonymous_until=later)
    assert prior_submissions(is_public=True) == 0
    Run.objects.filter(pk=earlier.pk).update(anonymous_until=None)
    Run.objects.filter(pk=candidate.pk).update(anonymous_until=later)
    assert prior_submissions(is_public=True) is None
    assert prior_submissions(is_public=False) == 1


# --- online --------------------------------------------------------------------------------------


def test_how_often_gates_came_true_is_counted_with_wilson_intervals(bench, old, release):
    policy = a_policy(bench, old)
    gate = decided(bench, policy, a_candidate(bench), release)
    for outcome in ["better"] * 8 + ["worse"] * 2:
        online.record_online_result(
            gate=gate, outcome=outcome, metric="clicks", user=bench.sam, has_no_interval=True
        )

    (row,) = online.came_true(bench.sam, bench)
    assert (row.verdict, row.n) == ("pass", 10)
    assert row.cells[0] == (
        "better",
        8,
        0.8,
        pytest.approx(0.4902, abs=1e-4),
        pytest.approx(0.9433, abs=1e-4),
    )


def test_how_gates_of_others_came_true_is_told_to_who_sees_them(bench, old, release):
    hidden = a_candidate(bench, visibility=Run.Visibility.OWNER)
    gate = decided(bench, a_policy(bench, old), hidden, release)
    online.record_online_result(
        gate=gate, outcome="better", metric="clicks", user=bench.sam, has_no_interval=True
    )
    tess = factories.member(bench, "tess", "submitter")

    assert [row.n for row in online.came_true(bench.sam, bench)] == [1]
    assert online.came_true(tess, bench) == []


def test_an_online_result_needs_a_verdict(bench, old, release):
    gate = gating.start_gate(
        policy=a_policy(bench, old), candidate=a_candidate(bench), release=release, user=bench.sam
    )
    with pytest.raises(GateUndecidedError, match="has no verdict yet"):
        online.record_online_result(
            gate=gate, outcome="better", metric="x", user=bench.sam, has_no_interval=True
        )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "has no difference; expected a difference inside an interval"),
        ({"difference": 0.1}, "has only difference"),
        ({"difference": 0.1, "low": 0.2, "high": 0.3}, "has 0.1 outside of 0.2 to 0.3"),
        ({"difference": 0.1, "has_no_interval": True}, "has difference and `has_no_interval`"),
    ],
)
def test_an_ab_test_wants_difference_and_interval_or_says_that_it_has_none(given, words):
    numbers = {"difference": None, "low": None, "high": None, "has_no_interval": False, **given}

    with pytest.raises(OnlineIntervalError, match=words):
        online.check_interval(**numbers)
    online.check_interval(0.1, 0.0, 0.2, has_no_interval=False)
    online.check_interval(None, None, None, has_no_interval=True)


def test_an_ab_test_is_recorded_on_the_page_and_shown_in_the_list(bench, old, release, client):
    gate = decided(bench, a_policy(bench, old), a_candidate(bench), release)
    client.force_login(bench.sam)
    wrong = client.post(
        url("gate-online", gate.pk), {"outcome": "better", "metric": "x", "low": 2, "high": 1}
    )
    assert wrong.status_code == 422
    bare = client.post(url("gate-online", gate.pk), {"outcome": "better", "metric": "clicks"})
    assert bare.status_code == 422
    assert "or say that there is none" in bare.content.decode()
    client.post(
        url("gate-online", gate.pk),
        {"outcome": "better", "metric": "clicks", "has_no_interval": "on"},
    )

    assert OnlineResult.objects.get().recorded_by == bench.sam
    assert "How often gates came true" in client.get(url("gate-list")).content.decode()


def test_the_page_says_by_which_bounds_it_was_decided(bench, old, release, client):
    gate = decided(bench, a_policy(bench, old), a_candidate(bench), release)
    client.force_login(bench.sam)

    page = " ".join(client.get(url("gate-detail", gate.pk)).content.decode().split())

    assert '<span class="pill is-done">improves</span>' in page
    assert "(one-sided 95 % each)." in page
    numbers = gate.report["checks"][1]["findings"][0]["numbers"]
    for name in ("difference", "lower", "upper"):
        assert f'<dd class="stat-value">{numbers[name]:+.4f}</dd>' in page


# --- API -----------------------------------------------------------------------------------------


@pytest.fixture
def api(bench, client):
    client.force_login(bench.sam)

    def call(path, body=None):
        where = f"/api/v1/benchmarks/bench/gates/{path}"
        if body is None:
            return client.get(where)
        return client.post(where, json.dumps(body), content_type="application/json")

    return call


def test_the_api_makes_policies_asks_for_gates_and_gives_reports(bench, old, release, api):
    created = api(
        "policies/", {"name": "nightly", "baseline": "old", "content": {"goal": "improve"}}
    )
    assert (created.status_code, created.json()["version"]) == (201, 1)
    a_candidate(bench)

    asked = api("", {"policy": "nightly", "candidate": "new"})
    assert (asked.status_code, asked.json()["verdict"]) == (202, "")
    jobs.run_queued()
    answer = api(f"{asked.json()['id']}/").json()
    assert (answer["verdict"], answer["report"]["exit_code"]) == ("pass", 0)
    assert api("", {"policy": "nightly", "candidate": "new"}).status_code == 200
    assert api(f"{answer['id']}/report.md").content.startswith(b"## PASS: new")
    assert api("?verdict=block").json()["count"] == 0
    assert api("?policy=nightly").json()["count"] == 1


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"policy": "none", "candidate": "new"}, 400, "There is no policy 'none' in use here."),
        ({"policy": "nightly", "candidate": "none"}, 400, "There is no run 'none' here."),
        ({"policy": "nightly", "candidate": "new", "release": "9.9.9"}, 400, "no release 9.9.9"),
        ({"policy": "nightly", "candidate": "old"}, 422, "is the baseline of nightly v1"),
        ({"policy": "nightly"}, 400, "required"),
    ],
)
def test_the_api_says_what_it_does_not_know(bench, old, release, api, body, status, words):
    a_policy(bench, old)
    a_candidate(bench)
    answer = api("", body)

    assert answer.status_code in (status, 409)
    assert words in answer.content.decode()


def test_the_api_tells_a_failed_gate_as_failed(bench, old, release, api):
    policy, candidate = a_policy(bench, old), a_candidate(bench)
    Run.objects.filter(pk=candidate.pk).update(parquet="runs/gone.parquet")
    gate = decided(bench, policy, candidate, release)

    assert api(f"{gate.pk}/").json()["verdict"] == "failed"


def test_the_api_records_online_results_and_says_how_often_gates_came_true(
    bench, old, release, api
):
    gate = decided(bench, a_policy(bench, old), a_candidate(bench), release)
    fields = {"outcome": "worse", "metric": "clicks"}
    assert api(f"{gate.pk}/online/", fields).status_code == 422
    entered = api(f"{gate.pk}/online/", {**fields, "difference": -0.1, "low": -0.2, "high": -0.05})

    assert entered.status_code == 201
    assert api(f"{gate.pk}/online/").json()["count"] == 1
    (row,) = api("came-true/").json()["results"]
    assert (row["verdict"], row["outcomes"][2]["share"]) == ("pass", 1.0)


# --- from a build --------------------------------------------------------------------------------


@pytest.fixture
def benchwright(bench, old, release, monkeypatch, tmp_path):
    """`benchwright gate new.run --site …` as Sam, of a run that answers at `rank_of`."""
    with sites.connected() as transport, sites.carried_by(monkeypatch, transport):
        secret = create_api_token(user=bench.sam, name="build", days=30).secret
        run = sites.runner(tmp_path / "config")

        def gate(*words, rank_of=lambda n: n % 2, lines="", benchmark="bench@1.0.0"):
            path = tmp_path / "new.run"
            path.write_text(lines or ranked(rank_of) + "\n")
            asked = ("--site", sites.URL, "--benchmark", benchmark, "--policy", "nightly")
            return run("gate", str(path), *asked, *words, BENCHWRIGHT_TOKEN=secret)

        yield gate


def test_a_build_sends_the_candidate_and_ends_with_the_sites_verdict(bench, old, benchwright):
    a_policy(bench, old)
    done = benchwright()

    assert (done.exit_code, done.stdout[:6]) == (0, "PASS: ")
    gate = GateResult.objects.get()
    assert gate.get_absolute_url() in done.stderr
    assert benchwright().exit_code == 0
    assert GateResult.objects.count() == 1


@pytest.mark.parametrize(
    ("rank_of", "code"), [(lambda n: 3, 11), (lambda n: 2 + n % 2, 12), (lambda n: n % 2, 0)]
)
def test_a_build_fails_as_the_verdict_says(bench, old, benchwright, tmp_path, rank_of, code):
    a_policy(bench, old)
    done = benchwright("--report", str(tmp_path / "gate.xml"), rank_of=rank_of)

    assert done.exit_code == code
    failures = ElementTree.parse(tmp_path / "gate.xml").getroot().get("failures")
    assert (failures == "0") == (code == 0)


def test_every_build_may_call_its_candidate_alike(bench, old, benchwright):
    a_policy(bench, old)
    first, second = benchwright(), benchwright(rank_of=lambda n: 3)

    assert (first.exit_code, second.exit_code) == (0, 11), second.output
    names = set(Run.objects.filter(kind="submitted").values_list("name", flat=True))
    digest = Run.objects.get(name__startswith="new.run ").sha256
    assert names == {"new.run", f"new.run {digest[:8]}"}
    # Again the same bytes are the same run.
    assert benchwright(rank_of=lambda n: 3).exit_code == 11
    assert GateResult.objects.count() == 2


def test_a_build_need_not_wait(bench, old, benchwright):
    a_policy(bench, old)
    done = benchwright("--no-wait")

    assert done.exit_code == 0
    assert "the verdict will be on the site" in done.stdout


@pytest.mark.parametrize(
    ("words", "more", "code", "message"),
    [
        ((), {"lines": "q00 Q0 d0 1 n/a s\n"}, 1, "was not scored"),
        (("--goal", "improve"), {}, 2, "--goal is decided by the policy of the server"),
        (("--test", "t"), {}, 2, "--test is decided by the policy of the server"),
        (("--top-grade", "3"), {}, 2, "--top-grade is decided by the policy of the server"),
        ((), {"benchmark": "bench@7.7.7"}, 1, "7.7.7"),
        ((), {"benchmark": "nothing"}, 1, "nothing"),
    ],
)
def test_a_build_is_told_what_is_wrong_and_gets_no_verdict(
    bench, old, benchwright, words, more, code, message
):
    a_policy(bench, old)
    done = benchwright(*words, **more)

    assert done.exit_code == code
    assert message in done.output


def test_a_slice_plays_the_part_of_its_rule(bench, old, release):
    """`most` is made by hand: no head, whatever it were called; by its rule it is one."""
    assert slice_parts(release) == {}
    rule = {"kind": "frequency", "band": "head"}
    bench.slices.filter(name="most").update(kind="frequency", rule=rule)

    assert slice_parts(release) == {"head": "most"}
