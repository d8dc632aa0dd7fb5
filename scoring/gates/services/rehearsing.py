"""Rehearsals: a draft of a policy tried on runs that are there, as a job, before it is frozen."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Benchmark, Release, Run, User
from benchwright.gates.errors import RehearsalError
from benchwright.gates.policy import policy_from
from benchwright.gates.rehearsal.rehearsing import (
    COLUMNS,
    MOST_RUNS,
    rehearsed,
    summary_of,
    table_of,
)
from scoring.gates.selectors import gates_seen_by, rehearsal_told
from scoring.gates.services.errors import GateItselfError, RehearsalTooLateError
from scoring.gates.services.evidence import compared
from scoring.gates.services.policies import check_run, make_policy, policy_of, queries_of
from scoring.models import GatePolicy, GateRehearsal, GateResult
from scoring.scores.selectors.releases import release_of_version
from scoring.scores.services.firewall import sight_of

KIND = "rehearse-gate"
STATES = GateRehearsal.State


def start_rehearsal(
    *,
    benchmark: Benchmark,
    release: Release,
    name: str,
    baseline: Run,
    runs: Sequence[Run],
    content: Mapping[str, Any],
    user: User,
    lexical: Run | None = None,
    seed: int = 0,
) -> GateRehearsal:
    """Ask how often a draft is right between the baseline and 1 to 10 other runs.

    For who may not see all grades of the release it is tried on the public queries.

    Raises
    ------
    PolicyFormatError, PolicySlicesError, PolicySplitError
        If the content is no policy of this benchmark.
    RehearsalError, GateItselfError, GateRunError
        If there are no runs or too many, or one is the baseline, of elsewhere or withdrawn.
    NoPublicQueryError
        If there are no queries that this person may see the grades of.
    RehearsalTooLateError
        If a run is a candidate already, or the same policy has decided of one, as they may know.
    """
    if not 1 <= len(runs) <= MOST_RUNS:
        raise RehearsalError(count=len(runs), most=MOST_RUNS)
    for run in filter(None, (baseline, lexical, *runs)):
        check_run(run, benchmark)
    if baseline in runs:
        raise GateItselfError(run=baseline.name, policy=name)
    policy = policy_of(benchmark, content, baseline=baseline, lexical=lexical)
    with transaction.atomic():
        _check_unseen(gates_seen_by(user, benchmark), name, policy.digest, runs)
        is_public = not sight_of(user, release).is_clear
        queries_of(release, policy.split, is_public=is_public)
        rehearsal = GateRehearsal.objects.create(
            benchmark=benchmark,
            release=release,
            is_public=is_public,
            name=name,
            baseline=baseline,
            lexical=lexical,
            content=policy.as_dict(),
            digest=policy.digest,
            seed=seed,
            created_by=user,
        )
        rehearsal.runs.set(runs)
        audit.record(actor=user, action="start-rehearsal", benchmark=benchmark, target=name)
        rehearsal.job = jobs.start(
            kind=KIND,
            title=f"Rehearsal of {name}",
            benchmark=benchmark,
            user=user,
            parameters={"rehearsal": rehearsal.pk},
        )
        rehearsal.save(update_fields=["job"])
    return rehearsal


def _check_unseen(gates: QuerySet[GateResult], name: str, digest: str, runs: Sequence[Run]) -> None:
    """Refuse what comes after a verdict that somebody sees: others have told them nothing."""
    candidate = gates.filter(policy__name=name, candidate__in=runs).first()
    if candidate is not None:
        facts = {"run": candidate.candidate.name, "policy": name}
        reason = _("'%(run)s' is a candidate of %(policy)s") % facts
        raise RehearsalTooLateError(reason=reason)
    decided = gates.filter(policy__name=name, policy__digest=digest).first()
    if decided is not None:
        facts = {"run": decided.candidate.name, "policy": str(decided.policy)}
        reason = _("%(policy)s has been asked about '%(run)s'") % facts
        raise RehearsalTooLateError(reason=reason)


def rehearse(job: RunningJob) -> None:
    """The handler; what keeps it from its end is told by `set_back_gates`."""
    rehearsals = GateRehearsal.objects.select_related("benchmark", "baseline", "lexical", "release")
    rehearsal = rehearsals.get(pk=job.parameters["rehearsal"])
    if rehearsal.state == STATES.DONE:
        return
    policy = policy_from(rehearsal.content)
    pairs = [
        compared(
            policy=policy,
            release=rehearsal.release,
            runs=[rehearsal.baseline, run],
            lexical=rehearsal.lexical,
            is_public=rehearsal.is_public,
            job=job,
        )
        for run in rehearsal.runs.order_by("name")
    ]
    rates = rehearsed(policy, pairs, seed=rehearsal.seed, progress=job.progress)
    rates["release"] = rehearsal.release.version
    rates["is_public"] = rehearsal.is_public
    with job.commit() as result:
        GateRehearsal.objects.filter(pk=rehearsal.pk).update(
            state=STATES.DONE, result=rates, error=""
        )
        result["made"] = [f"how often {rehearsal.name} is right"]
        result["url"] = rehearsal.get_absolute_url()


def freeze_rehearsed(*, rehearsal: GateRehearsal, user: User) -> GatePolicy:
    """Freeze the draft, with the rates it was rehearsed to; raises as `make_policy` does."""
    return make_policy(
        benchmark=rehearsal.benchmark,
        name=rehearsal.name,
        baseline=rehearsal.baseline,
        lexical=rehearsal.lexical,
        content=rehearsal.content,
        user=user,
    )


# --- what one person may be told ------------------------------------------------------------------


def rehearsal_seen(user: Any, benchmark: Benchmark, rehearsal: dict[str, Any]) -> dict[str, Any]:
    """Rates as this person may read them; empty where they rest on queries hidden from them."""
    rates = rehearsal_told(user, benchmark, rehearsal)
    if not rates or rates.get("is_public"):
        return rates
    release = release_of_version(benchmark, rates.get("release", ""))
    is_clear = release is not None and sight_of(user, release).is_clear
    return rates if is_clear else {}


def rates_told(user: Any, benchmark: Benchmark, rehearsal: dict[str, Any]) -> dict[str, Any]:
    """A rehearsal as pages show it; empty where there is none."""
    rates = rehearsal_seen(user, benchmark, rehearsal)
    if not rates:
        return {}
    return {
        "summary": summary_of(rates),
        "columns": COLUMNS,
        "rows": table_of(rates),
        "warnings": rates["warnings"],
    }
