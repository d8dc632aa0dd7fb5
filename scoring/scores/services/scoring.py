"""Scoring runs on a release: from its files only, into a score set that is written once."""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction

from benchmarks_app import files
from benchmarks_app.common.selectors.reading import release_qrels, release_qrels_paths, run_path
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Release, Run
from benchmarks_app.releases.selectors import release_splits
from benchwright import Evaluation, evaluate_hits
from benchwright.datasets import released
from benchwright.errors import NoCommonQueryError, NoWeightError
from benchwright.evaluation.stored_hits import (
    ScoreFiles,
    StoredHits,
    rescan_stored_run,
    scan_stored_run,
    unchanged_queries,
    write_score_files,
)
from benchwright.evaluation.uncertainty import MeanInterval, Recipe, mean_intervals, recipe
from benchwright.evaluation.weighting import SUFFIX, weighted_means
from benchwright.files.sources import sha256_of
from benchwright.ids import some_ids
from benchwright.reading.hits import Judged, QueryHits
from benchwright.runs.store import grades_frame
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.phases import split_members
from scoring.scores.selectors.releases import (
    SCORER_VERSION,
    measures_stored,
    release_families,
    scorer_version_of,
    weights_of,
)
from scoring.scores.selectors.score_sets import earlier_score_set, score_files
from scoring.scores.services import ladder
from scoring.scores.services.slice_scores import (
    SliceEvaluation,
    slice_evaluations,
    slices_of_release,
)

if TYPE_CHECKING:
    import polars as pl

# In a run's metadata: queries of its file that the benchmark lacks, which are not stored.
LEFT_OUT = "queries left out"


# --- numbers -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A release as scoring sees it: its own grades, read from its files once."""

    release: Release
    qrels: Mapping[str, Mapping[str, int]]
    _unchanged: dict[int, frozenset[str]] = field(default_factory=dict)
    # The one split that is looked at; empty where all are.
    split: str = ""

    @classmethod
    def of(cls, release: Release) -> "Target":
        return cls(release, release_qrels(release))

    @classmethod
    def of_split(cls, release: Release, split: str, qids: Collection[str]) -> "Target":
        """The queries of one split alone; its score sets are on no board."""
        qrels = release_qrels(release)
        return cls(
            release,
            {qid: grades for qid, grades in qrels.items() if qid in qids},
            split=split,
        )

    @property
    def scorer_version(self) -> str:
        """Under which name its score sets are kept: boards read those of `SCORER_VERSION` alone."""
        return scorer_version_of(self.split) if self.split else SCORER_VERSION

    @cached_property
    def asked(self) -> frozenset[str]:
        """The queries that a run is asked for: the graded ones, and all of hidden splits.

        What is said of a run must not tell which of these are graded.
        """
        hidden = [split for split in self.release.hidden_splits if self.split in ("", split)]
        splits = release_splits(self.release) if hidden else {}
        return frozenset(self.qrels).union(*(splits.get(split, ()) for split in hidden))

    @cached_property
    def names(self) -> list[str]:
        """The measures that are stored: those of every board, and those declared."""
        return measures_stored(self.release)

    @cached_property
    def frame(self) -> "pl.DataFrame":
        """The grades as a run is joined with them."""
        return grades_frame(self.qrels)

    @cached_property
    def judged(self) -> dict[str, Judged]:
        is_complete = self.release.is_complete
        return {qid: Judged(tuple(of.values()), is_complete) for qid, of in self.qrels.items()}

    @property
    def top_grade(self) -> int | None:
        return released.top_grade(self.release.manifest)

    def hits_of(self, parquet: Path) -> StoredHits:
        """What a stored run has of the grades, of every query it answers."""
        return scan_stored_run(parquet, self.frame)

    def evaluation_of(self, hits: Mapping[str, QueryHits[str]]) -> Evaluation[str]:
        """The measures that are stored, of these hits.

        Raises
        ------
        EmptyQrelsError, EmptyRunError, NoCommonQueryError
            If there is nothing to compare.
        """
        if hits and self.asked.isdisjoint(hits):
            raise NoCommonQueryError(run_ids=some_ids(hits), qrel_ids=some_ids(self.asked))
        return evaluate_hits(
            self.judged, hits, self.names, allow_empty=bool(hits), top_grade=self.top_grade
        )

    def slice_evaluations(
        self,
        found: Mapping[str, QueryHits[str]],
        names: Iterable[str],
        members: Mapping[str, Collection[str]] | None = None,
    ) -> Iterator[SliceEvaluation]:
        """Measures over each slice and split of the release, or over those given."""
        if members is None and self.split:
            members = {}  # a part of the queries is shown as a whole alone
        return slice_evaluations(
            {**slices_of_release(self.release), **split_members(self.release)}
            if members is None
            else members,
            judged=self.judged,
            found=found,
            names=names,
            top_grade=self.top_grade,
            families=self.families,
        )

    @cached_property
    def families(self) -> dict[str, str]:
        return release_families(self.release)

    def weighted_scores_of(self, score_set: ScoreSet, evaluation: Evaluation[str]) -> list[Score]:
        """A row for each weighted mean, not saved yet, where the release's queries have weights."""
        weights = weights_of(self.release)
        if not weights:
            return []
        try:
            weighted = weighted_means(
                evaluation, weights, families=self.families, has_intervals=True
            )
        except NoWeightError:
            return []
        return [
            Score(
                score_set=score_set,
                measure=named.removesuffix(SUFFIX),
                slice_name=Score.WEIGHTED,
                mean=None if mean != mean else mean,
                ci_low=weighted.intervals[named][0] if named in weighted.intervals else None,
                ci_high=weighted.intervals[named][1] if named in weighted.intervals else None,
                n=weighted.n_queries - weighted.n_undefined[named],
                judged_share=None,
            )
            for named, mean in weighted.means.items()
        ]

    def unchanged_since(self, earlier: Release) -> frozenset[str]:
        """Queries that have the same grades on both releases; worked out once for all runs."""
        if earlier.pk not in self._unchanged:
            before = release_qrels(earlier)
            self._unchanged[earlier.pk] = unchanged_queries(before, self.qrels)
        return self._unchanged[earlier.pk]


# By the files of the grades; a process holds few releases, and the grades of hidden splits among
# them where they may be: in a worker.
_HELD: OrderedDict[tuple[str, ...], Target] = OrderedDict()
GRADES_HELD = 200_000


def held_target(release: Release, split: str, qids: Collection[str]) -> Target:
    """The target of a release, or of one split of it, from the last time where it was small.

    For what is scored many times. The files are looked at each time: one that was changed or is
    gone is refused as ever.
    """
    key = (*map(str, release_qrels_paths(release)), str(release.pk), split)
    target = _HELD.pop(key, None)
    # Its manifest has the digests of all its files.
    if target is None or target.release.manifest != release.manifest:
        target = Target.of_split(release, split, qids) if split else Target.of(release)
    _HELD[key] = target
    while sum(map(_n_grades, _HELD.values())) > GRADES_HELD:
        _HELD.popitem(last=False)
    return target


def _n_grades(target: Target) -> int:
    return sum(map(len, target.qrels.values()))


@dataclass(frozen=True)
class Scored:
    """What scoring one run gave: the evaluation, the intervals of its means, two staged files."""

    evaluation: Evaluation[str]
    intervals: Mapping[str, MeanInterval]
    recipe: Recipe
    files: ScoreFiles
    slices: tuple[SliceEvaluation, ...] = ()

    @classmethod
    def of(
        cls,
        evaluation: Evaluation[str],
        hits: Mapping[str, QueryHits[str]],
        *,
        target: Target,
        folder: Path,
    ) -> "Scored":
        return cls(
            evaluation=evaluation,
            intervals=mean_intervals(evaluation, target.families),
            recipe=recipe(evaluation.per_query, target.families),
            files=write_score_files(evaluation, hits, folder),
            slices=tuple(target.slice_evaluations(hits, target.names)),
        )


def scored_run(*, hits: Mapping[str, QueryHits[str]], target: Target, folder: Path) -> Scored:
    """Score what a stored run has of a release; writes its score files into `folder`.

    Raises
    ------
    EmptyQrelsError, NoCommonQueryError
        If there is nothing to compare.
    """
    evaluation = target.evaluation_of(hits)
    return Scored.of(evaluation, hits, target=target, folder=folder)


def rescored_run(*, run: Run, earlier: ScoreSet, target: Target, folder: Path) -> Scored:
    """As `scored_run`, from the hits on an earlier release where the grades are what they were.

    Raises
    ------
    EmptyQrelsError, NoCommonQueryError
        If there is nothing to compare.
    """
    hits = rescan_stored_run(
        run_path(run),
        target.qrels,
        earlier=score_files(earlier),
        unchanged=target.unchanged_since(earlier.release),
    )
    if not hits:  # no query in common, which the whole run tells best
        hits = target.hits_of(run_path(run))
        return scored_run(hits=hits, target=target, folder=folder)
    evaluation = target.evaluation_of(hits)
    # Queries without qrels were not looked at: they are those of the run that are not here.
    evaluation = evaluation.replaced(n_extra=run.n_queries - len(hits))
    return Scored.of(evaluation, hits, target=target, folder=folder)


def store_scores(
    *, run: Run, target: Target, scored: Scored, n_left_out: int = 0, is_new_run: bool = False
) -> ScoreSet:
    """Publish the files and write the rows; a score set that is there already is left alone.

    Called inside the transaction that makes the result visible. `n_left_out` queries of the run's
    file are not stored and count as extra all the same. One that was made in this transaction has
    no score set, and none is looked for.
    """
    evaluation = scored.evaluation
    key: dict[str, Any] = {
        "run": run,
        "release": target.release,
        "scorer_version": target.scorer_version,
    }
    values: dict[str, Any] = {
        "per_query": _published(scored.files.per_query, target.release),
        "hits": _published(scored.files.hits, target.release),
        "n_queries": evaluation.n_queries,
        "n_missing": evaluation.n_missing,
        "n_extra": evaluation.n_extra + n_left_out,
        "intervals": scored.recipe.as_dict(),
    }
    if is_new_run:
        score_set, is_new = ScoreSet.objects.create(**key, **values), True
    else:
        score_set, is_new = ScoreSet.objects.get_or_create(**key, defaults=values)
    if is_new:
        Score.objects.bulk_create(scores_of(score_set, evaluation, scored.intervals))
        Score.objects.bulk_create(slice_scores_of(score_set, scored.slices), batch_size=2_000)
        Score.objects.bulk_create(target.weighted_scores_of(score_set, evaluation))
        ladder.decide(score_set)
    return score_set


def slice_scores_of(score_set: ScoreSet, slices: Iterable[SliceEvaluation]) -> list[Score]:
    """A row for each measure over each slice, not saved yet."""
    return [
        score
        for part in slices
        for score in scores_of(score_set, part.evaluation, part.intervals, slice_name=part.name)
    ]


def scores_of(
    score_set: ScoreSet,
    evaluation: Evaluation[str],
    intervals: Mapping[str, MeanInterval],
    *,
    slice_name: str = "",
) -> list[Score]:
    """A row for each measure of the evaluation, not saved yet."""
    return [
        Score(
            score_set=score_set,
            measure=name,
            slice_name=slice_name,
            mean=_defined(evaluation.means[name]),
            ci_low=intervals[name].low if name in intervals else None,
            ci_high=intervals[name].high if name in intervals else None,
            n=evaluation.n_queries - evaluation.n_undefined[name],
            judged_share=_defined(evaluation.judged_shares[name]),
        )
        for name in map(str, evaluation.measures)
    ]


def _published(path: Path, release: Release) -> str:
    return files.publish(path, f"scores/{release.benchmark_id}/{sha256_of(path)}.parquet")


def _defined(value: float) -> float | None:
    return None if isnan(value) else value


def score_run(*, run: Run, target: Target, folder: Path, job: RunningJob | None = None) -> ScoreSet:
    """Score one run on one release, in a transaction of its own; safe to repeat.

    With `job` the writing is fenced: an attempt that was given up for lost writes nothing.
    """
    earlier = earlier_score_set(run=run, release=target.release)
    if earlier and target.unchanged_since(earlier.release):
        scored = rescored_run(run=run, earlier=earlier, target=target, folder=folder)
    else:
        scored = scored_run(hits=target.hits_of(run_path(run)), target=target, folder=folder)
    with job.fenced() if job else transaction.atomic():
        return store_scores(
            run=run, target=target, scored=scored, n_left_out=run.metadata.get(LEFT_OUT, 0)
        )
