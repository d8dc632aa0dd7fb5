"""How much a benchmark's queries can show, from the runs scored on its newest release.

How far runs scatter is estimated from queries of public splits, for everybody: of two runs that
differ in one hidden query it would tell that query's value. And from runs that everybody sees: what
a release says of it is published.
"""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import inf

import numpy as np
from django.core.cache import cache

from benchmarks_app.models import Benchmark, Query, Release, Run
from benchmarks_app.releases.selectors import hidden_queries
from benchmarks_app.result_facts import Reach
from benchwright.statistics.families import FamilyOf, Floats
from benchwright.statistics.power import (
    LARGEST,
    Tier,
    detectable_differences,
    powers,
    queries_needed,
    size_tier,
)
from benchwright.statistics.reliability import ASSUMED, Spread, design_effect, own_spread, spread_of
from scoring.models import ScoreSet
from scoring.scores.selectors.releases import SCORER_VERSION, newest_release, release_families
from scoring.scores.selectors.score_sets import score_files
from scoring.scores.services.slice_scores import graded_queries
from scoring.scores.shown import FIRST_MEASURE

# Runs whose pairs are looked at: the newest. Their number of pairs grows with the square.
MOST_RUNS = 20
DELTAS = ("0.01", "0.02", "0.05")
HUNDREDTH, MARGIN = 0.01, 0.02


@dataclass(frozen=True)
class Scored:
    """Values of the newest runs on a release: queries x runs, with the queries."""

    qids: list[str]
    values: Floats
    spread: Spread


@dataclass(frozen=True)
class Reliability:
    """What a benchmark or a release can show, as its panel says it."""

    tier: Tier
    reach: Reach
    spread: Spread
    measure: str
    release: Release | None


def reliability_of(benchmark: Benchmark, release: Release | None = None) -> Reliability:
    """Of all queries of a benchmark, or of the graded ones of a release."""
    newest = release or newest_release(benchmark)
    scored = scored_on(newest) if newest else None
    if release is not None:
        families = release_families(release)
        graded = graded_queries(release)
        of_each: list[Hashable] = [families.get(qid, (qid,)) for qid in graded]
    else:
        rows = Query.objects.committed().filter(benchmark=benchmark, excluded_reason="")
        of_each = list(rows.values_list("family_id", flat=True))
    spread = scored.spread if scored else ASSUMED
    return Reliability(
        tier=size_tier(len(of_each)),
        reach=_reach(of_each, spread),
        spread=spread,
        measure=FIRST_MEASURE.label,
        release=newest if scored else None,
    )


def reaches(benchmark: Benchmark, sets: Mapping[str, Collection[str]]) -> dict[str, Reach]:
    """The reach of each set of a benchmark's queries."""
    newest = newest_release(benchmark)
    scored = scored_on(newest) if newest else None
    rows = Query.objects.committed().filter(benchmark=benchmark)
    family_of = dict(rows.values_list("qid", "family_id").iterator(chunk_size=10_000))
    return {
        name: _reach([family_of.get(qid, qid) for qid in qids], _spread_in(scored, qids))
        for name, qids in sets.items()
    }


def _spread_in(scored: Scored | None, qids: Collection[str]) -> Spread:
    if scored is None:
        return ASSUMED
    mask = np.isin(np.array(scored.qids), np.array(list(qids))) if qids else np.zeros(0, bool)
    return own_spread(scored.values, mask, scored.spread)


def _reach(families: list[Hashable], spread: Spread) -> Reach:
    n, effect = len(families), design_effect(families, spread.rho)
    effective = n / effect
    shares = powers(spread.sigma, effective, np.array([float(delta) for delta in DELTAS]))
    detectable = (
        float(detectable_differences(spread.sigma, effective, largest=LARGEST)) if n else inf
    )
    return Reach(
        n=n,
        n_families=len(set(families)),
        n_effective=effective,
        sigma=spread.sigma,
        is_assumed=spread.is_assumed,
        detectable=None if detectable == inf else detectable,
        powers=dict(zip(DELTAS, shares.tolist(), strict=True)),
        n_for_hundredth=int(queries_needed(spread.sigma, HUNDREDTH, effect=effect)),
        n_for_gate=int(queries_needed(spread.sigma, MARGIN, effect=effect, two_sided=False)),
    )


def scored_on(release: Release) -> Scored | None:
    """The values of the newest public runs on public queries; None where no two differ."""
    runs = Run.objects.filter(benchmark=release.benchmark_id).public()
    chosen = list(
        ScoreSet.objects.filter(
            release=release, scorer_version=SCORER_VERSION, run__in=runs.values("pk")
        )
        .exclude(per_query="")
        # A new release has the scores of the best runs first, not those of the newest last.
        .order_by("-run_id")[:MOST_RUNS]
    )
    if len(chosen) < 2:
        return None
    facts = repr((SCORER_VERSION, release.pk, [score_set.pk for score_set in chosen]))
    key = f"reliability-public-{sha256(facts.encode()).hexdigest()}"
    scored = cache.get(key)
    if scored is None:
        scored = _scored(release, chosen) or "none"
        cache.set(key, scored, timeout=None)
    return None if scored == "none" else scored


def _scored(release: Release, score_sets: list[ScoreSet]) -> Scored | None:
    import polars as pl

    name = FIRST_MEASURE.name
    frames = [
        pl.read_parquet(score_files(score_set).per_query, columns=["qid", name]).rename(
            {name: str(place)}
        )
        for place, score_set in enumerate(score_sets)
    ]
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.join(frame, on="qid", how="inner")
    whole = whole.filter(~pl.col("qid").is_in(hidden_queries(release)))
    qids = whole["qid"].to_list()
    values = whole.drop("qid").to_numpy()
    spread = spread_of(values, _numbered(qids, release_families(release)))
    return None if spread is None else Scored(qids, values, spread)


def _numbered(qids: list[str], family_of: Mapping[str, str]) -> FamilyOf | None:
    """A number for each query's family, or None where every query is one."""
    numbers: dict = {}
    each = [numbers.setdefault(family_of.get(qid, (qid,)), len(numbers)) for qid in qids]
    return None if len(numbers) == len(qids) else np.array(each, dtype=np.intp)
