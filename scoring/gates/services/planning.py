"""What a gate can show before anything is uploaded: visible changes, and queries still needed."""

from dataclasses import dataclass

from benchmarks_app.models import Benchmark, Release
from benchmarks_app.reach import Reach
from scoring.gates.services.policies import slices_offered
from scoring.planning.services.reliability import Reliability, reaches, reliability_of
from scoring.scores.services.slice_scores import slices_of_release


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
