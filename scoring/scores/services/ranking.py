"""Which ranks the runs of a board may have, and how sure its attempts are; worked out once.

Up to `MOST_RUNS` runs while a page waits, for more by a job, whose result stays on its row.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Job, Release
from benchwright.evaluation.uncertainty import Standing, numbered, ranked
from benchwright.measures import parse_measure
from benchwright.measures.families import SMALLEST_IN_GEOMETRIC_MEAN
from benchwright.texts.counting import counted
from scoring.models import ScoreSet
from scoring.scores.selectors.attempts import known_group_of
from scoring.scores.selectors.boards import BoardRow
from scoring.scores.selectors.releases import (
    SCORER_VERSION,
    measures_stored,
    release_families,
)
from scoring.scores.selectors.score_sets import score_files
from scoring.scores.services.measuring import evaluated
from scoring.scores.services.scoring import Target
from scoring.scores.services.slice_scores import members_of

JOB_KIND = "board-ranks"
# Above so many runs, or values, ranks are worked out no more while a page waits.
MOST_RUNS, MOST_VALUES = 60, 300_000
# Nor by a job above so many values: it would take hours.
MOST_JOB_VALUES = 20_000_000
# A board that changes all the time has its ranks worked out so often.
AGAIN_AFTER = timedelta(minutes=10)
# In the place of a group: the error of any run, for who has one attempt to be seen.
EVERYBODY = ""


@dataclass(frozen=True)
class BoardFacts:
    """Standings by the keys of score sets, errors of attempts by whose they are, and notes.

    Of a measure that is no mean there are no errors.
    """

    standings: Mapping[int, Standing]
    errors: Mapping[str, float]
    notes: Sequence[str] = ()

    def error_of(self, group: str) -> float:
        return self.errors.get(group, self.errors.get(EVERYBODY, 0.0))

    def as_json(self) -> dict[str, Any]:
        standings = {str(key): list(of) for key, of in self.standings.items()}
        return {"standings": standings, "errors": dict(self.errors), "notes": list(self.notes)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "BoardFacts":
        standings = {int(key): Standing(*of) for key, of in stored["standings"].items()}
        return cls(standings, stored["errors"], stored.get("notes", ()))


@dataclass(frozen=True)
class _Question:
    """What is to be worked out: these score sets by one measure, over all queries or a slice."""

    release: Release
    name: str
    slice_name: str
    score_sets: list[ScoreSet]

    @property
    def key(self) -> str:
        sets = [(score_set.pk, known_group_of(score_set.run)) for score_set in self.score_sets]
        # What is no mean was ranked as one.
        version = SCORER_VERSION if self.aggregation == "mean" else f"{SCORER_VERSION} 2"
        facts = repr((version, self.release.pk, self.name, self.slice_name, sets))
        return sha256(facts.encode()).hexdigest()

    @property
    def aggregation(self) -> str:
        return parse_measure(self.name).aggregation

    @property
    def board(self) -> str:
        """The board it belongs to, whichever runs stand on it; where values are held one apart."""
        keys = [score_set.pk for score_set in self.score_sets]
        is_held = len(keys) != len(set(keys))
        return f"{self.release.pk} {self.name} {self.slice_name}{' held' if is_held else ''}"

    @property
    def n_values(self) -> int:
        return sum(score_set.n_queries for score_set in self.score_sets)

    @property
    def is_large(self) -> bool:
        return len(self.score_sets) > MOST_RUNS or self.n_values > MOST_VALUES


def board_facts(
    *, release: Release, rows: Sequence[BoardRow], name: str, slice_name: str = ""
) -> BoardFacts | None:
    """What is known of the rows that have a value of the measure; None where not worked out (yet).

    On a large board only runs that everybody sees are ranked, so that one job serves all.
    """
    question = _question(release, rows, name, slice_name)
    if question is None:
        return None
    cached = f"ranks-{question.key}"
    facts = cache.get(cached)
    if facts is None:
        facts = _stored(question) if question.is_large else _worked_out(question)
        if facts is not None:
            cache.set(cached, facts, timeout=None)
    return facts


def _question(
    release: Release, rows: Sequence[BoardRow], name: str, slice_name: str
) -> _Question | None:
    ranked = [row for row in rows if row.scores.get(name) is not None]
    if any(not row.score_set.per_query for row in ranked):
        return None
    question = _Question(release, name, slice_name, [row.score_set for row in ranked])
    if not question.is_large:
        return question
    everybody_sees = sorted(
        (row.score_set for row in ranked if not row.is_private), key=lambda score_set: score_set.pk
    )
    return _Question(release, name, slice_name, everybody_sees)


def _stored(question: _Question) -> BoardFacts | None:
    done = Job.objects.filter(
        kind=JOB_KIND,
        benchmark=question.release.benchmark_id,
        state=Job.State.DONE,
        parameters__key=question.key,
    )
    job = done.order_by("-pk").first()
    return BoardFacts.from_json(job.result["facts"]) if job else None


# --- the job -------------------------------------------------------------------------------


def is_rankable(
    *, release: Release, rows: Sequence[BoardRow], name: str, slice_name: str = ""
) -> bool:
    """Whether a job ranks a large board: by a stored measure, and of not too many values."""
    question = _question(release, rows, name, slice_name)
    is_small_enough = question is not None and question.n_values <= MOST_JOB_VALUES
    return is_small_enough and name in measures_stored(release)


def start_ranking(
    *, release: Release, rows: Sequence[BoardRow], name: str, slice_name: str = ""
) -> Job | None:
    """Start the job that ranks a large board; None where there is none to start.

    That is so where the board is small, or where a job of it runs or ran just now.
    """
    question = _question(release, rows, name, slice_name)
    if question is None or not question.is_large:
        return None
    of_board = Job.objects.filter(
        kind=JOB_KIND, benchmark=release.benchmark_id, parameters__board=question.board
    )
    recent = of_board.filter(created_at__gt=timezone.now() - AGAIN_AFTER)
    if recent.exists() or of_board.active().exists():
        return None
    with transaction.atomic():
        return jobs.start(
            kind=JOB_KIND,
            title=f"Rank {len(question.score_sets):,} runs on {release.version} by {name}",
            benchmark=release.benchmark,
            user=None,
            parameters={
                "release": release.pk,
                "name": name,
                "slice": slice_name,
                "score_sets": [score_set.pk for score_set in question.score_sets],
                "key": question.key,
                "board": question.board,
            },
        )


def rank_board(job: RunningJob) -> None:
    """The handler: what `board_facts` then finds."""
    release = Release.objects.select_related("benchmark").get(pk=job.parameters["release"])
    keys = job.parameters["score_sets"]
    sets = ScoreSet.objects.filter(pk__in=keys).select_related("run").in_bulk()
    question = _Question(
        release, job.parameters["name"], job.parameters["slice"], [sets[key] for key in keys]
    )
    job.progress(0, len(keys), "reading the values of each query")
    facts = _worked_out(question)
    with job.commit() as result:
        result["facts"] = facts.as_json()
        result["made"] = [f"ranks of {counted(len(keys), 'run')}"]
        result["url"] = reverse(
            "scoring:leaderboard-release", args=[release.benchmark.slug, release.version]
        )


# --- computing -----------------------------------------------------------------------------


def _worked_out(question: _Question) -> BoardFacts:
    import numpy as np

    from benchwright.comparison.selection import error_of_attempts

    only = members_of(question.release, question.slice_name) if question.slice_name else None
    columns, qids = values_of(question.release, question.score_sets, question.name, only)
    families = release_families(question.release)
    values = np.array(columns, dtype=np.float64).reshape(len(columns), len(qids)).T
    if question.aggregation == "geometric":
        # Means of logarithms stand as geometric means do.
        values = np.log(np.maximum(values, SMALLEST_IN_GEOMETRIC_MEAN))
    ranking = ranked(values.T.tolist(), qids, families)
    keys = [score_set.pk for score_set in question.score_sets]
    standings = dict(zip(keys, ranking.standings, strict=True))
    if question.aggregation != "mean":
        return BoardFacts(standings, {}, ranking.notes)
    numbers = numbered(qids, families)
    places: dict[str, list[int]] = {}
    for place, score_set in enumerate(question.score_sets):
        places.setdefault(known_group_of(score_set.run), []).append(place)
    errors = {
        group: error_of_attempts(values[:, chosen], numbers)
        for group, chosen in places.items()
        if group and len(chosen) > 1
    }
    errors[EVERYBODY] = error_of_attempts(values, numbers)
    return BoardFacts(standings, errors, ranking.notes)


def values_of(
    release: Release, score_sets: Sequence[ScoreSet], name: str, only: Collection[str] | None
) -> tuple[list[list[float]], list[str]]:
    """Values of each score set, in the order of the queries, and the queries."""
    import polars as pl

    columns: list[list[float]] = []
    qids: list[str] = []
    target = None
    for score_set in score_sets:
        path = score_files(score_set).per_query
        if name in pl.read_parquet_schema(path):
            stored = pl.read_parquet(path, columns=["qid", name])
            by_query = dict(stored.iter_rows())
        else:
            target = target or Target.of(release)
            per_query = evaluated(score_set, [name], target=target).per_query
            by_query = {qid: of[name] for qid, of in per_query.items()}
        if not qids:
            inside = by_query if only is None else by_query.keys() & set(only)
            qids = sorted(inside, key=str.encode)
        columns.append([by_query[qid] for qid in qids])
    return columns, qids
