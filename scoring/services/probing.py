"""Pointing keepers to submissions that look made to read hidden grades."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from benchmarks_app.core.run_store import top_k
from benchmarks_app.models import Run, User
from benchmarks_app.selectors import hidden_queries, run_path
from benchmarks_app.services import audit
from scoring.core import probing
from scoring.models import ProbingFlag, Submission
from scoring.services.slice_scores import graded_queries

# With so many of one's own earlier submissions a new one is compared, the newest first.
COMPARED_WITH = 50
NAMED_AT_MOST = 5


def flag(submission: Submission) -> ProbingFlag | None:
    """Flag a scored submission that is very like an earlier one of the same person or team.

    Safe to repeat. Nothing is flagged where the release hides nothing.
    """
    related = ("run", "phase__release__benchmark", "phase__benchmark")
    submission = Submission.objects.select_related(*related).get(pk=submission.pk)
    release = submission.phase.release
    hidden = hidden_queries(release) & graded_queries(release)
    if submission.run is None or len(hidden) < probing.FEWEST_QUERIES:
        return None
    before = {one.pk: one for one in _earlier(submission)}
    rankings = {pk: _rankings(one.run, hidden) for pk, one in before.items()}
    found = probing.most_alike(_rankings(submission.run, hidden), rankings, hidden)
    if found is None:
        return None
    pk, likeness = found
    made, _ = ProbingFlag.objects.get_or_create(
        submission=submission,
        earlier=before[pk],
        kind=probing.suspicion(likeness),
        defaults={"evidence": evidence_of(likeness, n_compared=len(before))},
    )
    return made


def evidence_of(likeness: probing.Likeness, *, n_compared: int) -> dict[str, object]:
    """The numbers of a flag as they are kept: whose queries are named, the grades are not."""
    return {
        "depth": probing.DEPTH,
        "n_queries": likeness.n_queries,
        "n_differing": len(likeness.differing),
        "share_equal": round(likeness.share, 4),
        "queries": sorted(likeness.differing, key=str.encode)[:NAMED_AT_MOST],
        "n_compared": n_compared,
    }


@transaction.atomic
def settle(*, flag: ProbingFlag, by: User) -> ProbingFlag:
    """Note that somebody has looked at a flag; one that is settled stays as it was."""
    open_flags = ProbingFlag.objects.filter(pk=flag.pk, settled_at=None)
    if open_flags.update(settled_by=by, settled_at=timezone.now()):
        benchmark = flag.submission.phase.benchmark
        audit.record(
            actor=by, action="settle-probing", benchmark=benchmark, target=flag.submission.name
        )
    flag.refresh_from_db()
    return flag


def _earlier(submission: Submission) -> QuerySet[Submission]:
    by_same = Q(submitter=submission.submitter_id)
    if submission.team_id:
        by_same |= Q(team=submission.team_id)
    scored = Submission.objects.filter(
        by_same,
        phase__benchmark=submission.phase.benchmark_id,
        state=Submission.State.SCORED,
        pk__lt=submission.pk,
    )
    scored = scored.exclude(run=submission.run_id).select_related("run")
    return scored.order_by("-pk")[:COMPARED_WITH]


def _rankings(run: Run, qids: Collection[str]) -> dict[str, list[str]]:
    """The first documents of these queries, best first."""
    found: dict[str, list[str]] = {}
    for row in top_k(run_path(run), probing.DEPTH):
        if row.qid in qids:
            found.setdefault(row.qid, []).append(row.docid)
    return found
