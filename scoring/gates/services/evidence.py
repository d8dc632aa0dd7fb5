"""What a gate is decided on: values of both runs on a release, slices, families, the process."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np

from benchmarks_app.common.selectors.reading import release_qrels
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import ContaminatedQuery, ContaminationCheck, Release, Run
from benchmarks_app.releases.selectors import hidden_queries
from benchwright.formats.unlisted import NOT_LISTED_GRADE, unlisted_of
from benchwright.gates.evidence import Arm, Evidence, Process, Wanted, numbered
from benchwright.gates.policy import Policy
from benchwright.gates.wanted import wanted
from benchwright.releases.source import public_manifest
from scoring.completeness.services.completeness import worth_judging
from scoring.gates.services.policies import queries_of
from scoring.models import GatePolicy, ScoreSet, Submission
from scoring.planning.services.freshness import freshness_of_release
from scoring.scores.selectors.rankings import ranking_of
from scoring.scores.selectors.releases import SCORER_VERSION, release_families
from scoring.scores.selectors.runs import per_query_values
from scoring.scores.services.measuring import evaluated
from scoring.scores.services.scoring import Target, score_run
from scoring.scores.services.slice_scores import (
    graded_queries,
    slice_parts,
    slices_compared,
    slices_of_release,
)

SURE = (ContaminatedQuery.Degree.EXACT, ContaminatedQuery.Degree.NEAR)


def evidence_of(
    *,
    policy: GatePolicy,
    said: Policy,
    release: Release,
    candidate: Run,
    is_public: bool,
    job: RunningJob,
) -> Evidence:
    """Everything that is known of baseline and candidate on a release; scores what is not scored.

    Where it `is_public`, of the queries of public splits alone.

    Raises
    ------
    EmptyQrelsError, NoCommonQueryError
        If a run cannot be scored on the release.
    """
    found = compared(
        said=said,
        release=release,
        runs=[policy.baseline, candidate],
        lexical=_lexical(policy, said),
        is_public=is_public,
        job=job,
    )
    job.progress(2, 4, "reading slices")
    arms = [found.baseline, found.candidate]
    queries = list(found.queries)
    return replace(
        found,
        process=process_of(
            policy=policy, release=release, candidate=candidate, is_public=is_public
        ),
        wanted=_wanted(
            said, release, queries, [policy.baseline, candidate], arms, is_public=is_public
        ),
    )


def compared(
    *,
    said: Policy,
    release: Release,
    runs: list[Run],
    lexical: Run | None,
    is_public: bool,
    job: RunningJob,
) -> Evidence:
    """Values of baseline and candidate on a release, with slices and families."""
    queries = queries_of(release, said.split, is_public=is_public)
    arms = [_arm(run, release, said, queries, job) for run in (*runs, lexical) if run is not None]
    members = slices_of_release(release)
    known = slices_compared(release, is_public=is_public)
    registered = frozenset(one.name for one in known if one.is_registered)
    return Evidence(
        queries=queries,
        baseline=arms[0],
        candidate=arms[1],
        lexical=arms[2] if len(arms) > 2 else None,
        slices={
            name: np.array([query in inside for query in queries])
            for name, inside in members.items()
        },
        families=numbered(queries, release_families(release)),
        registered=registered,
        parts=slice_parts(release),
    )


def _lexical(policy: GatePolicy, said: Policy) -> Run | None:
    """The lexical run by its name: a name is a run's for good."""
    name = said.guard_rails.lexical
    return Run.objects.filter(benchmark=policy.benchmark_id, name=name).first() if name else None


def _arm(run: Run, release: Release, said: Policy, queries: list[str], job: RunningJob) -> Arm:
    score_set = _score_set(run, release, job)
    rows = {row["qid"]: row for row in per_query_values(score_set)}
    lacking = [name for name in said.scored if rows and name not in rows[queries[0]]]
    if lacking:
        for qid, values in evaluated(score_set, lacking).per_query.items():
            rows[qid].update(values)
    return Arm(
        name=run.name,
        values={
            name: np.array([rows[qid][name] for qid in queries], dtype=float)
            for name in said.scored
        },
        depth=max((rows[qid]["n_retrieved"] for qid in queries), default=0),
        missing=tuple(qid for qid in queries if rows[qid]["is_missing"]),
    )


def _score_set(run: Run, release: Release, job: RunningJob) -> ScoreSet:
    found = ScoreSet.objects.filter(run=run, release=release, scorer_version=SCORER_VERSION).first()
    if found:
        return found
    job.progress(1, 4, f"scoring {run.name}")
    folder: Path = job.folder / str(run.pk)
    return score_run(run=run, target=Target.of(release), folder=folder, job=job)


# --- what must be judged -------------------------------------------------------------------------


def _wanted(
    said: Policy,
    release: Release,
    queries: list[str],
    runs: list[Run],
    arms: list[Arm],
    *,
    is_public: bool,
) -> Wanted:
    """Unjudged documents in the order of what they can change, and how many are needed."""
    if all(np.nanmin(arm.of(said.judged), initial=1.0) >= 1.0 for arm in arms[:2]):
        return Wanted()
    inside, grades = set(queries), release_qrels(release)
    worth = worth_judging(
        release=release, runs=runs, measure=said.measure, k=said.cutoff, is_public=is_public
    )
    return wanted(
        ranking_of(runs[0], said.cutoff),
        ranking_of(runs[1], said.cutoff),
        {qid: grades[qid] for qid in queries},
        cutoff=said.cutoff,
        is_sparse=said.labels == "sparse",
        unlisted=NOT_LISTED_GRADE[unlisted_of(release.manifest)],
        order=[(one.qid, one.docid) for one in worth if one.qid in inside],
    )


# --- how it came about ---------------------------------------------------------------------------


def process_of(
    *, policy: GatePolicy, release: Release, candidate: Run, is_public: bool = False
) -> Process:
    """What is known of the way here; None stands for what nobody knows.

    Where it `is_public`, nothing of it rests on labels of hidden queries.
    """
    hidden = hidden_queries(release) if is_public else frozenset()
    return Process(
        seen_before_policy=uploaded_at(candidate) < policy.created_at,
        prior_submissions=_prior_submissions(release, candidate),
        contaminated=_contaminated(release, hidden),
        stale_share=_stale_share(release, hidden),
        agreement=_agreement(release, hidden),
    )


def uploaded_at(run: Run) -> datetime:
    """When a run's file was first here."""
    return run.upload.created_at if run.upload else run.created_at


def _prior_submissions(release: Release, candidate: Run) -> int | None:
    """Earlier ones on hidden queries, of one person or team; None where nothing is hidden."""
    if not hidden_queries(release):
        return None
    by = {"team": candidate.team} if candidate.team_id else {"submitter": candidate.owner_id}
    earlier = Submission.objects.filter(phase__benchmark=release.benchmark_id, **by)
    return (
        earlier.filter(state=Submission.State.SCORED, created_at__lt=candidate.created_at)
        .exclude(run=candidate)
        .count()
    )


def _contaminated(release: Release, hidden: frozenset[str]) -> int | None:
    if not ContaminationCheck.objects.filter(benchmark=release.benchmark_id).exists():
        return None
    rows = ContaminatedQuery.objects.filter(
        check_made__benchmark=release.benchmark_id, degree__in=SURE
    )
    graded = graded_queries(release) - hidden
    return len(graded.intersection(rows.values_list("query__qid", flat=True)))


def _stale_share(release: Release, hidden: frozenset[str]) -> float | None:
    report = freshness_of_release(release, hidden=hidden).report
    return report.overall.share if report.overall.n else None


def _agreement(release: Release, hidden: frozenset[str]) -> float | None:
    manifest = public_manifest(release.manifest) if hidden else release.manifest
    found = manifest.get("qrels", {}).get("agreement") or {}
    return found.get("alpha")
