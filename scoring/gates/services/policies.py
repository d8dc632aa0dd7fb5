"""Policies of gates: made once, frozen by their digest, retired and never changed.

And what one can show before anything is uploaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.models import Benchmark, Release, Run, User
from benchmarks_app.permissions import Action, may
from benchmarks_app.releases.selectors import hidden_queries, release_splits
from benchmarks_app.result_facts import Reach
from benchwright.gates.errors import PolicySplitError
from benchwright.gates.policy import Policy
from benchwright.gates.small_files import policy_in
from scoring.comparisons.services.errors import NoPublicQueryError
from scoring.gates import selectors
from scoring.gates.services.errors import GateRunError, PolicySlicesError, PolicyThereError
from scoring.models import GatePolicy
from scoring.planning.services.reliability import Reliability, reaches, reliability_of
from scoring.scores.selectors.releases import newest_release, relevance_threshold
from scoring.scores.services.slice_scores import (
    BoardSlice,
    graded_queries,
    slices_of_release,
    slices_on_board,
)
from scoring.scores.shown import any_measure


def make_policy(
    *,
    benchmark: Benchmark,
    name: str,
    baseline: Run,
    content: Mapping[str, Any],
    user: User,
    lexical: Run | None = None,
) -> GatePolicy:
    """Freeze what a candidate must show; a name that is taken becomes a new version.

    Raises
    ------
    PolicyFormatError
        If the content is no policy.
    PolicySlicesError, PolicySplitError
        If a slice is not registered, or too small to be shown, or a split is none.
    PolicyThereError
        If the newest version of this name says the same.
    GateRunError
        If a run is of another benchmark, or was withdrawn.
    UnreadableFileError, ReadersBusyError
        If reading the content took too much, or nobody could read it.
    """
    for run in filter(None, (baseline, lexical)):
        check_run(run, benchmark)
    policy = policy_of(benchmark, content, baseline=baseline, lexical=lexical)
    with transaction.atomic():
        # Two versions made at once would take one number.
        Benchmark.objects.select_for_update().get(pk=benchmark.pk)
        newest = selectors.newest_version_of(benchmark, name)
        if newest and newest.digest == policy.digest and newest.retired_at is None:
            raise PolicyThereError(policy=str(newest), digest=policy.digest[:12])
        frozen = GatePolicy.objects.create(
            benchmark=benchmark,
            name=name,
            version=newest.version + 1 if newest else 1,
            baseline=baseline,
            content=policy.frozen(),
            digest=policy.digest,
            rehearsal=selectors.rehearsal_of(user, benchmark, policy.digest),
            created_by=user,
        )
        audit.record(actor=user, action="make-policy", benchmark=benchmark, target=str(frozen))
    return frozen


def policy_of(
    benchmark: Benchmark,
    content: Mapping[str, Any],
    *,
    baseline: Run,
    lexical: Run | None = None,
) -> Policy:
    """The policy that the content means here: runs by name, measures by the release's scale."""
    policy: Policy = reading_apart.call(policy_in, dict(content), file="The policy")
    release = newest_release(benchmark)
    if release is not None:
        policy = _on_scale(policy, content, relevance_threshold(release))
        _check_slices(policy, release)
        queries_of(release, policy.split)
    rails = replace(policy.guard_rails, lexical=lexical.name if lexical else "")
    return replace(policy, baseline=baseline.name, guard_rails=rails)


def _on_scale(policy: Policy, content: Mapping[str, Any], threshold: int) -> Policy:
    """Measures whose names in the content say nothing of relevant grades count those of the scale.

    A policy that was read has canonical names, in which `rel=1` is left out.
    """
    rails = policy.guard_rails
    guarded = content.get("guard_rails", {}).get("measures", rails.measures)
    measures = dict.fromkeys(any_measure(name, threshold).name for name in guarded)
    return replace(
        policy,
        measure=any_measure(content.get("measure", policy.measure), threshold).name,
        guard_rails=replace(rails, measures=tuple(measures)),
    )


def _check_slices(policy: Policy, release: Release) -> None:
    offered = [part.name for part in slices_offered(release)]
    wanted_names = [*policy.slices, *filter(None, [policy.guard_rails.exact_slice])]
    unknown = [name for name in wanted_names if name not in offered]
    if unknown:
        raise PolicySlicesError(
            names=", ".join(unknown), release=release.version, known=", ".join(offered) or _("none")
        )


def slices_offered(release: Release) -> list[BoardSlice]:
    """The registered slices of a release whose numbers may be shown."""
    return [part for part in slices_on_board(release) if part.is_registered]


def queries_of(release: Release, split: str, *, is_public: bool = False) -> list[str]:
    """The graded queries that a gate looks at, in the order of their bytes.

    Where it `is_public`, those of hidden splits are left out.

    Raises
    ------
    PolicySplitError
        If the release grades nothing of the split.
    NoPublicQueryError
        If all that it grades is hidden.
    """
    graded = graded_queries(release)
    if split:
        splits = release_splits(release)
        if not graded.intersection(splits.get(split, ())):
            names = ", ".join(splits) or _("none")
            raise PolicySplitError(split=split, release=release.version, known=names)
        graded = graded.intersection(splits[split])
    if is_public:
        graded -= hidden_queries(release)
        if not graded:
            raise NoPublicQueryError(version=release.version)
    return sorted(graded, key=str.encode)


def check_run(run: Run, benchmark: Benchmark) -> None:
    """Refuse a run of another benchmark, or one that was taken back.

    Raises
    ------
    GateRunError
        If it is one.
    """
    if run.benchmark_id != benchmark.pk:
        raise GateRunError(run=run.name, reason=_("belongs to another benchmark"))
    if run.withdrawn_at is not None:
        raise GateRunError(run=run.name, reason=_("was withdrawn by its owner"))


def may_retire(user: Any, policy: GatePolicy) -> bool:
    """Its maker, as long as they may submit, and the benchmark's keepers."""
    if may(user, Action.EDIT, policy.benchmark):
        return True
    return policy.created_by_id == user.pk and may(user, Action.SUBMIT, policy.benchmark)


@transaction.atomic
def retire_policy(*, policy: GatePolicy, user: User) -> GatePolicy:
    """Let a policy decide no more gates; what it decided stays. Again changes nothing."""
    now = timezone.now()
    if GatePolicy.objects.filter(pk=policy.pk, retired_at=None).update(retired_at=now):
        policy.retired_at = now
        audit.record(
            actor=user, action="retire-policy", benchmark=policy.benchmark, target=str(policy)
        )
    return policy


@dataclass(frozen=True)
class PlannedSlice:
    """A registered slice, and how many queries more rule out a loss of 0.02 there."""

    name: str
    reach: Reach

    @property
    def n_lacking(self) -> int:
        return max(self.reach.n_for_gate - self.reach.n, 0)


@dataclass(frozen=True)
class Plan:
    """What all queries show, and each registered slice."""

    overall: Reliability
    slices: list[PlannedSlice]

    @property
    def n_lacking(self) -> int:
        """Queries to add until a difference of 0.01 is visible."""
        reach = self.overall.reach
        return max(reach.n_for_hundredth - reach.n, 0)


def plan_of(benchmark: Benchmark, release: Release) -> Plan:
    """What the queries of a release can show, from how far runs differed there so far."""
    members = slices_of_release(release)
    offered = {part.name: members[part.name] for part in slices_offered(release)}
    reach_by_name = reaches(benchmark, offered) if offered else {}
    slices = [PlannedSlice(name, reach) for name, reach in reach_by_name.items()]
    return Plan(reliability_of(benchmark, release), slices)
