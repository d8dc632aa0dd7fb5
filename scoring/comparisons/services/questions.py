"""What can be compared: runs scored on a release, by a measure, over the slices that are shown."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from benchmarks_app.models import Release, Run
from benchmarks_app.releases.selectors import hidden_queries
from benchwright.comparison.comparing import LARGEST_TABLE
from benchwright.comparison.patterns import Roles
from benchwright.formats.numbers import row_key
from benchwright.ids import LONGEST_NAME
from benchwright.measures import parse_measure
from scoring.comparisons.services.errors import (
    ComparedRunError,
    NotScoredHereError,
    TooManyComparedError,
)
from scoring.models import Comparison, ScoreSet
from scoring.scores.selectors.releases import SCORER_VERSION, relevance_threshold
from scoring.scores.services.slice_scores import graded_queries, slices_compared
from scoring.scores.shown import spelled, with_threshold

# Raised whenever a stored result would come out differently.
VERSION = 2
MOST_RUNS = 60
# Queries x measures x slices that a page waits for, of ten runs half as many; about three seconds
# of one processor, nearly all of it resampling.
INLINE_VALUES = 20_000
# Pairs x slices above which a comparison of many runs keeps to all queries.
MOST_PLACES = 4_000


@dataclass(frozen=True)
class Question:
    """What is compared: runs scored on a release, in the order they were named, by a measure.

    Where it `is_public`, the queries of hidden splits are left out: nothing that comes of it was
    computed from their grades.
    """

    release: Release
    score_sets: tuple[ScoreSet, ...]
    measure: str
    baseline: Run | None = None
    is_public: bool = False

    @property
    def runs(self) -> list[Run]:
        return [score_set.run for score_set in self.score_sets]

    @property
    def is_table(self) -> bool:
        """Few enough for every measure and each pair in full; more are a board of one measure."""
        return len(self.score_sets) <= LARGEST_TABLE

    @cached_property
    def roles(self) -> Roles:
        """The measures that patterns look at, where the release's grades are relevant."""
        threshold = relevance_threshold(self.release)
        return Roles(
            first=with_threshold("RR@10", threshold),
            coverage=with_threshold("R@100", threshold),
            condensed=str(parse_measure("nDCG(judged_only=True)@10")),
        )

    @property
    def measures(self) -> list[str]:
        """The one asked for, and those beside it."""
        others = [self.roles.gain, self.roles.first, self.roles.coverage] if self.is_table else []
        return list(dict.fromkeys([self.measure, *others]))

    @property
    def n_pairs(self) -> int:
        n = len(self.score_sets)
        return n - 1 if self.baseline else n * (n - 1) // 2

    @cached_property
    def slices(self) -> list[str]:
        """The slices that may be shown, as far as there is room for them."""
        names = [part.name for part in slices_compared(self.release, is_public=self.is_public)]
        return names if self.n_pairs * (len(names) + 1) <= MOST_PLACES else []

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Everything that decides a number."""
        return {
            "release": self.release.pk,
            "runs": [run.pk for run in self.runs],
            "baseline": self.baseline.pk if self.baseline else None,
            "measure": self.measure,
            "measures": self.measures,
            "slices": self.slices,
            "scorer": SCORER_VERSION,
            "version": VERSION,
            **({"is_public": True} if self.is_public else {}),
        }

    @cached_property
    def hidden(self) -> frozenset[str]:
        """The queries that are left out."""
        return hidden_queries(self.release) if self.is_public else frozenset()

    @cached_property
    def key(self) -> str:
        facts = self.parameters | {
            "release": [self.release.pk, self.release.content_sha256],
            "score_sets": [score_set.pk for score_set in self.score_sets],
        }
        return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    @property
    def n_queries(self) -> int:
        return len(graded_queries(self.release) - self.hidden)

    @property
    def is_large(self) -> bool:
        """Whether a page would wait too long for it."""
        parts = (len(self.measures) + 1) * (len(self.slices) + 3)
        return self.n_queries * parts * (1 + len(self.score_sets) / 10) > INLINE_VALUES

    @property
    def url(self) -> str:
        """Where it is shown."""
        params: dict[str, str | int] = {
            "runs": ",".join(str(run.pk) for run in self.runs),
            "release": self.release.version,
            "m": spelled(self.measure, relevance_threshold(self.release)),
        }
        if self.baseline:
            params["baseline"] = self.baseline.pk
        page = reverse("scoring:comparison", args=[self.release.benchmark.slug])
        return f"{page}?{urlencode(params)}"


def chosen_score_sets(*, release: Release, user: Any, named: Iterable[str]) -> list[ScoreSet]:
    """The scores of the runs that are named (numbers or names), in their order, each once.

    Raises
    ------
    ComparedRunError
        If one is not there, or not for this person to see.
    NotScoredHereError
        If one has no scores on the release.
    TooManyComparedError
        If there are too many.
    """
    names = list(dict.fromkeys(name.strip() for name in named if name.strip()))
    if len(names) > MOST_RUNS:
        raise TooManyComparedError(n=len(names), limit=MOST_RUNS)
    visible = Run.objects.filter(benchmark=release.benchmark_id).visible_to(user)
    keys = [key for name in names if (key := row_key(name)) is not None]
    chosen = list(visible.filter(pk__in=keys)) + list(visible.filter(name__in=names))
    by_name = {run.name: run for run in chosen} | {str(run.pk): run for run in chosen}
    for name in names:
        if name not in by_name:
            raise ComparedRunError(name=name[:LONGEST_NAME])
    runs = list(dict.fromkeys(by_name[name] for name in names))
    return _scores_of(release, runs)


def _scores_of(release: Release, runs: Sequence[Run]) -> list[ScoreSet]:
    rows = ScoreSet.objects.filter(
        release=release, scorer_version=SCORER_VERSION, run__in=[run.pk for run in runs]
    ).exclude(per_query="")
    by_run = {
        score_set.run_id: score_set
        for score_set in rows.select_related("run__owner", "run__team", "release")
    }
    lacking = [run.name for run in runs if run.pk not in by_run]
    if lacking:
        raise NotScoredHereError(names=", ".join(lacking), version=release.version)
    for score_set in by_run.values():
        score_set.run.benchmark = release.benchmark
    return [by_run[run.pk] for run in runs]


def question_of(row: Comparison) -> Question:
    """The question that a row is the answer to."""
    parameters, release = row.parameters, row.release
    by_key = {run.pk: run for run in Run.objects.filter(pk__in=parameters["runs"])}
    runs = [by_key[key] for key in parameters["runs"] if key in by_key]
    return Question(
        release=release,
        score_sets=tuple(_scores_of(release, runs)),
        measure=parameters["measure"],
        baseline=by_key.get(parameters["baseline"]),
        is_public=parameters.get("is_public", False),
    )
