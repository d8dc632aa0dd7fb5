"""A policy and a gate that is decided, without a job: for pages and addresses."""

from typing import Any

import numpy as np
from django.utils import timezone

from benchmarks_app.models import Release, Run, User
from benchwright.gates.bounds import Method
from benchwright.gates.evidence import Arm, Evidence
from benchwright.gates.policy import Policy
from benchwright.gates.rehearsal.rehearsing import rehearsed
from benchwright.gates.verdict import decide
from scoring.models import GatePolicy, GateRehearsal, GateResult

N = 60


def policy_of(baseline: Run, by: User, name: str = "nightly") -> GatePolicy:
    policy = Policy(baseline=baseline.name, slices=("head",))
    return GatePolicy.objects.create(
        benchmark=baseline.benchmark,
        name=name,
        baseline=baseline,
        content=policy.as_dict(),
        digest=policy.digest,
        created_by=by,
    )


def rehearsal_of(policy: GatePolicy, runs: list[Run], release: Release) -> GateRehearsal:
    record = GateRehearsal.objects.create(
        benchmark=policy.benchmark,
        name=policy.name,
        baseline=policy.baseline,
        content=policy.content,
        digest=policy.digest,
        release=release,
        state=GateRehearsal.State.DONE,
        result=rehearsed(Policy(slices=("head",)), [evidence_of(policy, runs[0])], n_made=20),
        created_by=policy.created_by,
    )
    record.runs.set(runs)
    return record


def report_of(policy: GatePolicy, candidate: Run, gain: float = 0.03) -> dict[str, Any]:
    """What comes of sixty made differences, of which the second half is a slice."""
    result = Policy(baseline=policy.baseline.name, slices=("head",))
    return decide(result, evidence_of(policy, candidate, gain), Method("t")).as_dict()


def evidence_of(policy: GatePolicy, candidate: Run, gain: float = 0.03) -> Evidence:
    result = Policy(baseline=policy.baseline.name, slices=("head",))
    values = {name: np.full(N, 0.5) for name in result.measures}
    better = 0.5 + gain + 0.1 * np.where(np.arange(N) % 2, 1.0, -1.0)
    return Evidence(
        queries=[f"q{place}" for place in range(N)],
        baseline=Arm(policy.baseline.name, values | {result.judged: np.ones(N)}, depth=100),
        candidate=Arm(
            candidate.name,
            values | {result.judged: np.ones(N), result.measure: better},
            depth=100,
        ),
        slices={"head": np.arange(N) >= N // 2, "tail": np.arange(N) < N // 2},
    )


def gate_of(policy: GatePolicy, candidate: Run, release: Release) -> GateResult:
    report = report_of(policy, candidate)
    return GateResult.objects.create(
        policy=policy,
        candidate=candidate,
        release=release,
        state=GateResult.State.DECIDED,
        verdict=report["verdict"],
        report=report,
        created_by=policy.created_by,
        decided_at=timezone.now(),
    )
