"""How a release treats systems that had no part in its pools."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import isnan
from typing import Any

from django.core.cache import cache
from django.db.models import Q

from benchmarks_app.common.selectors.naming import is_anonymous_to
from benchmarks_app.common.selectors.reading import release_qrels
from benchmarks_app.models import Release, Run
from benchwright.pools.reusability import CUTOFF, LeftOut, Reusability, Treatment, treatment_of
from benchwright.pools.run_groups import DEPTH, Alike
from scoring.scores.selectors.rankings import ranking_of, teams_of
from scoring.scores.selectors.releases import SCORER_VERSION
from scoring.scores.services.slice_scores import graded_queries

# Where no run was pooled here, the grades came with the qrels: this deep, as far as is known.
ASSUMED_DEPTH = 10
MOST_RUNS = 100


@dataclass(frozen=True)
class Report:
    """The report of a release; `is_assumed` says that no run is known to have been pooled.

    `runs` has the keys of those that were left out, by name.
    """

    treatment: Treatment
    runs: dict[str, int]
    is_assumed: bool


@dataclass(frozen=True)
class ShownSystem:
    """A system as somebody may see it.

    `left_out` is without its group, `alone` without itself only. `companions` are the others of its
    group that this person may see and know the makers of, `n_companions` all of them.
    """

    run: Run
    left_out: LeftOut
    alone: LeftOut
    companions: tuple[Run, ...]
    n_companions: int
    full: float | None
    without: float | None
    without_alone: float | None
    n_unique: int
    n_unique_relevant: int

    @property
    def shift(self) -> float | None:
        return _difference(self.without, self.full)

    @property
    def shift_alone(self) -> float | None:
        return _difference(self.without_alone, self.full)


def _difference(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def reusability_of(
    release: Release, *, user: Any, hidden: frozenset[str] = frozenset()
) -> Report | None:
    """Every pooled group left out once; None where fewer than two runs could have been pooled.

    So it is where no query is graded but `hidden` ones, which are left out. A run that is anonymous
    to this person is of no team: what is left out with it would tell whose it is.
    """
    runs = _ranked_runs(release)
    pooled = {run.name: run.pooled_depth for run in runs if run.pooled_depth}
    is_assumed = len(pooled) < 2
    if is_assumed:
        pooled = {run.name: ASSUMED_DEPTH for run in runs}
    if len(pooled) < 2 or not graded_queries(release) - hidden:
        return None
    teams = teams_of(runs, user)
    facts_of_runs = [(run.pk, pooled.get(run.name), teams.get(run.name)) for run in runs]
    facts = repr((SCORER_VERSION, release.pk, facts_of_runs, sorted(hidden)))
    key = f"treatment-{sha256(facts.encode()).hexdigest()}"
    report = cache.get(key)
    if report is None:
        report = _worked_out(release, runs, pooled, teams, hidden)
        cache.set(key, report, timeout=None)
    return Report(report, {run.name: run.pk for run in runs if run.name in pooled}, is_assumed)


def _ranked_runs(release: Release) -> list[Run]:
    """Pooled runs first, then the newest of those that stand on boards and that all see."""
    of_benchmark = Run.objects.filter(benchmark=release.benchmark_id)
    on_boards = of_benchmark.standing().public()
    rows = of_benchmark.filter(Q(pooled_depth__gt=0) | Q(pk__in=on_boards.values("pk")))
    rows = rows.select_related("team", "benchmark")
    ordered = sorted(rows, key=lambda run: (-(run.pooled_depth > 0), -run.pk))[:MOST_RUNS]
    return sorted(ordered, key=lambda run: run.pk)


def _worked_out(
    release: Release,
    runs: Sequence[Run],
    pooled: dict[str, int],
    teams: dict[str, str],
    hidden: frozenset[str],
) -> Treatment:
    # A document's id is kept once, however many runs have it.
    names: dict[str, str] = {}
    rankings = {}
    for run in runs:
        depth = max(pooled[run.name], DEPTH) if run.name in pooled else CUTOFF
        of_run = ranking_of(run, depth).items()
        rankings[run.name] = {
            qid: [names.setdefault(d, d) for d in of] for qid, of in of_run if qid not in hidden
        }
    whole = release_qrels(release)
    grades = {qid: of for qid, of in whole.items() if qid not in hidden}
    return treatment_of(rankings, grades, pooled=pooled, teams=teams)


def summary_of(reusability: Reusability) -> dict[str, Any]:
    """The numbers over all groups, or over all runs; None where one group is all there is."""
    return {
        "n": len(reusability.groups),
        **{
            name: defined(getattr(reusability, name))
            for name in ("mean_shift", "worst_shift", "mean_judged", "least_judged", "tau")
        },
    }


def systems_shown(report: Report, *, user: Any) -> list[ShownSystem]:
    """The systems whose runs this person may see, the one that falls furthest first."""
    visible = _seen(report, user)
    alone = {system.run: system for system in report.treatment.by_run.systems}
    rows = []
    for system in report.treatment.by_group.systems:
        run = visible.get(system.run)
        if run is None:
            continue
        others = [visible[name] for name in system.group if name in visible and name != system.run]
        is_told = not is_anonymous_to(run, user)
        rows.append(
            ShownSystem(
                run=run,
                left_out=system,
                alone=alone[system.run],
                companions=tuple(
                    other for other in others if is_told and not is_anonymous_to(other, user)
                ),
                n_companions=len(system.group) - 1,
                full=system.full,
                without=defined(system.without),
                without_alone=defined(alone[system.run].without),
                n_unique=system.n_unique,
                n_unique_relevant=system.n_unique_relevant,
            )
        )
    return sorted(rows, key=lambda row: (row.shift or 0.0, row.run.name))


def copies_shown(report: Report, *, user: Any) -> list[Alike]:
    """Near copies across teams, of runs that this person may see and know the makers of."""
    visible = _seen(report, user)
    names = {name for name, run in visible.items() if not is_anonymous_to(run, user)}
    return [pair for pair in report.treatment.across if {pair.run_a, pair.run_b} <= names]


def _seen(report: Report, user: Any) -> dict[str, Run]:
    rows = Run.objects.visible_to(user).select_related("team", "owner", "benchmark")
    return {run.name: run for run in rows.filter(pk__in=report.runs.values())}


def defined(value: float) -> float | None:
    return None if isnan(value) else value
