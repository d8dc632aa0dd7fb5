"""How a release treats systems that had no part in its pools."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.core.cache import cache
from django.db.models import Q

from benchmarks_app import selectors as collection
from benchmarks_app.models import Release, Run
from scoring import selectors
from scoring.core.reusability import CUTOFF, LeftOut, Reusability, leave_one_out
from scoring.selectors.rankings import ranking_of
from scoring.services.firewall import Sight

# Where no run was pooled here, the grades came with the qrels: this deep, as far as is known.
ASSUMED_DEPTH = 10
MOST_RUNS = 100


@dataclass(frozen=True)
class Report:
    """The report of a release; `is_assumed` says that no run is known to have been pooled.

    `runs` are those that were left out, in the order of `found.systems`.
    """

    found: Reusability
    runs: tuple[int, ...]
    is_assumed: bool


@dataclass(frozen=True)
class ShownSystem:
    """A system as somebody may see it: counts of grades are None where they are withheld."""

    run: Run
    left_out: LeftOut
    full: float | None
    without: float | None
    n_unique: int | None
    n_unique_relevant: int | None

    @property
    def shift(self) -> float | None:
        known = self.full is not None and self.without is not None
        return self.without - self.full if known else None


def reusability_of(release: Release) -> Report | None:
    """Every pooled system left out once; None where fewer than two runs could have been pooled."""
    runs = _ranked_runs(release)
    pooled = {run.name: run.pooled_depth for run in runs if run.pooled_depth}
    is_assumed = len(pooled) < 2
    if is_assumed:
        pooled = {run.name: ASSUMED_DEPTH for run in runs}
    if len(pooled) < 2:
        return None
    facts = repr((selectors.SCORER_VERSION, release.pk, [(r.pk, pooled.get(r.name)) for r in runs]))
    key = f"reusability-{sha256(facts.encode()).hexdigest()}"
    found = cache.get(key)
    if found is None:
        found = _worked_out(release, runs, pooled)
        cache.set(key, found, timeout=None)
    by_name = {run.name: run.pk for run in runs}
    return Report(found, tuple(by_name[one.run] for one in found.systems), is_assumed)


def _ranked_runs(release: Release) -> list[Run]:
    """Pooled runs first, then the newest of those that stand on boards."""
    rows = Run.objects.filter(
        Q(pooled_depth__gt=0) | Q(withdrawn_at=None), benchmark=release.benchmark_id
    )
    found = sorted(rows, key=lambda run: (-(run.pooled_depth > 0), -run.pk))[:MOST_RUNS]
    return sorted(found, key=lambda run: run.pk)


def _worked_out(release: Release, runs: Sequence[Run], pooled: dict[str, int]) -> Reusability:
    rankings = {run.name: ranking_of(run, max(pooled.get(run.name, 0), CUTOFF)) for run in runs}
    return leave_one_out(rankings, collection.release_qrels(release), pooled=pooled)


def systems_shown(report: Report, *, user: Any, sight: Sight) -> list[ShownSystem]:
    """The systems whose runs this person may see, the one that falls furthest first."""
    seen = Run.objects.visible_to(user).in_bulk(report.runs)
    rows = [
        _shown(seen[key], one, sight)
        for key, one in zip(report.runs, report.found.systems, strict=True)
        if key in seen
    ]
    return sorted(rows, key=lambda row: (row.left_out.shift, row.run.name))


def _shown(run: Run, one: LeftOut, sight: Sight) -> ShownSystem:
    return ShownSystem(
        run=run,
        left_out=one,
        full=sight.rounded(one.full),
        without=sight.rounded(one.without),
        n_unique=one.n_unique if sight.is_clear else None,
        n_unique_relevant=one.n_unique_relevant if sight.is_clear else None,
    )
