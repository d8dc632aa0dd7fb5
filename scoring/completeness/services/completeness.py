"""Unjudged documents that matter to runs on a release, and lists of them for judging."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from django.core.cache import cache

from benchmarks_app.collections.services.candidates import make_candidate_list
from benchmarks_app.models import CandidateList, Release, Run, User
from benchmarks_app.releases.selectors import hidden_queries
from benchwright.comparison.completeness import Worth
from benchwright.ids import LONGEST_NAME
from benchwright.measures import parse_measure
from scoring.comparisons.services.errors import NoPublicQueryError
from scoring.completeness.services.answers import Completeness, Unjudged
from scoring.scores.selectors.rankings import public_runs
from scoring.scores.selectors.releases import SCORER_VERSION
from scoring.scores.services.errors import NothingStillWorthJudgingError, NothingWorthJudgingError
from scoring.scores.services.slice_scores import graded_queries

MEASURE, CUTOFF = "nDCG@10", 10
# Every pair of so many runs is gone through while a page waits.
MOST_RUNS = 6
# What is surely there of the runs' names in the 200 characters of where a list is from.
NAMES_KEPT = 160
# What is retrieved where is looked at in so many runs.
MOST_EVIDENCE = 10


def completeness_of(
    *,
    release: Release,
    runs: Sequence[Run],
    measure: str = MEASURE,
    k: int | None = None,
    is_public: bool = False,
) -> Completeness:
    """The unjudged of one run, or of two and more and what they could still change.

    Where it `is_public`, the queries of hidden splits are left out, with what their grades teach.

    Worked out once for each question: runs and releases never change. `measure` says how deep it is
    looked at, by its cutoff, unless `k` does; influence and verdicts are those of nDCG there.

    Raises
    ------
    NoPublicQueryError
        If there are no other queries.
    UnknownMeasureError, MeasureParameterError, CutoffError
        If the measure is none.
    """
    k = k or _cutoff_of(measure)
    evidence = [*runs, *public_runs(release.benchmark, runs, MOST_EVIDENCE - len(runs))]
    keys = [[run.pk for run in runs], [run.pk for run in evidence]]
    facts = repr((SCORER_VERSION, release.pk, k, keys, is_public))
    key = f"unjudged-{sha256(facts.encode()).hexdigest()}"
    completeness = cache.get(key)
    if completeness is None:
        hidden = hidden_queries(release) if is_public else frozenset()
        if not graded_queries(release) - hidden:
            raise NoPublicQueryError(version=release.version)
        completeness = Unjudged(release, list(runs), evidence, k, hidden=hidden).answer()
        cache.set(key, completeness, timeout=None)
    return completeness


def worth_judging(
    *,
    release: Release,
    runs: Sequence[Run],
    measure: str = MEASURE,
    k: int | None = None,
    is_public: bool = False,
) -> list[Worth]:
    """Unjudged documents of the runs' first `k`, by what they can change: `Completeness.worth`."""
    completeness = completeness_of(
        release=release, runs=runs, measure=measure, k=k, is_public=is_public
    )
    return list(completeness.worth)


def make_top_up(
    *,
    release: Release,
    runs: Sequence[Run],
    user: User,
    measure: str = MEASURE,
    k: int | None = None,
    limit: int | None = None,
    name: str = "",
) -> CandidateList:
    """Keep the documents still worth judging, or the first `limit` of all, as a list for a pool.

    Those of hidden splits too. Who may read the list is decided where it is shown.

    Raises
    ------
    NothingWorthJudgingError
        If there are none, or without a `limit` none that is still worth judging.
    CandidateNameTakenError
        If the benchmark has a list of this name.
    """
    completeness = completeness_of(release=release, runs=runs, measure=measure, k=k)
    names = " and ".join(run.name for run in runs)
    if not completeness.worth:
        raise NothingWorthJudgingError(k=completeness.k, runs=names, release=release.version)
    if limit is None and not completeness.n_worth:
        raise NothingStillWorthJudgingError(n=len(completeness.worth), runs=names)
    n_before = CandidateList.objects.filter(benchmark=release.benchmark_id).count()
    made_name = f"{names[:80]}: worth judging on {release.version} ({n_before + 1})"
    return make_candidate_list(
        benchmark=release.benchmark,
        rows=[
            (entry.qid, entry.docid, entry.priority)
            for entry in completeness.worth[: limit or completeness.n_worth]
        ],
        name=(name or made_name)[:LONGEST_NAME],
        origin=(
            f"unjudged in the first {completeness.k} of {names}, by influence, on {release.version}"
        ),
        user=user,
    )


def _cutoff_of(measure: str) -> int:
    cutoff = parse_measure(measure).cutoff
    return cutoff if isinstance(cutoff, int) else CUTOFF


def lists_made(release: Release, runs: Iterable[Run]) -> list[CandidateList]:
    """Lists of this benchmark that came from these runs, the newest first."""
    names = " and ".join(run.name for run in runs)
    # Of long names a list keeps the beginning.
    origin = f" of {names}, by influence"[:NAMES_KEPT]
    rows = CandidateList.objects.filter(benchmark=release.benchmark_id, origin__contains=origin)
    return list(rows.order_by("-pk")[:5])


def pair_rows(completeness: Completeness, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The verdicts on each pair, with the runs."""
    by_key = {run.pk: run for run in runs}
    return [
        {
            "one": by_key[pair.run],
            "other": by_key[pair.other],
            "raw": pair.verdicts.raw,
            "raw_verdict": pair.verdicts.raw_verdict,
            "all_relevant": pair.verdicts.all_relevant,
            "all_relevant_verdict": pair.verdicts.all_relevant_verdict,
            "drawn_low": pair.verdicts.drawn_low,
            "drawn_high": pair.verdicts.drawn_high,
            "drawn_alike": pair.verdicts.drawn_alike,
            "is_settled": pair.verdicts.is_settled,
            "n_unjudged": pair.verdicts.n_unjudged,
        }
        for pair in completeness.pairs
    ]
