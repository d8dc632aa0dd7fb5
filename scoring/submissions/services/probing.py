"""Pointing keepers to submissions that look made to read hidden grades."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from benchmarks_app.common.selectors.reading import run_path
from benchmarks_app.common.services import audit
from benchmarks_app.models import Run, User
from benchmarks_app.releases.selectors import hidden_queries
from benchwright.leaks import probing
from benchwright.runs.store import top_k
from scoring.models import ProbingFlag, Submission
from scoring.scores.services.slice_scores import graded_queries

# With so many of one's own earlier submissions a new one is compared, the newest first.
COMPARED_WITH = 50
NAMED_AT_MOST = 5
# Kind, the submission it is like, if any, and numbers.
Suspicion: TypeAlias = tuple[str, Submission | None, dict[str, Any]]


def flag(submission: Submission) -> list[ProbingFlag]:
    """Flag a scored submission that looks made to read hidden grades, and those sent after it.

    These were not compared with it where they were scored before it was. Safe to repeat. Nothing is
    flagged where the release hides nothing.
    """
    if not submission.phase.release.hidden_splits:
        return []
    later = Submission.objects.filter(
        phase__benchmark=submission.phase.benchmark_id,
        state=Submission.State.SCORED,
        pk__gt=submission.pk,
    )
    return [
        raised
        for each in (submission, *later.order_by("pk")[:COMPARED_WITH])
        for raised in _flagged(each)
    ]


def _flagged(submission: Submission) -> list[ProbingFlag]:
    """What one submission is flagged for, at most once a kind.

    It is looked at alone, beside earlier ones of its person or team, and beside those of others.
    """
    related = ("run", "phase__release__benchmark", "phase__benchmark")
    submission = Submission.objects.select_related(*related).get(pk=submission.pk)
    release = submission.phase.release
    hidden = hidden_queries(release) & graded_queries(release)
    if submission.run is None or len(hidden) < probing.FEWEST_QUERIES:
        return []
    mine = _rankings(submission.run, hidden)
    flags = [
        *_alone(mine, hidden),
        *_beside_own(mine, hidden, _earlier(submission)),
        *_beside_others(mine, hidden, _of_others(submission)),
    ]
    return [
        ProbingFlag.objects.get_or_create(
            submission=submission, kind=kind, earlier=earlier, defaults={"evidence": evidence}
        )[0]
        for kind, earlier, evidence in flags
    ]


def _alone(mine: probing.Rankings, hidden: Collection[str]) -> Iterator[Suspicion]:
    share = probing.distinct_share(mine, hidden)
    if share <= probing.FEW_DOCUMENTS:
        evidence = {"depth": probing.DEPTH, "n_queries": len(hidden)}
        yield probing.SAME_DOCUMENTS, None, {**evidence, "share_distinct": round(share, 4)}


def _beside_own(
    mine: probing.Rankings, hidden: Collection[str], earlier: Iterable[Submission]
) -> Iterator[Suspicion]:
    """Beside the one it is most like: nearly equal, or equal documents in another order."""
    before = {submission.pk: submission for submission in earlier}
    rankings = _rankings_of(before, hidden)
    alike = probing.most_alike(mine, rankings, hidden)
    if alike is not None:
        pk, likeness = alike
        evidence = evidence_of(likeness, n_compared=len(before))
        yield probing.suspicion(likeness), before[pk], evidence
        return
    yield from _with_their_documents(mine, hidden, before, rankings, is_own=True)


def _beside_others(
    mine: probing.Rankings, hidden: Collection[str], others: Iterable[Submission]
) -> Iterator[Suspicion]:
    before = {submission.pk: submission for submission in others}
    rankings = _rankings_of(before, hidden)
    yield from _with_their_documents(mine, hidden, before, rankings, is_own=False)


def _rankings_of(
    submissions: Mapping[int, Submission], hidden: Collection[str]
) -> dict[int, probing.Rankings]:
    """What each has ranked; every scored submission has a run."""
    return {
        pk: _rankings(submission.run, hidden)
        for pk, submission in submissions.items()
        if submission.run
    }


def _with_their_documents(
    mine: probing.Rankings,
    hidden: Collection[str],
    before: Mapping[int, Submission],
    rankings: Mapping[int, probing.Rankings],
    *,
    is_own: bool,
) -> Iterator[Suspicion]:
    """The newest of them that has the same documents."""
    for pk, theirs in rankings.items():
        candidates = probing.candidates(mine, theirs, hidden)
        kind = probing.suspicion_of_candidates(candidates, is_own=is_own)
        if kind:
            evidence = {"depth": probing.DEPTH, "n_queries": candidates.n_queries}
            evidence |= {"n_equal": candidates.n_equal, "n_reordered": candidates.n_reordered}
            yield kind, before[pk], {**evidence, "n_compared": len(before)}
            return


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
    return _scored_before(submission).filter(_by_same(submission))[:COMPARED_WITH]


def _of_others(submission: Submission) -> QuerySet[Submission]:
    return _scored_before(submission).exclude(_by_same(submission))[:COMPARED_WITH]


def _by_same(submission: Submission) -> Q:
    by_same = Q(submitter=submission.submitter_id)
    return by_same | Q(team=submission.team_id) if submission.team_id else by_same


def _scored_before(submission: Submission) -> QuerySet[Submission]:
    """Those of other runs, the newest first."""
    scored = Submission.objects.filter(
        phase__benchmark=submission.phase.benchmark_id,
        state=Submission.State.SCORED,
        pk__lt=submission.pk,
    )
    return scored.exclude(run=submission.run_id).select_related("run").order_by("-pk")


def _rankings(run: Run, qids: Collection[str]) -> dict[str, list[str]]:
    """The first documents of these queries, best first."""
    rankings: dict[str, list[str]] = {}
    for row in top_k(run_path(run), probing.DEPTH):
        if row.qid in qids:
            rankings.setdefault(row.qid, []).append(row.docid)
    return rankings
