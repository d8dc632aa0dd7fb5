"""Judging and agreement, taken apart by the benchmark's slices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, Q

from annotation.models import Pool, Slot
from benchmarks_app.models import Benchmark, SliceMember
from benchmarks_app.slices.selectors import slice_query_keys
from benchwright.agreement import report
from benchwright.agreement.labels import Labels


@dataclass(frozen=True)
class Coverage:
    """How far the queries of a slice are judged, over all pools: labels wanted and given."""

    name: str
    n_queries: int
    n_pooled: int
    n_wanted: int
    n_done: int

    @property
    def share(self) -> float:
        return self.n_done / self.n_wanted if self.n_wanted else 0.0


def slice_coverage(benchmark: Benchmark) -> list[Coverage]:
    """Of every slice with a query, by name."""
    of_slice = "query__slice_members__slice__name"
    labels = Slot.objects.filter(
        pool__in=Pool.objects.built().filter(benchmark=benchmark),
        kind=Slot.Kind.LABEL,
        query__slice_members__state=SliceMember.State.MEMBER,
    ).exclude(state__in=Slot.NOT_WANTED)
    rows = (
        labels.order_by()
        .values(of_slice)
        .annotate(
            n_pooled=Count("query", distinct=True),
            n_wanted=Count("pk"),
            n_done=Count("pk", filter=Q(state=Slot.State.DONE)),
        )
        .values_list(of_slice, "n_pooled", "n_wanted", "n_done")
    )
    numbers_of = {name: numbers for name, *numbers in rows}
    return [
        Coverage(name, len(queries), *numbers_of.get(name, (0, 0, 0)))
        for name, queries in slice_query_keys(benchmark).items()
        if queries
    ]


def agreement_by_slice(benchmark: Benchmark, labels: Labels) -> list[dict[str, Any]]:
    """Agreement among the labels of each slice's queries; slices without labels are left out."""
    groups_of_all = []
    for name, queries in slice_query_keys(benchmark).items():
        inside = np.array([key in queries for key in labels.query_keys], dtype=bool)
        groups = np.where(_at(inside, labels.clusters[labels.items]), 0, -1)
        if (groups == 0).any():
            groups_of_all += report.by_group(labels, groups, (name,))
    return groups_of_all


def _at(inside: np.ndarray, places: Sequence[int] | np.ndarray) -> np.ndarray:
    return inside[places] if len(inside) else np.zeros(len(places), dtype=bool)
