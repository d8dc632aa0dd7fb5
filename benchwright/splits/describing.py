"""What a split is like: sizes, slices, times, and what is left out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from benchwright.splits.balancing import densities
from benchwright.splits.recipe import SPLITS
from benchwright.splits.types import EXCLUDED, Assignment, SplitQuery


@dataclass(frozen=True)
class SplitPart:
    """One split: how many queries and families, and when they were first asked."""

    name: str
    n_queries: int
    n_families: int
    share: float
    n_without_relevant: int
    first: datetime | None = None
    last: datetime | None = None


@dataclass(frozen=True)
class SliceRow:
    """A slice over the splits: its share of all queries, and of each split's."""

    name: str
    n: int
    share: float
    counts: Mapping[str, int]
    shares: Mapping[str, float]

    @property
    def deviation(self) -> float:
        """The largest difference between a split's share and the whole's."""
        return max((abs(share - self.share) for share in self.shares.values()), default=0.0)


@dataclass(frozen=True)
class SplitDescription:
    """The splits in their order, the slices by name, and counts of what is left out, by reason."""

    parts: Sequence[SplitPart]
    slices: Sequence[SliceRow]
    densities: Sequence[SliceRow]
    excluded: Mapping[str, int] = field(default_factory=dict)
    largest_family: int = 0

    @property
    def n_excluded(self) -> int:
        return sum(self.excluded.values())

    def as_json(self) -> dict[str, Any]:
        return {
            "splits": [_part_json(part) for part in self.parts],
            "slices": [{**asdict(row), "deviation": row.deviation} for row in self.slices],
            "label_density": [
                {**asdict(row), "deviation": row.deviation} for row in self.densities
            ],
            "excluded": dict(self.excluded),
            "largest_family": self.largest_family,
        }


def described(queries: Sequence[SplitQuery], assignment: Assignment) -> SplitDescription:
    """What `assignment` makes of these queries."""
    listed = [query for query in queries if query.qid in assignment.splits]
    names = [split for split in SPLITS if split in set(assignment.splits.values())]
    by_split: dict[str, list[SplitQuery]] = {name: [] for name in names}
    for query in listed:
        by_split[assignment.splits[query.qid]].append(query)
    reasons = Counter(
        reason.removeprefix(EXCLUDED) for reason in sorted(assignment.excluded.values())
    )
    density = dict(zip((query.qid for query in listed), densities(listed), strict=True))
    return SplitDescription(
        parts=[_part(name, by_split[name], len(listed)) for name in names],
        slices=slice_rows(by_split, lambda query: query.slices),
        densities=slice_rows(by_split, lambda query: (density[query.qid],)),
        excluded=dict(reasons),
        largest_family=max(Counter(query.family for query in queries).values(), default=0),
    )


def slice_rows(by_split: Mapping[str, Sequence[SplitQuery]], names_of: Any) -> list[SliceRow]:
    """A row for each name that `names_of` gives to any query, sorted by name."""
    counted = {
        split: Counter(name for query in queries for name in names_of(query))
        for split, queries in by_split.items()
    }
    n = sum(map(len, by_split.values()))
    names = sorted(set().union(*counted.values()))
    return [
        SliceRow(
            name=name,
            n=sum(counts[name] for counts in counted.values()),
            share=sum(counts[name] for counts in counted.values()) / n,
            counts={split: counts[name] for split, counts in counted.items()},
            shares={
                split: counts[name] / len(by_split[split]) for split, counts in counted.items()
            },
        )
        for name in names
    ]


def _part(name: str, queries: Sequence[SplitQuery], n: int) -> SplitPart:
    moments = [query.first_seen for query in queries if query.first_seen]
    return SplitPart(
        name=name,
        n_queries=len(queries),
        n_families=len({query.family for query in queries}),
        share=len(queries) / n,
        n_without_relevant=sum(not query.n_relevant for query in queries),
        first=min(moments, default=None),
        last=max(moments, default=None),
    )


def _part_json(part: SplitPart) -> dict[str, Any]:
    return {
        **asdict(part),
        "first": part.first.isoformat() if part.first else None,
        "last": part.last.isoformat() if part.last else None,
    }


def small_slices(
    description: SplitDescription, minimums: Mapping[str, int], splits: Iterable[str] = ("test",)
) -> list[tuple[str, str, int, int]]:
    """(slice, split, queries there, minimum) of each slice below its minimum in a split."""
    present = {part.name for part in description.parts}
    return [
        (row.name, split, row.counts[split], minimums[row.name])
        for row in description.slices
        for split in splits
        if split in present and row.name in minimums and row.counts[split] < minimums[row.name]
    ]
