"""Deciding whose values are told of a submission, once its scores are there: `core.ladder`."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from math import inf
from typing import Any

from benchmarks_app.models import Membership, Release, Run
from benchmarks_app.permissions import KEEPERS
from benchmarks_app.releases.selectors import hidden_queries
from scoring.models import LadderStep, ScoreSet
from scoring.scores.selectors.ladder import Attempt, attempts_in_order, sources_on, undecided_on
from scoring.scores.selectors.releases import declared_measures, release_families
from scoring.scores.selectors.score_sets import score_files


def decide(score_set: ScoreSet) -> None:
    """Store whose values are told of a submission, and of those that have waited for it.

    Called inside the transaction that makes its scores visible. It waits for what its sender or its
    team sent before and has no scores there yet. What is decided stays so.
    """
    if score_set.run.kind == Run.Kind.SUBMITTED and hidden_queries(score_set.release):
        _decide(score_set.release, score_set.scorer_version)


def decide_all(release: Release) -> int:
    """As `decide`, of every submission on a release that lacks it; returns how many did."""
    versions = {score_set.scorer_version for score_set in undecided_on(release)}
    return sum(_decide(release, version) for version in sorted(versions))


def _decide(release: Release, scorer_version: str) -> int:
    # One at a time: two submissions of a team that end together have to know of each other.
    Release.objects.select_for_update(of=("self",), no_key=True).get(pk=release.pk)
    sources = {key: steps for key, steps in sources_on(release).items() if steps}
    attempts = attempts_in_order(release, scorer_version)
    # What was told already is known, whenever it was sent.
    attempts.sort(key=lambda each: each.score_set not in sources)
    rule, decided = _Rule(release), {}
    before, waiting = defaultdict[Any, set[int]](set), set[Any]()
    for attempt in attempts:
        key, groups = attempt.score_set, attempt.groups
        if key is None or not waiting.isdisjoint(groups):
            waiting |= groups
            continue
        if key not in sources:
            earlier = set[int]().union(*(before[group] for group in groups))
            decided[key] = rule.sources(
                key, attempt, [sources[key_before] for key_before in earlier]
            )
            sources[key] = decided[key]
        for group in groups:
            before[group].add(key)
    LadderStep.objects.bulk_create(
        (
            LadderStep(score_set_id=key, measure=name, source_id=source)
            for key, steps in decided.items()
            for name, source in steps.items()
        ),
        batch_size=500,
    )
    return len(decided)


class _Rule:
    """Whose values are told of a submission on a release; values are read once."""

    def __init__(self, release: Release) -> None:
        keepers = Membership.objects.filter(benchmark=release.benchmark_id, role__in=KEEPERS)
        self.release = release
        self.names = [measure.name for measure in declared_measures(release)]
        self.keepers = set(keepers.values_list("user", flat=True))
        self._values: dict[int, Any] = {}

    def sources(
        self, key: int, attempt: Attempt, earlier: Collection[Mapping[str, int]]
    ) -> dict[str, int]:
        """Itself by the measures by which it is significantly better than the best told so far.

        And by those by which no number was told so far.
        """
        # Who sees exact values anyway learns nothing from them.
        if not earlier or (attempt.team is None and attempt.owner in self.keepers):
            return dict.fromkeys(self.names, key)
        best = [
            max(
                {steps[name] for steps in earlier},
                key=lambda source: (self._mean(source, m), -source),
            )
            for m, name in enumerate(self.names)
        ]
        better = self._better(key, best, len(earlier))
        is_first = [self._mean(source, m) == -inf for m, source in enumerate(best)]
        steps = zip(self.names, best, better, is_first, strict=True)
        return {
            name: key if is_better or is_new else source
            for name, source, is_better, is_new in steps
        }

    def _mean(self, key: int, measure: int) -> float:
        """Over the queries on which it is defined; below all others where it is on none."""
        values = self._of(key)[:, measure]
        defined = values[values == values]
        return float(defined.mean()) if defined.size else -inf

    def _better(self, key: int, best: list[int], n_before: int) -> list[bool]:
        import numpy as np

        from benchwright.comparison.ladder import steps_up
        from benchwright.evaluation.uncertainty import numbered

        standing = np.stack([self._of(source)[:, m] for m, source in enumerate(best)], axis=1)
        families = numbered(self._qids, release_families(self.release))
        steps: list[bool] = steps_up(
            self._of(key) - standing, n_before=n_before, families=families
        ).tolist()
        return steps

    def _of(self, key: int) -> Any:
        """Hidden queries x measures, higher being better; every told measure is a mean."""
        import polars as pl

        if key not in self._values:
            path = score_files(ScoreSet.objects.get(pk=key)).per_query
            stored = pl.read_parquet(path, columns=["qid", *self.names])
            hidden = stored.filter(pl.col("qid").is_in(list(hidden_queries(self.release))))
            hidden = hidden.sort("qid")
            self._qids = hidden["qid"].to_list()
            self._values[key] = hidden.select(self.names).to_numpy()
        return self._values[key]
