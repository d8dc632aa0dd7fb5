"""Lists of what a run has and nobody has judged."""

from collections.abc import Iterator

from annotation.common.selectors.ledger import judged_pairs, last_event
from annotation.judging.protocol.errors import CompleteReleaseError, NothingUnjudgedError
from benchmarks_app.collections.services.candidates import make_candidate_list
from benchmarks_app.common.selectors.reading import run_path
from benchmarks_app.models import CandidateList, Release, Run, User
from benchwright.ids import LONGEST_NAME
from benchwright.runs.store import top_k


def unjudged_in_top(*, run: Run, depth: int, user: User) -> CandidateList:
    """A list of the documents in a run's first `depth` that have no label, by rank.

    Documents of rank 1 come before those of rank 2, and so on.

    Raises
    ------
    CompleteReleaseError
        If what the newest release does not list is known not to be relevant.
    NothingUnjudgedError
        If all of them are judged.
    """
    newest = Release.objects.filter(benchmark=run.benchmark).published().newest_first().first()
    if newest and newest.is_complete:
        raise CompleteReleaseError(release=newest.version)
    rows = list(_unjudged(run, depth))
    if not rows:
        raise NothingUnjudgedError(run=run.name, depth=depth)
    made_before = CandidateList.objects.filter(benchmark=run.benchmark).count()
    return make_candidate_list(
        benchmark=run.benchmark,
        rows=rows,
        name=f"{run.name}: unjudged in the first {depth} ({made_before + 1})"[-LONGEST_NAME:],
        origin=f"run {run.name}, first {depth} of each query without a label",
        user=user,
    )


def _unjudged(run: Run, depth: int) -> Iterator[tuple[str, str, int]]:
    judged = judged_pairs(run.benchmark, last_event(run.benchmark))
    for qid, docid, rank in top_k(run_path(run), depth):
        if (qid, docid) not in judged:
            yield qid, docid, rank
