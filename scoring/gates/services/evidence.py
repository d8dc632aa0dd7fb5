"""What a gate is decided on: values of both runs on a release, slices, families, the process."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from django.utils import timezone

from benchmarks_app.common.selectors.naming import is_anonymous_to
from benchmarks_app.common.selectors.reading import release_qrels, run_path
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import ContaminatedQuery, ContaminationCheck, Release, Run
from benchmarks_app.releases.selectors import hidden_queries
from benchwright import evaluate_hits
from benchwright.formats.unlisted import NOT_LISTED_GRADE, unlisted_of
from benchwright.gates.evidence import Arm, Evidence, Process, Wanted, numbered
from benchwright.gates.policy import Policy
from benchwright.gates.wanted import wanted
from benchwright.releases.source import public_manifest
from scoring.completeness.services.completeness import worth_judging
from scoring.gates.services.policies import queries_of
from scoring.models import GatePolicy, GateResult, ScoreSet, Submission
from scoring.planning.services.freshness import freshness_of_release
from scoring.scores.selectors.rankings import ranking_of
from scoring.scores.selectors.releases import SCORER_VERSION, release_families
from scoring.scores.selectors.runs import per_query_values
from scoring.scores.selectors.score_sets import runs_without_scores
from scoring.scores.services.measuring import evaluated
from scoring.scores.services.scoring import Target, score_run
from scoring.scores.services.slice_scores import (
    graded_queries,
    slice_parts,
    slices_compared,
    slices_of_release,
)

SURE = (ContaminatedQuery.Degree.EXACT, ContaminatedQuery.Degree.NEAR)


def evidence_of(*, gate: GateResult, policy: Policy, job: RunningJob) -> Evidence:
    """Everything that is known of baseline and candidate on a release; scores what is not scored.

    Of a public gate, of the queries of public splits alone.

    Raises
    ------
    EmptyQrelsError, NoCommonQueryError
        If a run cannot be scored on the release.
    """
    release, runs = gate.release, [gate.policy.baseline, gate.candidate]
    # By its name: a name is a run's for good.
    lexical = Run.objects.filter(
        benchmark=gate.policy.benchmark_id, name=policy.guard_rails.lexical
    )
    evidence = compared(
        policy=policy,
        release=release,
        runs=runs,
        lexical=lexical.first() if policy.guard_rails.lexical else None,
        is_public=gate.is_public,
        job=job,
    )
    job.progress(2, 4, "reading slices")
    return replace(
        evidence,
        process=process_of(
            policy=gate.policy,
            release=release,
            candidate=gate.candidate,
            queries=evidence.queries,
            is_public=gate.is_public,
        ),
        wanted=_wanted(policy, release, runs, evidence, is_public=gate.is_public),
    )


def compared(
    *,
    policy: Policy,
    release: Release,
    runs: list[Run],
    lexical: Run | None,
    is_public: bool,
    job: RunningJob,
) -> Evidence:
    """Values of baseline and candidate on a release, with slices and families."""
    queries = queries_of(release, policy.split, is_public=is_public)
    arms = [_arm(run, release, policy, queries, job) for run in (*runs, lexical) if run is not None]
    families = numbered(queries, release_families(release))
    members = slices_of_release(release)
    slices = slices_compared(release, is_public=is_public)
    return Evidence(
        queries=queries,
        baseline=arms[0],
        candidate=arms[1],
        lexical=arms[2] if len(arms) > 2 else None,
        slices={
            name: np.array([query in inside for query in queries])
            for name, inside in members.items()
        },
        families=families,
        registered=frozenset(each.name for each in slices if each.is_registered),
        parts=slice_parts(release, hidden=hidden_queries(release) if is_public else frozenset()),
    )


def _arm(run: Run, release: Release, policy: Policy, queries: list[str], job: RunningJob) -> Arm:
    score_set = _score_set(run, release, job)
    rows = (
        _stored(score_set, policy.scored) if score_set else _unstored(run, release, policy.scored)
    )
    return Arm(
        name=run.name,
        values={
            name: np.array([rows[qid][name] for qid in queries], dtype=float)
            for name in policy.scored
        },
        depth=max((rows[qid]["n_retrieved"] for qid in queries), default=0),
        missing=tuple(qid for qid in queries if rows[qid]["is_missing"]),
    )


def _score_set(run: Run, release: Release, job: RunningJob) -> ScoreSet | None:
    """The scores of a run, made where they lack.

    None of a run that was sent to phases of other splits than a hidden one: it would stand on the
    board, with its mean over hidden queries, whatever the limits of their phase.
    """
    score_set = ScoreSet.objects.filter(
        run=run, release=release, scorer_version=SCORER_VERSION
    ).first()
    if score_set or not runs_without_scores(release).filter(pk=run.pk).exists():
        return score_set
    job.progress(1, 4, f"scoring {run.name}")
    folder: Path = job.folder / str(run.pk)
    return score_run(run=run, target=Target.of(release), folder=folder, job=job)


def _stored(score_set: ScoreSet, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What is known of a scored run by query: values of these measures, and what it retrieved."""
    rows = {row["qid"]: row for row in per_query_values(score_set)}
    lacking = [name for name in names if name not in next(iter(rows.values()), {})]
    if lacking:
        for qid, values in evaluated(score_set, lacking).per_query.items():
            rows[qid].update(values)
    return rows


def _unstored(run: Run, release: Release, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The same of a run that is not scored on the release; nothing is kept."""
    target = Target.of(release)
    hits = target.hits_of(run_path(run))
    evaluation = evaluate_hits(
        target.judged, hits, names, allow_empty=True, top_grade=target.top_grade
    )
    return {
        qid: {
            **values,
            "n_retrieved": hits[qid].n_retrieved if qid in hits else 0,
            "is_missing": qid not in hits,
        }
        for qid, values in evaluation.per_query.items()
    }


# --- what must be judged -------------------------------------------------------------------------


def _wanted(
    policy: Policy, release: Release, runs: list[Run], evidence: Evidence, *, is_public: bool
) -> Wanted:
    """Unjudged documents in the order of what they can change, and how many are needed."""
    arms = [evidence.baseline, evidence.candidate]
    if all(np.nanmin(arm.of(policy.judged), initial=1.0) >= 1.0 for arm in arms):
        return Wanted()
    queries, grades = set(evidence.queries), release_qrels(release)
    worth = worth_judging(
        release=release, runs=runs, measure=policy.measure, k=policy.cutoff, is_public=is_public
    )
    baseline, candidate = (ranking_of(run, policy.cutoff) for run in runs)
    return wanted(
        baseline,
        candidate,
        {qid: grades[qid] for qid in evidence.queries},
        cutoff=policy.cutoff,
        is_sparse=policy.labels == "sparse",
        unlisted=NOT_LISTED_GRADE[unlisted_of(release.manifest)],
        order=[(entry.qid, entry.docid) for entry in worth if entry.qid in queries],
    )


# --- how it came about ---------------------------------------------------------------------------


def process_of(
    *,
    policy: GatePolicy,
    release: Release,
    candidate: Run,
    queries: Collection[str],
    is_public: bool = False,
) -> Process:
    """What is known of the way here; None stands for what nobody knows.

    Contaminated queries and stale labels are those of the `queries` that the gate looks at. Where
    it `is_public`, nothing of it rests on labels of hidden queries, or on whose a run is while that
    is a secret.
    """
    hidden = hidden_queries(release)
    others = graded_queries(release).difference(queries)
    labels = freshness_of_release(release, hidden=others).report.overall
    manifest = public_manifest(release.manifest) if is_public and hidden else release.manifest
    agreement = manifest.get("qrels", {}).get("agreement") or {}
    return Process(
        seen_before_policy=uploaded_at(candidate) < policy.created_at,
        # On hidden queries; where nothing is hidden they tell nothing.
        prior_submissions=(_prior_submissions(candidate, is_public=is_public) if hidden else None),
        contaminated=_contaminated(release, queries),
        stale_share=labels.share if labels.n else None,
        agreement=agreement.get("alpha"),
    )


def uploaded_at(run: Run) -> datetime:
    """When a run's file was first here."""
    return run.upload.created_at if run.upload else run.created_at


def _prior_submissions(candidate: Run, *, is_public: bool) -> int | None:
    """Earlier ones of one person or team, as far as whose they are is for those who read it."""
    if is_public and is_anonymous_to(candidate, None):
        return None
    by = {"team": candidate.team} if candidate.team_id else {"submitter": candidate.owner_id}
    earlier = Submission.objects.filter(phase__benchmark=candidate.benchmark_id, **by)
    if is_public:
        earlier = earlier.exclude(run__anonymous_until__gt=timezone.now())
    return (
        earlier.filter(state=Submission.State.SCORED, created_at__lt=candidate.created_at)
        .exclude(run=candidate)
        .count()
    )


def _contaminated(release: Release, queries: Collection[str]) -> int | None:
    if not ContaminationCheck.objects.filter(benchmark=release.benchmark_id).exists():
        return None
    rows = ContaminatedQuery.objects.filter(
        check_made__benchmark=release.benchmark_id, degree__in=SURE
    )
    return len(set(queries).intersection(rows.values_list("query__qid", flat=True)))
