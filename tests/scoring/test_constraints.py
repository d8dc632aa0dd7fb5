"""The rules of phases, submissions and scores, as the database keeps them."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import ProtectedError
from django.utils import timezone

from benchmarks_app.models import Benchmark, Job, Release, Run
from scoring.models import (
    CaseImage,
    CaseOutcome,
    CaseSet,
    CaseSource,
    ContextualCase,
    ContextualEvaluation,
    EmbeddingPair,
    GatePolicy,
    GateResult,
    LadderStep,
    LiveRun,
    LiveSystem,
    PersonVerdict,
    Phase,
    ProbingFlag,
    ReportedScore,
    Retrieval,
    RunLatencies,
    Score,
    ScoreSet,
    ShardJob,
    Submission,
)
from tests import factories
from tests.constraints import Case, check, constraints_of

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def scene(benchmark) -> Benchmark:
    """A benchmark with a bare release."""
    benchmark.releases.create(
        major=1,
        minor=0,
        patch=0,
        state=Release.State.PUBLISHED,
        published_at=NOW,
        qrel_set=factories.qrel_set(benchmark, {("q1", "d1"): 1}),
        created_by=factories.user("keeper"),
    )
    return benchmark


def phase(of: Benchmark, split: str = "test", **values: Any) -> Phase:
    return Phase.objects.create(
        benchmark=of, release=of.releases.get(), name=split, split=split, **values
    )


def run(of: Benchmark, name: str = "bm25") -> Run:
    values = {"owner": factories.user("keeper"), "n_rows": 1, "n_queries": 1, "depth": 1}
    return of.runs.get_or_create(name=name, defaults=values)[0]


def submission(of: Benchmark, of_run: Run | None, state: str = "received") -> Submission:
    return Submission.objects.create(
        phase=of.phases.first() or phase(of),
        run=of_run,
        name="mine",
        submitter=factories.user("keeper"),
        state=state,
    )


def score_set(of: Benchmark, version: str) -> ScoreSet:
    return ScoreSet.objects.create(
        run=run(of),
        release=of.releases.get(),
        scorer_version=version,
        n_queries=1,
        n_missing=0,
        n_extra=0,
    )


def score(of: Benchmark, measure: str, slice_name: str = "") -> Score:
    result = ScoreSet.objects.first() or score_set(of, "1")
    return result.scores.create(
        measure=measure, slice_name=slice_name, mean=0.5, n=1, judged_share=1
    )


def ladder_step(of: Benchmark, measure: str) -> LadderStep:
    result = ScoreSet.objects.first() or score_set(of, "1")
    return result.ladder_steps.create(measure=measure, source=result)


def reported(of: Benchmark, source: str = "a paper") -> ReportedScore:
    return ReportedScore.objects.create(
        benchmark=of,
        system="E5",
        measure="nDCG@10",
        value=0.5,
        kind=ReportedScore.Kind.ENTERED,
        source=source,
        reported_by=factories.user("keeper"),
    )


def policy(of: Benchmark, version: int = 1) -> GatePolicy:
    return of.gate_policies.get_or_create(
        name="daily",
        version=version,
        defaults={"baseline": run(of), "content": {}, "created_by": factories.user("keeper")},
    )[0]


def gate(of: Benchmark, candidate: str = "new", **values: Any) -> GateResult:
    return GateResult.objects.create(
        policy=policy(of),
        release=of.releases.get(),
        candidate=run(of, candidate),
        created_by=factories.user("keeper"),
        **values,
    )


def flag(of: Benchmark, kind: str) -> ProbingFlag:
    mine = Submission.objects.first() or submission(of, None)
    return mine.probing_flags.create(earlier=mine, kind=kind)


def live(of: Benchmark, name: str = "staging", **values: Any) -> LiveSystem:
    fields = {"kind": "json", "url": "https://h.example/", "template": "q={{query}}", **values}
    return LiveSystem.objects.create(
        benchmark=of, name=name, created_by=factories.user("keeper"), **fields
    )


def pair(of: Benchmark, name: str = "pair", **values: Any) -> EmbeddingPair:
    return EmbeddingPair.objects.create(
        benchmark=of, name=name, owner=factories.user("keeper"), **values
    )


def retrieval(of: Benchmark, name: str = "bm25", **values: Any) -> Retrieval:
    fields = {"depth": 100, "n_shards": 1, "indexing_seconds": 0.0, **values}
    return Retrieval.objects.create(
        run=run(of, name), system="bm25", language="en", n_queries=1, **fields
    )


def job(of: Benchmark) -> Job:
    return Job.objects.create(kind="retrieve-shard", title="a shard", benchmark=of, parameters={})


TURN = uuid4()


def shard(of: Benchmark, number: int = 0) -> ShardJob:
    parent = of.jobs.filter(title="the whole").first()
    parent = parent or Job.objects.create(
        kind="make-baselines", title="the whole", benchmark=of, parameters={}
    )
    return ShardJob.objects.create(
        parent=parent, job=job(of), turn=TURN, step="count", number=number
    )


def own_shard(of: Benchmark) -> ShardJob:
    mine = job(of)
    return ShardJob.objects.create(parent=mine, job=mine, turn=TURN, step="count")


def live_run(of: Benchmark, name: str, n_failed: int) -> LiveRun:
    return LiveRun.objects.create(run=run(of, name), n_asked=2, n_failed=n_failed)


def latencies(of: Benchmark, name: str, p50: float, p95: float) -> RunLatencies:
    points = {"mean": p50, "p50": p50, "p95": p95, "p99": p95, "longest": p95}
    return RunLatencies.objects.create(
        run=run(of, name), source="live", stored="", n_queries=1, **points
    )


def case_set(of: Benchmark, name: str = "cases", n_cases: int = 1) -> CaseSet:
    return CaseSet.objects.create(
        benchmark=of,
        name=name,
        file_name="",
        sha256="",
        n_cases=n_cases,
        n_nodes=1,
        created_by=factories.user("keeper"),
    )


def case_source(of: Benchmark, number: int = 1, depth: int = 10, **values: Any) -> CaseSource:
    return CaseSource.objects.create(
        case_set=case_set(of, f"cases {number}"),
        run=run(of, f"of cases {number}"),
        corpus_version=factories.snapshot_row(of, number),
        depth=depth,
        **values,
    )


def a_set(of: Benchmark) -> CaseSet:
    return of.case_sets.first() or case_set(of)


def judged_case(of: Benchmark, number: int, case_id: str = "") -> ContextualCase:
    return a_set(of).cases.create(
        number=number, case_id=case_id or f"c{number}", content={}, n_nodes=1, n_bytes=1
    )


def person_verdict(of: Benchmark, node: int) -> PersonVerdict:
    case = ContextualCase.objects.first() or judged_case(of, 1)
    person = factories.user("keeper")
    return case.people_verdicts.create(person=person, node=node, is_relevant=True)


def case_image(of: Benchmark, name: str) -> CaseImage:
    return a_set(of).images.create(name=name, width=1, height=1, size=1)


def evaluation(of: Benchmark, **values: Any) -> ContextualEvaluation:
    person = factories.user("keeper")
    return ContextualEvaluation.objects.create(case_set=a_set(of), created_by=person, **values)


def outcome(of: Benchmark, number: int, **values: Any) -> CaseOutcome:
    case = ContextualCase.objects.filter(number=number).first() or judged_case(of, number)
    result = ContextualEvaluation.objects.first() or evaluation(of)
    return result.outcomes.create(case=case, **values)


JUDGED = {
    "case_set_name_once": Case(good=lambda of: [case_set(of), case_set(of, "other")], bad=case_set),
    "case_set_not_empty": Case(good=case_set, bad=lambda of: case_set(of, "none", 0)),
    "case_source_depth_from_1": Case(
        good=lambda of: case_source(of, depth=1), bad=lambda of: case_source(of, 2, depth=0)
    ),
    "case_source_sample_has_seed": Case(
        good=lambda of: [case_source(of), case_source(of, 2, n_sample=1, seed=0)],
        bad=lambda of: case_source(of, 3, n_sample=1),
    ),
    "case_image_name_once": Case(
        good=lambda of: [case_image(of, "a"), case_image(of, "b")],
        bad=lambda of: case_image(of, "a"),
    ),
    "case_number_once": Case(
        good=lambda of: [judged_case(of, 1), judged_case(of, 2)],
        bad=lambda of: judged_case(of, 2, "other"),
    ),
    "case_id_once": Case(
        good=lambda of: [judged_case(of, 1), judged_case(of, 2)],
        bad=lambda of: judged_case(of, 3, "c2"),
    ),
    "case_number_from_1": Case(
        good=lambda of: judged_case(of, 1), bad=lambda of: judged_case(of, 0)
    ),
    "person_verdict_once": Case(
        good=lambda of: [person_verdict(of, 1), person_verdict(of, 2)],
        bad=lambda of: person_verdict(of, 2),
    ),
    "person_verdict_node_from_1": Case(
        good=lambda of: person_verdict(of, 1), bad=lambda of: person_verdict(of, 0)
    ),
    "contextual_threshold_0_to_1": Case(
        good=lambda of: [evaluation(of, threshold=value) for value in (None, 0, 1)],
        bad=lambda of: evaluation(of, threshold=1.01),
    ),
    "contextual_cap_above_0": Case(
        good=lambda of: [evaluation(of), evaluation(of, cost_cap=0.01)],
        bad=lambda of: evaluation(of, cost_cap=0),
    ),
    "contextual_one_choice": Case(
        good=lambda of: [evaluation(of, only_slice="a"), evaluation(of, only_first=1)],
        bad=lambda of: evaluation(of, only_slice="a", only_first=1),
    ),
    "outcome_once": Case(
        good=lambda of: [outcome(of, 1), outcome(of, 2)], bad=lambda of: outcome(of, 2)
    ),
    "outcome_score_if_scored": Case(
        good=lambda of: [outcome(of, 1), outcome(of, 2, state="scored", score=0.5)],
        bad=lambda of: outcome(of, 3, state="scored"),
    ),
    "outcome_failed_says_why": Case(
        good=lambda of: outcome(of, 1, state="failed", error_code="judge-busy"),
        bad=lambda of: outcome(of, 2, state="failed"),
    ),
}
CASES = {
    **JUDGED,
    "probing_flag_once": Case(
        good=lambda of: [flag(of, "near_identical"), flag(of, "single_query")],
        bad=lambda of: flag(of, "single_query"),
    ),
    "embedding_pair_name_once": Case(good=lambda of: [pair(of), pair(of, "other")], bad=pair),
    "embedding_pair_measured_has_numbers": Case(
        good=lambda of: pair(of, measured_at=NOW, n_pairs=1, n_features=2, places="a.parquet"),
        bad=lambda of: pair(of, "other", measured_at=NOW, n_pairs=1, n_features=2),
    ),
    "retrieval_depth_from_1": Case(good=retrieval, bad=lambda of: retrieval(of, "none", depth=0)),
    "retrieval_shards_from_1": Case(
        good=retrieval, bad=lambda of: retrieval(of, "none", n_shards=0)
    ),
    "retrieval_took_no_less_than_nothing": Case(
        good=retrieval, bad=lambda of: retrieval(of, "none", indexing_seconds=-0.1)
    ),
    "shard_job_once": Case(good=lambda of: [shard(of), shard(of, 1)], bad=shard),
    "shard_job_not_its_own_parent": Case(good=shard, bad=own_shard),
    "reported_score_has_source": Case(good=reported, bad=lambda of: reported(of, "")),
    "reported_score_once": Case(
        good=lambda of: [reported(of), reported(of, "a site")], bad=reported
    ),
    "gate_policy_version_once": Case(
        good=lambda of: [policy(of), policy(of, 2)],
        bad=lambda of: GatePolicy.objects.create(
            benchmark=of,
            name="daily",
            baseline=run(of),
            content={},
            created_by=factories.user("keeper"),
        ),
    ),
    "gate_policy_from_1": Case(good=policy, bad=lambda of: policy(of, 0)),
    "gate_result_once": Case(good=lambda of: [gate(of), gate(of, "newer")], bad=gate),
    "gate_result_decided_has_verdict": Case(
        good=lambda of: gate(of, state="decided", verdict="hold", decided_at=NOW),
        bad=lambda of: gate(of, "newer", state="decided", decided_at=NOW),
    ),
    "live_system_name_once": Case(good=lambda of: [live(of), live(of, "other")], bad=live),
    "live_system_asks_for_something": Case(
        good=lambda of: live(of, k=1, concurrency=1), bad=lambda of: live(of, "other", k=0)
    ),
    "live_system_moves_on": Case(
        good=lambda of: live(of, requests_per_second=0.1),
        bad=lambda of: live(of, "other", timeout_seconds=0),
    ),
    "live_run_was_answered": Case(
        good=lambda of: live_run(of, "a", 1), bad=lambda of: live_run(of, "b", 2)
    ),
    "run_latencies_in_order": Case(
        good=lambda of: latencies(of, "a", 1, 1), bad=lambda of: latencies(of, "b", 2, 1)
    ),
    "phase_once": Case(
        good=lambda of: [phase(of, "test"), phase(of, "dev")], bad=lambda of: phase(of, "test")
    ),
    "phase_closes_after_opening": Case(
        good=lambda of: [
            phase(of, "dev"),
            phase(of, "test", opens_at=NOW, closes_at=NOW + timedelta(seconds=1)),
        ],
        bad=lambda of: phase(of, "train", opens_at=NOW, closes_at=NOW),
    ),
    "submission_run_once": Case(
        good=lambda of: [
            submission(of, run(of)),
            submission(of, run(of, "other")),
            submission(of, None),
            submission(of, None),
        ],
        bad=lambda of: submission(of, run(of)),
    ),
    "submission_scored_has_run": Case(
        good=lambda of: [submission(of, None, "invalid"), submission(of, run(of), "scored")],
        bad=lambda of: submission(of, None, "scored"),
    ),
    "score_set_once": Case(
        good=lambda of: [score_set(of, "1"), score_set(of, "2")], bad=lambda of: score_set(of, "1")
    ),
    "score_once": Case(
        good=lambda of: [score(of, "nDCG@10"), score(of, "RR@10"), score(of, "nDCG@10", "long")],
        bad=lambda of: score(of, "nDCG@10"),
    ),
    "ladder_step_once": Case(
        good=lambda of: [ladder_step(of, "nDCG@10"), ladder_step(of, "RR@10")],
        bad=lambda of: ladder_step(of, "nDCG@10"),
    ),
}


@pytest.mark.parametrize("name", constraints_of("scoring"))
def test_constraint_refuses_what_it_names(scene, name):
    check("scoring", name, CASES, scene)


def test_run_with_a_submission_is_not_deleted(scene):
    submission(scene, run(scene))

    with pytest.raises(ProtectedError):
        run(scene).delete()
