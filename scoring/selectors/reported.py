"""Values that somebody reported of systems, a row for each system and source."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet

from benchmarks_app.models import Benchmark, Release
from benchmarks_app.permissions import Action, may
from scoring.models import ReportedScore


@dataclass(frozen=True)
class ReportedRow:
    """What one source says of one system on one split; values by our names of measures."""

    first: ReportedScore
    values: dict[str, float] = field(default_factory=dict)
    keys: list[int] = field(default_factory=list)
    may_delete: bool = False

    @property
    def is_address(self) -> bool:
        return self.first.source.startswith(("https://", "http://"))


def reported_on(benchmark: Benchmark, release: Release | None = None) -> QuerySet[ReportedScore]:
    """The values of a benchmark; with a release, those of it and of none that is known."""
    found = ReportedScore.objects.filter(benchmark=benchmark)
    if release is not None:
        found = found.filter(Q(release=release) | Q(release=None))
    return found.select_related("reported_by", "release").order_by(
        "system", "split", "source", "measure"
    )


def reported_rows(
    scores: Iterable[ReportedScore], viewer: Any, benchmark: Benchmark
) -> list[ReportedRow]:
    """A row for each system, split and source, by name."""
    keeps = may(viewer, Action.EDIT, benchmark)
    rows: dict[tuple[str, str, str], ReportedRow] = {}
    for score in scores:
        key = (score.system, score.split, score.source)
        if key not in rows:
            is_own = viewer.is_authenticated and score.reported_by_id == viewer.pk
            rows[key] = ReportedRow(score, may_delete=keeps or is_own)
        rows[key].values[score.measure] = score.value
        rows[key].keys.append(score.pk)
    return list(rows.values())


def reported_measures(rows: Iterable[ReportedRow], first: Iterable[str]) -> list[str]:
    """The measures that have a value: `first` ones in their order, then the others by name."""
    there = {name for row in rows for name in row.values}
    wanted = [name for name in first if name in there]
    return wanted + sorted(there - set(wanted))
