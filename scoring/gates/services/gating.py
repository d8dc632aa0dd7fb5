"""Gates: a candidate held against a policy on a release, as a job; what came out never changes."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.collections.services.candidates import make_candidate_list
from benchmarks_app.common.selectors.reading import release_qrels
from benchmarks_app.common.services import audit
from benchmarks_app.common.services.happening import happened
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import CandidateList, Job, Release, Run, User
from benchmarks_app.models.notices import Event
from benchwright.errors import ScoringError
from benchwright.gates.deciding import Verdict
from benchwright.gates.policy import policy_from
from benchwright.gates.verdict import Decision, decide
from benchwright.ids import LONGEST_NAME
from benchwright.texts.counting import counted
from scoring.gates import selectors
from scoring.gates.services.errors import (
    GateItselfError,
    PolicyAfterCandidateError,
    PolicyRetiredError,
)
from scoring.gates.services.evidence import evidence_of, uploaded_at
from scoring.gates.services.policies import check_run, queries_of
from scoring.gates.services.rehearsing import rehearsal_seen
from scoring.models import GatePolicy, GateRehearsal, GateResult
from scoring.scores.services.firewall import sight_of, sight_written_down

KIND, RESUME_KIND = "decide-gate", "resume-gates"
STATES = GateResult.State


# --- asking --------------------------------------------------------------------------------------


@transaction.atomic
def start_gate(
    *,
    policy: GatePolicy,
    candidate: Run,
    release: Release,
    user: User,
    resumes: GateResult | None = None,
) -> GateResult:
    """Ask for a verdict; what was asked before is not decided again, unless it failed.

    Who may not see all grades of the release gets one on its public queries.

    Raises
    ------
    NoPublicQueryError
        If there are no queries that this person may see the grades of.
    PolicyRetiredError
        If the policy decides no more.
    PolicyAfterCandidateError
        If it is a version made after the candidate was uploaded.
    GateItselfError, GateRunError
        If the candidate is the baseline or of another benchmark, or either was withdrawn.
    """
    is_public = not sight_of(user, release).is_clear or (resumes is not None and resumes.is_public)
    earlier = GateResult.objects.filter(
        policy=policy, release=release, candidate=candidate, is_public=is_public
    )
    gate = earlier.select_for_update(of=("self",)).first()
    if gate is not None and gate.state != STATES.FAILED:
        return gate
    _check(policy, candidate)
    queries_of(release, policy.content.get("split", ""), is_public=is_public)
    if gate is None:
        gate, is_new = GateResult.objects.get_or_create(
            policy=policy,
            release=release,
            candidate=candidate,
            is_public=is_public,
            defaults={"created_by": user, "resumes": resumes},
        )
        if not is_new:  # somebody asked for it meanwhile
            return gate
        audit.record(
            actor=user,
            action="start-gate",
            benchmark=policy.benchmark,
            target=f"{candidate.name} by {policy} on {release.version}",
        )
    job = jobs.start(
        kind=KIND,
        title=f"Gate {candidate.name} by {policy} on {release.version}",
        benchmark=policy.benchmark,
        user=user,
        parameters={"gate": gate.pk},
    )
    GateResult.objects.filter(pk=gate.pk).update(state=STATES.QUEUED, error="", job=job)
    gate.refresh_from_db()
    return gate


def _check(policy: GatePolicy, candidate: Run) -> None:
    if policy.retired_at is not None:
        raise PolicyRetiredError(policy=str(policy), at=policy.retired_at)
    for run in (candidate, policy.baseline):
        check_run(run, policy.benchmark)
    if candidate.pk == policy.baseline_id:
        raise GateItselfError(run=candidate.name, policy=str(policy))
    if policy.version > 1 and uploaded_at(candidate) < policy.created_at:
        raise PolicyAfterCandidateError(policy=str(policy), candidate=candidate.name)


# --- deciding ------------------------------------------------------------------------------------


def decide_gate(job: RunningJob) -> None:
    """The handler: decides once; what keeps it from that is told by `set_back_gates`."""
    gate = selectors.whole_gate(job.parameters["gate"])
    if gate.state in (STATES.DECIDED, STATES.WAITING):
        return
    job.progress(0, 4, "reading both runs")
    policy = policy_from(gate.policy.content)
    evidence = evidence_of(gate=gate, policy=policy, job=job)
    job.progress(3, 4, "deciding")
    decision = decide(policy, evidence)
    report = _report_of(gate, decision)
    with job.commit() as result:
        listed = _listed(gate, decision)
        GateResult.objects.filter(pk=gate.pk).update(
            state=STATES.WAITING if listed else STATES.DECIDED,
            verdict=str(decision.verdict),
            report=report,
            error="",
            candidates=listed,
            n_waiting=evidence.wanted.needed if listed else 0,
            decided_at=timezone.now(),
        )
        _tell(gate)
        # Jobs are seen by more people than verdicts on hidden queries.
        is_told = gate.is_public or not gate.release.hidden_splits
        verdict = decision.verdict.label if is_told else "a verdict for keepers"
        result["made"] = [f"{verdict}: {gate.candidate.name}"]
        result["url"] = gate.get_absolute_url()


def _tell(gate: GateResult) -> None:
    """That there is a verdict; which one, stands where only who may see it gets in."""
    benchmark = gate.policy.benchmark
    happened(
        Event.GATE_DECIDED,
        benchmark=benchmark,
        about={"gate": gate.pk, "release": gate.release.version},
        path=gate.get_absolute_url(),
        api_path=reverse("api:gate-detail", args=[benchmark.slug, gate.pk]),
        concerns=[gate.created_by_id],
    )


def _report_of(gate: GateResult, decision: Decision) -> dict[str, Any]:
    report = decision.as_dict()
    report["release"] = gate.release.version
    report["benchmark"] = gate.policy.benchmark.slug
    report["policy_name"] = str(gate.policy)
    report["is_public"] = gate.is_public
    if gate.is_public:
        report["sentence"] = f"On the public queries alone: {report['sentence']}"
    return report


def _listed(gate: GateResult, decision: Decision) -> CandidateList | None:
    """The documents that a comparison waits for, as a list that a pool can be made of."""
    wanted = decision.evidence.wanted
    if decision.verdict != Verdict.NOT_COMPARABLE or not wanted.needed:
        return None
    documents = wanted.documents[: wanted.needed]
    return make_candidate_list(
        benchmark=gate.policy.benchmark,
        rows=[(qid, docid, place) for place, (qid, docid) in enumerate(documents, start=1)],
        name=f"gate {gate.pk}: {gate.candidate.name} by {gate.policy}"[:LONGEST_NAME],
        origin=f"what {gate} waits for on {gate.release.version}",
        user=gate.created_by,
    )


def set_back_gates(job_id: int) -> None:
    """Bring gates and rehearsals in line with their job: an attempt begins, or it ended early."""
    job = Job.objects.filter(pk=job_id, state__in=Job.ENDED_EARLY).first()
    state, error = (STATES.FAILED, job.error) if job else (STATES.QUEUED, "")
    for asked in (GateResult, GateRehearsal):
        unfinished = asked.objects.filter(job=job_id, state__in=[STATES.QUEUED, STATES.FAILED])
        unfinished.update(state=state, error=error)


# --- going on when the labels are there ----------------------------------------------------------


def resume_waiting_gates(release: Release) -> Job | None:
    """Start a job that looks whether gates of the benchmark can be decided on a new release."""
    waiting = selectors.waiting_gates(release.benchmark).filter(release__lt=release)
    if not waiting.exists():
        return None
    return jobs.start(
        kind=RESUME_KIND,
        title=f"Gates that waited for labels, on {release.version}",
        benchmark=release.benchmark,
        user=release.created_by,
        parameters={"release": release.pk},
    )


def resume_gates(job: RunningJob) -> None:
    """The handler: each gate whose labels are in the release is asked for again, on it.

    One that cannot be, as its split is hidden or gone, waits on; the job's notes say why.
    """
    published = Release.objects.published().select_related("benchmark")
    release = published.get(pk=job.parameters["release"])
    grades = release_qrels(release)
    waiting = selectors.waiting_gates(release.benchmark).filter(release__lt=release)
    ready = [gate for gate in waiting if holds(grades, awaited(gate))]
    with job.commit() as result:
        n_resumed, refused = 0, []
        for gate in filter(_may_go_on, ready):
            try:
                with transaction.atomic():
                    # Of two releases that hold its labels the first goes on with it.
                    GateResult.objects.select_for_update().get(pk=gate.pk)
                    if not waiting.filter(pk=gate.pk).exists():
                        continue
                    start_gate(
                        policy=gate.policy,
                        candidate=gate.candidate,
                        release=release,
                        user=gate.created_by,
                        resumes=gate,
                    )
            except ScoringError as error:
                refused.append(f"{gate.candidate.name} by {gate.policy}: {error}")
            else:
                n_resumed += 1
        result["made"] = [f"{counted(n_resumed, 'gate')} asked for again"]
        result["notes"] = refused
        result["url"] = reverse("scoring:gate-list", args=[release.benchmark.slug])


def _may_go_on(gate: GateResult) -> bool:
    """A withdrawn candidate or a retired policy is not decided about any more."""
    runs = (gate.candidate, gate.policy.baseline)
    return gate.policy.retired_at is None and all(run.withdrawn_at is None for run in runs)


def awaited(gate: GateResult) -> list[tuple[str, str]]:
    """Query and document of each label that a gate waits for."""
    documents = gate.report.get("wanted", {}).get("documents", [])
    return [(qid, docid) for qid, docid in documents[: gate.n_waiting]]


def holds(grades: dict[str, Any], pairs: Iterable[tuple[str, str]]) -> bool:
    """Whether every one of the pairs has a grade."""
    return all(grades.get(qid, {}).get(docid, -1) >= 0 for qid, docid in pairs)


# --- what one person may be told ------------------------------------------------------------------
# Of what was decided on hidden queries keepers alone are told: `selectors.gates_seen_by` gives
# others nothing of it.


def told(gate: GateResult, user: Any) -> dict[str, Any]:
    """The result; empty while undecided. A keeper's look at hidden queries is written down."""
    if not gate.report:
        return {}
    if not gate.is_public:
        sight_written_down(user, gate.release, f"gate {gate.pk}")
    rehearsal = rehearsal_seen(user, gate.policy.benchmark, gate.policy.rehearsal)
    return {**gate.report, "rehearsal": rehearsal}
