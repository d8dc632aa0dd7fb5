"""What the runs and labels that are there say of a benchmark still to be labelled."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
from django.core.cache import cache

from benchmarks_app.label_facts import seconds_per_label
from benchmarks_app.models import Benchmark, Query, Release, Run
from benchwright.pools.planning import (
    ASSUMED_SYSTEMS,
    CUTOFF,
    DEEPEST,
    SHOWN_DEPTHS,
    Growth,
    Pilot,
    Plan,
    SlicePlan,
    assumed_growth,
    best_plan,
    cheapest_plan,
    depths_allowed,
    plan_for_budget,
    plan_for_difference,
    pool_growth,
    slice_plan,
)
from benchwright.statistics.reliability import ASSUMED, Spread, design_effect, own_spread
from scoring.planning.services.reliability import Scored, scored_on
from scoring.scores.selectors.rankings import ranking_of, teams_of
from scoring.scores.selectors.releases import newest_release
from scoring.scores.services.slice_scores import graded_queries, slices_of_release, slices_on_board

DEFAULT_SECONDS, DEFAULT_OVERLAP, DEFAULT_DELTA = 30.0, 0.1, 0.02
# The growth of pools is that of the newest runs, over so many of their queries.
MOST_RUNS, MOST_QUERIES = 12, 500


@dataclass(frozen=True)
class Wish:
    """What somebody plans with: a difference to be seen, hours there are, and how to pool."""

    delta: float = DEFAULT_DELTA
    hours: float | None = None
    depth: int = CUTOFF
    judged: float | None = None
    overlap: float = DEFAULT_OVERLAP
    seconds: float = DEFAULT_SECONDS
    systems: int = ASSUMED_SYSTEMS


@dataclass(frozen=True)
class Known:
    """Where the numbers of a plan come from; `release` is None where they are assumed."""

    spread: Spread
    effect: float
    growth: Growth
    release: Release | None
    n_graded: int
    seconds: float | None


@dataclass(frozen=True)
class Planned:
    """The cheapest plan for a wish, the best within its hours, each depth, and the slices."""

    pilot: Pilot
    known: Known
    cheapest: Plan | None
    best: Plan | None
    by_depth: tuple[Plan, ...]
    slices: tuple[SlicePlan, ...]
    n_more: int


def known_of(benchmark: Benchmark, user: Any, *, systems: int = ASSUMED_SYSTEMS) -> Known:
    """What is there to plan with; this person's view of the runs."""
    release = newest_release(benchmark)
    scored = scored_on(release) if release else None
    families = _families(benchmark)
    growth = _growth(benchmark, user) or assumed_growth(systems)
    if release and release.is_complete:
        # What its qrels do not list is not relevant: no system finds anything unjudged.
        growth = replace(growth, judged_of_new=(1.0,) * growth.deepest)
    spread = scored.spread if scored else ASSUMED
    return Known(
        spread=spread,
        effect=design_effect(families, spread.rho),
        growth=growth,
        release=release if scored else None,
        n_graded=len(graded_queries(release)) if release else 0,
        seconds=seconds_per_label(benchmark),
    )


def _families(benchmark: Benchmark) -> list[Any]:
    rows = Query.objects.committed().filter(benchmark=benchmark, excluded_reason="")
    return list(rows.values_list("family_id", flat=True))


def _growth(benchmark: Benchmark, user: Any) -> Growth | None:
    """How pools of the newest runs that this person may see grow; None without a run."""
    visible = Run.objects.visible_to(user).standing().filter(benchmark=benchmark)
    rows = visible.exclude(parquet="").select_related("team", "benchmark")
    runs = list(rows.order_by("-pk")[:MOST_RUNS])
    if not runs:
        return None
    teams = teams_of(runs, user)
    facts = repr(([run.pk for run in runs], teams))
    key = f"pool-growth-2-{sha256(facts.encode()).hexdigest()}"
    growth = cache.get(key)
    if growth is None:
        rankings = {run.name: ranking_of(run, DEEPEST) for run in runs}
        deepest = min(DEEPEST, max(run.depth for run in runs))
        growth = pool_growth(_sampled(rankings), teams=teams, deepest=deepest)
        cache.set(key, growth, timeout=None)
    return growth


def _sampled(rankings: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, list[str]]]:
    """Evenly spaced queries, by their ids, where there are very many."""
    qids = sorted({qid for of in rankings.values() for qid in of}, key=str.encode)
    step = -(-len(qids) // MOST_QUERIES) or 1
    chosen = set(qids[::step])
    return {
        name: {qid: docids for qid, docids in of.items() if qid in chosen}
        for name, of in rankings.items()
    }


def planned(benchmark: Benchmark, known: Known, wish: Wish) -> Planned:
    """The plans that answer a wish."""
    pilot = Pilot(known.spread.sigma, known.effect, known.growth, wish.seconds, wish.overlap)
    depths = depths_allowed(pilot, shallowest=wish.depth, judged=wish.judged)
    cheapest = cheapest_plan(pilot, delta=wish.delta, depths=depths)
    best = None
    if wish.hours is not None:
        best = best_plan(pilot, labels=pilot.labels_in(wish.hours), depths=depths)
    chosen = best or cheapest
    n_queries = chosen.n_queries if chosen else 0
    return Planned(
        pilot=pilot,
        known=known,
        cheapest=cheapest,
        best=best,
        by_depth=tuple(_by_depth(pilot, wish)),
        slices=tuple(_slice_plans(known, wish, n_queries)),
        n_more=max(0, n_queries - known.n_graded),
    )


def _by_depth(pilot: Pilot, wish: Wish) -> Iterable[Plan]:
    for depth in sorted({*SHOWN_DEPTHS, wish.depth}):
        if wish.hours is None:
            yield plan_for_difference(pilot, delta=wish.delta, depth=depth)
        else:
            yield plan_for_budget(pilot, labels=pilot.labels_in(wish.hours), depth=depth)


def _slice_plans(known: Known, wish: Wish, n_queries: int) -> Iterable[SlicePlan]:
    """What each slice that may be shown would have, drawn as the newest release's are."""
    if known.release is None or not known.n_graded:
        return
    scored = scored_on(known.release)
    members = slices_of_release(known.release)
    for part in slices_on_board(known.release):
        spread = _own(scored, members[part.name], known.spread)
        yield slice_plan(
            part.name,
            n_queries=n_queries,
            share=part.n / known.n_graded,
            sigma=spread.sigma,
            effect=known.effect,
            delta=wish.delta,
        )


def _own(scored: Scored | None, qids: Iterable[str], of_all: Spread) -> Spread:
    if scored is None:
        return of_all
    mask = np.isin(np.array(scored.qids), np.array(list(qids)))
    return own_spread(scored.values, mask, of_all)
