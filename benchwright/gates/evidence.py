"""What is known of two runs when a gate looks at them: values per query, slices, the process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchwright.gates.errors import PolicyMeasureError
from benchwright.statistics.effects import differences_of
from benchwright.statistics.families import FamilyOf, Floats

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Arm:
    """One run: values by measure, in the order of the queries; `depth` is its longest list.

    `missing` are queries that it does not answer; their values count as 0 and are no evidence.
    """

    name: str
    values: Mapping[str, Floats]
    depth: int
    missing: tuple[str, ...] = ()

    def of(self, measure: str) -> Floats:
        """Its values of a measure.

        Raises
        ------
        PolicyMeasureError
            If it was not scored by it.
        """
        if measure not in self.values:
            raise PolicyMeasureError(run=self.name, measure=measure)
        return self.values[measure]


@dataclass(frozen=True, slots=True)
class Process:
    """How candidate and labels came about; None where nobody knows.

    `agreement` is Krippendorff's alpha of the labels, `stale_share` the share of labels whose
    document has gone or changed or that are too old, `contaminated` how many queries are also in a
    list from outside; both of the queries that are looked at.
    """

    is_registered: bool = True
    seen_before_policy: bool | None = None
    prior_submissions: int | None = None
    contaminated: int | None = None
    stale_share: float | None = None
    agreement: float | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Unjudged documents, the ones that matter most first; `needed` of them make it comparable."""

    documents: tuple[tuple[str, str], ...] = ()
    needed: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Both arms on the same queries; a slice is a mask of the queries.

    `registered` says which slices may decide; None stands for those that the policy names. `parts`
    says which slice plays which part in patterns, by its rule; None where no rules are known.
    """

    queries: Sequence[str]
    baseline: Arm
    candidate: Arm
    slices: Mapping[str, Mask] = field(default_factory=dict)
    families: FamilyOf | None = None
    lexical: Arm | None = None
    registered: frozenset[str] | None = None
    parts: Mapping[str, str] | None = None
    process: Process = field(default_factory=Process)
    wanted: Wanted = field(default_factory=Wanted)

    @property
    def n_families(self) -> int:
        return len(self.queries if self.families is None else np.unique(self.families))

    def mask_of(self, name: str) -> Mask:
        """The queries of a slice; none where it is not here, or may not decide."""
        is_known = name in self.slices and (self.registered is None or name in self.registered)
        return self.slices[name] if is_known else np.zeros(len(self.queries), dtype=np.bool_)

    def differences(self, measure: str) -> Floats:
        """Candidate minus baseline, query by query."""
        return differences_of(self.candidate.of(measure), self.baseline.of(measure))


def numbered(queries: Sequence[str], families: Mapping[str, str] | None) -> FamilyOf | None:
    """A number for each query's family; a query without one is alone. None where all are."""
    if not families:
        return None
    numbers: dict[object, int] = {}
    each = [numbers.setdefault(families.get(q, (q,)), len(numbers)) for q in queries]
    return None if len(numbers) == len(queries) else np.array(each, dtype=np.intp)
