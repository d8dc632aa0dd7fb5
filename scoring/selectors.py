"""Reads of submissions, scores and boards."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, isnan
from pathlib import Path
from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.core.formats.sources import open_lines
from benchmarks_app.models import Benchmark, Job, Query, Release, Run
from benchmarks_app.permissions import KEEPERS, role_in
from benchmarks_app.selectors import release_file_path, release_queries
from scoring.core import released
from scoring.core.stored_hits import ScoreFiles
from scoring.core.uncertainty import Standing
from scoring.core.weighting import weighted_name
from scoring.models import Phase, Score, ScoreSet, Submission
from scoring.shown import FIRST_MEASURE, MEASURES, Shown, added, measures_on

# Part of every score set's identity: raised whenever a number can come out differently.
SCORER_VERSION = "2"


def relevance_threshold(release: Release) -> int:
    """The lowest grade that counts as relevant on a release, as its manifest froze the scale."""
    return released.relevance_threshold(release.manifest)


# --- releases and phases -------------------------------------------------------------------


def published_releases(benchmark: Benchmark) -> QuerySet[Release]:
    return Release.objects.filter(benchmark=benchmark).published().newest_first()


def newest_release(benchmark: Benchmark) -> Release | None:
    return published_releases(benchmark).first()


def release_of_version(benchmark: Benchmark, version: str) -> Release | None:
    """The published release that is called `version` ("1.2.0"), or None."""
    parts = version.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    major, minor, patch = (int(part) for part in parts)
    found = published_releases(benchmark).filter(major=major, minor=minor, patch=patch).first()
    # "01.0.0" is another way to write a version, and a pinned address has one.
    return found if found and found.version == version else None


def open_phase(benchmark: Benchmark) -> Phase | None:
    """The phase of the newest release that takes submissions now."""
    now = timezone.now()
    return (
        Phase.objects.filter(benchmark=benchmark, opens_at__lte=now, daily_limit__gt=0)
        .filter(Q(closes_at=None) | Q(closes_at__gt=now))
        .filter(release__in=Release.objects.published())
        .select_related("release", "benchmark")
        .order_by("-release__major", "-release__minor", "-release__patch", "-pk")
        .first()
    )


@lru_cache(maxsize=8)
def _texts(path: Path) -> dict[str, str]:
    rows = (json.loads(line) for line in open_lines(path))
    return {row["_id"]: row.get("text", "") for row in rows}


def release_query_texts(release: Release) -> dict[str, str]:
    """{qid: text} as the release froze them; its files never change, so they are read once."""
    return _texts(release_file_path(release, "queries.jsonl"))


def release_families(release: Release) -> dict[str, str]:
    """{qid: family} as the release froze them."""
    found = {row["_id"]: row.get("metadata", {}).get("family") for row in release_queries(release)}
    return {qid: family for qid, family in found.items() if family}


# --- submissions ---------------------------------------------------------------------------


def submissions_seen_by(user: Any, benchmark: Benchmark) -> QuerySet[Submission]:
    """One's own, and all of the benchmark for who maintains it; newest first."""
    seen = Submission.objects.filter(phase__benchmark=benchmark)
    if role_in(user, benchmark) not in KEEPERS:
        seen = seen.filter(submitter=user)
    return seen.select_related(
        "phase__release", "phase__benchmark", "run", "submitter", "job"
    ).order_by("-created_at", "-pk")


# What becomes of these is not decided.
WAITING = (
    Submission.State.RECEIVED,
    Submission.State.VALIDATED,
    Submission.State.QUEUED,
    Submission.State.SCORING,
)


def state_of(submission: Submission) -> Submission.State:
    """The state as it is shown: one whose worker was lost is queued until another takes it."""
    job = submission.job
    if submission.state in WAITING and job and job.state == Job.State.QUEUED and job.attempt:
        return Submission.State.QUEUED
    return Submission.State(submission.state)


@dataclass(frozen=True)
class SubmissionRow:
    submission: Submission
    state: Submission.State
    scores: dict[str, float | None]


def submission_rows(submissions: Iterable[Submission]) -> list[SubmissionRow]:
    """Submissions with their means on the release they were made for; one query for all."""
    rows = list(submissions)
    wanted = Q(pk=None)
    for one in rows:
        if one.run_id:
            wanted |= Q(score_set__run=one.run_id, score_set__release=one.phase.release_id)
    found: dict[tuple[int, int], dict[str, float | None]] = {}
    scores = Score.objects.filter(
        wanted, slice_name="", score_set__scorer_version=SCORER_VERSION
    ).values_list("score_set__run", "score_set__release", "measure", "mean")
    for run, release, measure, mean in scores:
        found.setdefault((run, release), {})[measure] = mean
    return [_submission_row(one, found.get((one.run_id, one.phase.release_id), {})) for one in rows]


def _submission_row(submission: Submission, stored: dict[str, float | None]) -> SubmissionRow:
    threshold = relevance_threshold(submission.phase.release)
    scores = {shown.name: stored.get(shown.counting_from(threshold)) for shown in MEASURES}
    return SubmissionRow(submission, state_of(submission), scores)


# --- boards --------------------------------------------------------------------------------


Interval = tuple[float, float]


@dataclass(frozen=True)
class BoardRow:
    """One run on a board; `rank` is shared by runs whose shown scores are equal.

    Scores and intervals are by the whole names of measures. `standing` says which ranks the run may
    have and which runs it cannot be told from; None where that was not worked out.
    """

    rank: int
    is_tied: bool
    run: Run
    score_set: ScoreSet
    scores: dict[str, float | None]
    intervals: dict[str, Interval]
    is_mine: bool
    standing: Standing | None = None

    @property
    def n_answered(self) -> int:
        return n_answered(self.score_set)

    def standing_at(self, standing: Standing | None) -> "BoardRow":
        return replace(self, standing=standing)


def n_answered(score_set: ScoreSet) -> int:
    return score_set.n_queries - score_set.n_missing


def whole_score_sets(release: Release, slice_name: str = "") -> QuerySet[ScoreSet]:
    """The score sets of a release, with run, owner and means, overall or over a slice."""
    overall = Score.objects.filter(slice_name=slice_name)
    return (
        ScoreSet.objects.filter(release=release, scorer_version=SCORER_VERSION)
        .select_related("run__owner")
        .prefetch_related(Prefetch("scores", queryset=overall, to_attr="overall"))
    )


def score_sets_seen_by(user: Any, release: Release, slice_name: str = "") -> QuerySet[ScoreSet]:
    """The score sets of a release whose runs this person may see."""
    seen = Run.objects.filter(benchmark=release.benchmark_id).visible_to(user)
    return whole_score_sets(release, slice_name).filter(run__in=seen.values("pk"))


def leaderboard(
    *, release: Release, user: Any, measure: Shown = FIRST_MEASURE, slice_name: str = ""
) -> list[BoardRow]:
    """The runs of a release that this person may see, best first by `measure`.

    Two queries however many runs there are. Runs rank by the four decimals a board shows: what
    looks equal shares a rank, and the next rank counts all before it (1, 2, 2, 4). Equal ones stand
    by full score, then by name.
    """
    name = measure.counting_from(relevance_threshold(release))
    return _ranked(score_sets_seen_by(user, release, slice_name), name, user.pk)


def whole_leaderboard(*, release: Release, measure: Shown = FIRST_MEASURE) -> list[BoardRow]:
    """As `leaderboard`, with every run: for who sits at the machine itself."""
    name = measure.counting_from(relevance_threshold(release))
    return _ranked(whole_score_sets(release), name, None)


def _ranked(score_sets: Iterable[ScoreSet], name: str, user_id: int | None) -> list[BoardRow]:
    entries = [(one, {score.measure: score.mean for score in one.overall}) for one in score_sets]
    entries.sort(key=lambda entry: (-_sortable(entry[1].get(name)), entry[0].run.name))
    shown = [_shown(scores.get(name)) for _, scores in entries]
    n_equal, rank_of = Counter(shown), _first_places(shown)
    return [
        BoardRow(
            rank=rank_of[shown[place]],
            is_tied=n_equal[shown[place]] > 1,
            run=score_set.run,
            score_set=score_set,
            scores=scores,
            intervals=intervals_by_name(score_set.overall),
            is_mine=_is_submission_of(score_set.run, user_id),
        )
        for place, (score_set, scores) in enumerate(entries)
    ]


def weighted_scores(
    score_sets: Iterable[ScoreSet], measures: Iterable[str]
) -> dict[int, dict[str, Score]]:
    """The weighted means of score sets, by their keys and measures; one query for all."""
    rows = Score.objects.filter(
        score_set__in=[one.pk for one in score_sets],
        slice_name=Score.WEIGHTED,
        measure__in=list(measures),
    )
    found: dict[int, dict[str, Score]] = {}
    for score in rows:
        found.setdefault(score.score_set_id, {})[score.measure] = score
    return found


def intervals_by_name(scores: Iterable[Score]) -> dict[str, Interval]:
    """The intervals of the scores that have one, by the whole names of measures."""
    return {
        score.measure: (score.ci_low, score.ci_high)
        for score in scores
        if score.ci_low is not None and score.ci_high is not None
    }


def added_measures(rows: Iterable[BoardRow], threshold: int) -> list[Shown]:
    """Measures that somebody has added to a board, by name."""
    standard = {shown.name for shown in measures_on(threshold)}
    names = {name for row in rows for name in row.scores} - standard
    return [added(name) for name in sorted(names)]


def _is_submission_of(run: Run, user_id: int | None) -> bool:
    """Whether to point a run out to its owner: imported ones and baselines are nobody's entry."""
    return user_id is not None and run.owner_id == user_id and run.kind == Run.Kind.SUBMITTED


def _first_places(values: Iterable[str]) -> dict[str, int]:
    """Where each value stands first, from 1."""
    places: dict[str, int] = {}
    for place, value in enumerate(values, start=1):
        places.setdefault(value, place)
    return places


def _sortable(mean: float | None) -> float:
    return -inf if mean is None or isnan(mean) else mean


def _shown(mean: float | None) -> str:
    return f"{_sortable(mean):.4f}"


def n_runs_without_scores(release: Release) -> int:
    """How many runs of the benchmark were not scored on this release."""
    return runs_without_scores(release).count()


def runs_without_scores(release: Release) -> QuerySet[Run]:
    scored = ScoreSet.objects.filter(release=release, scorer_version=SCORER_VERSION)
    return Run.objects.filter(benchmark=release.benchmark_id).exclude(pk__in=scored.values("run"))


def score_files(score_set: ScoreSet) -> ScoreFiles:
    return ScoreFiles(files.local_path(score_set.per_query), files.local_path(score_set.hits))


def earlier_score_set(*, run: Run, release: Release) -> ScoreSet | None:
    """The run's scores on another release: on its parent if there, else on the newest."""
    others = (
        ScoreSet.objects.filter(run=run, scorer_version=SCORER_VERSION)
        .exclude(release=release)
        .select_related("release")
        .order_by("-release__major", "-release__minor", "-release__patch")
    )
    found = list(others)
    of_parent = (one for one in found if one.release_id == release.parent_id)
    return next(of_parent, found[0] if found else None)


# --- one run -------------------------------------------------------------------------------


def score_sets_of_run(run: Run) -> list[ScoreSet]:
    """All score sets of a run, the newest release first, with the overall means by measure."""
    shown = Score.objects.filter(slice_name__in=["", Score.WEIGHTED])
    sets = (
        ScoreSet.objects.filter(run=run, scorer_version=SCORER_VERSION)
        .select_related("release__benchmark")
        .prefetch_related(Prefetch("scores", queryset=shown, to_attr="shown"))
        .order_by("-release__major", "-release__minor", "-release__patch")
    )
    for one in sets:
        one.overall = [score for score in one.shown if not score.slice_name]
        one.weighted = [score for score in one.shown if score.slice_name]
        _complete(one)
    return list(sets)


def _complete(score_set: ScoreSet) -> None:
    """Set what pages show: means and intervals of the standard measures by their bare names.

    `added` holds the scores of the others, `weighted` a list of name and score where queries have
    weights, in the order in which the plain means stand.
    """
    threshold = relevance_threshold(score_set.release)
    by_name = {score.measure: score for score in score_set.overall}
    found = {shown.name: by_name.pop(shown.counting_from(threshold), None) for shown in MEASURES}
    there = {name: score for name, score in found.items() if score}
    score_set.means = {name: score.mean for name, score in there.items()}
    score_set.ranges = {
        name: (score.ci_low, score.ci_high)
        for name, score in there.items()
        if score.ci_low is not None
    }
    score_set.added = [by_name[name] for name in sorted(by_name)]
    weighted = {score.measure: score for score in score_set.weighted}
    labels = {shown.counting_from(threshold): shown.label for shown in MEASURES}
    labels |= {score.measure: score.measure for score in score_set.added}
    score_set.weighted = [
        (weighted_name(label), weighted[name]) for name, label in labels.items() if name in weighted
    ]
    score_set.n_answered = n_answered(score_set)


def score_set_of(*, run: Run, release: Release) -> ScoreSet | None:
    """The scores of a run on one release, or None."""
    return next((one for one in score_sets_of_run(run) if one.release_id == release.pk), None)


@dataclass(frozen=True)
class QueryRow:
    qid: str
    text: str
    pk: int | None
    is_missing: bool
    values: dict[str, Any]


def per_query_values(score_set: ScoreSet) -> list[dict[str, Any]]:
    """A dict per query of the release: `qid`, `is_missing`, `n_retrieved`, values by measure."""
    import polars as pl

    return pl.read_parquet(files.local_path(score_set.per_query)).to_dicts()


def sorted_queries(
    rows: list[dict[str, Any]], *, column: str, is_descending: bool
) -> list[dict[str, Any]]:
    """The rows by one column; equal ones stay in the order of their ids, NaN goes last."""
    defined = [row for row in rows if row[column] == row[column]]
    undefined = [row for row in rows if row[column] != row[column]]
    return sorted(defined, key=lambda row: row[column], reverse=is_descending) + undefined


def query_rows(score_set: ScoreSet, rows: Iterable[dict[str, Any]]) -> list[QueryRow]:
    """Rows of one page with their texts as released, and the keys of their pages."""
    page = list(rows)
    texts = release_query_texts(score_set.release)
    known = Query.objects.filter(
        benchmark=score_set.release.benchmark_id, qid__in=[row["qid"] for row in page]
    )
    keys = dict(known.values_list("qid", "pk"))
    return [
        QueryRow(
            qid=row["qid"],
            text=texts.get(row["qid"], ""),
            pk=keys.get(row["qid"]),
            is_missing=row["is_missing"],
            values=row,
        )
        for row in page
    ]
