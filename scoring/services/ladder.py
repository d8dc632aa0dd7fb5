"""Deciding whose values are told of a submission, once its scores are there: `core.ladder`."""

from collections.abc import Mapping, Sequence

from benchmarks_app.models import Membership, Release, Run
from benchmarks_app.permissions import KEEPERS
from benchmarks_app.selectors import hidden_queries
from scoring import selectors
from scoring.models import LadderStep, ScoreSet
from scoring.selectors.ladder import attempts_in_order, undecided_on


def decide(score_set: ScoreSet) -> None:
    """Store whose values are told of a submission, and of those of its team that were sent later.

    Called inside the transaction that makes its scores visible. Submissions may be scored in any
    order: what is stored in the end is what their order of sending gives.
    """
    if score_set.run.kind != Run.Kind.SUBMITTED or not hidden_queries(score_set.release):
        return
    # One at a time: two submissions of a team that end together have to know of each other.
    Release.objects.select_for_update(of=("self",), no_key=True).get(pk=score_set.release_id)
    names = [one.name for one in selectors.declared_measures(score_set.release)]
    attempts = attempts_in_order(score_set)
    place = [one.pk for one in attempts].index(score_set.pk)
    undecided = [at for at, one in enumerate(attempts) if not one.ladder_steps.all()]
    first = min([place, *undecided])
    steps = []
    told = _steps_of(attempts[first - 1]) if first else dict[str, int]()
    for n_before, attempt in enumerate(attempts[first:], start=first):
        if _is_keepers_own(score_set.run, score_set.release) or not n_before:
            told = dict.fromkeys(names, attempt.pk)
        else:
            told = told | _better(attempt, told, names, n_before)
        steps += [
            LadderStep(score_set=attempt, measure=name, source_id=told[name]) for name in names
        ]
    LadderStep.objects.filter(score_set__in=attempts[first:]).delete()
    LadderStep.objects.bulk_create(steps, batch_size=500)


def decide_all(release: Release) -> int:
    """As `decide`, of every submission on a release that lacks it; returns how many did."""
    undecided = undecided_on(release)
    for score_set in undecided:
        decide(score_set)
    return len(undecided)


def _steps_of(attempt: ScoreSet) -> dict[str, int]:
    return {step.measure: step.source_id for step in attempt.ladder_steps.all()}


def _is_keepers_own(run: Run, release: Release) -> bool:
    """Who sees exact values anyway learns nothing from them."""
    keepers = Membership.objects.filter(
        benchmark=release.benchmark_id, user=run.owner_id, role__in=KEEPERS
    )
    return run.team_id is None and keepers.exists()


def _better(
    attempt: ScoreSet, told: Mapping[str, int], names: Sequence[str], n_before: int
) -> dict[str, int]:
    """Itself by the measures by which it is significantly better than what was told last."""
    import numpy as np

    from scoring.core.ladder import steps_up
    from scoring.core.uncertainty import numbered

    hidden = hidden_queries(attempt.release)
    own = _values(attempt, names)
    qids = sorted(hidden.intersection(own), key=str.encode)
    earlier = {
        one.pk: _values(one, names) for one in ScoreSet.objects.filter(pk__in=set(told.values()))
    }
    differences = [
        [own[qid][m] - earlier[told[name]][qid][m] for m, name in enumerate(names)] for qid in qids
    ]
    families = numbered(qids, selectors.release_families(attempt.release))
    found = steps_up(
        np.array(differences, dtype=np.float64).reshape(len(qids), len(names)),
        n_before=n_before,
        families=families,
    )
    return {name: attempt.pk for name, is_up in zip(names, found, strict=True) if is_up}


def _values(score_set: ScoreSet, names: Sequence[str]) -> dict[str, list[float]]:
    """{query: its values of the measures}, higher being better; every told measure is a mean."""
    import polars as pl

    path = selectors.score_files(score_set).per_query
    rows = pl.read_parquet(path, columns=["qid", *names]).iter_rows()
    return {qid: list(values) for qid, *values in rows}
