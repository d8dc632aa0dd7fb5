"""Values that somebody reported of systems: by source, and beside what was measured here."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet

from benchmarks_app.models import Benchmark, Release, Run
from benchmarks_app.permissions import Action, may
from benchwright.runs.facts import DOI, is_safe_link
from scoring.models import ReportedScore
from scoring.scores.selectors.boards import BoardRow, Interval
from scoring.scores.shown import measure_named


@dataclass(frozen=True)
class ReportedRow:
    """What one source says of one system on one split; values by our names of measures.

    Several people may have entered it: `keys` are of the values that the viewer may change.
    """

    first: ReportedScore
    values: dict[str, float] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def href(self) -> str:
        return source_link(self.first.source)


@dataclass(frozen=True)
class Beside:
    """A reported value, and what was measured here for the same system, where it was."""

    reported: ReportedScore
    label: str
    run: Run | None = None
    ours: float | None = None
    interval: Interval | None = None

    @property
    def difference(self) -> float | None:
        """Ours less the reported one."""
        return None if self.ours is None else self.ours - self.reported.value

    @property
    def is_outside(self) -> bool:
        """Whether the interval of ours leaves the reported value out."""
        if self.interval is None:
            return False
        low, high = self.interval
        return not low <= self.reported.value <= high

    @property
    def href(self) -> str:
        return source_link(self.reported.source)


def source_link(source: str) -> str:
    """Where a source can be read: an address, or that of a DOI; empty where it is neither.

    Examples
    --------
    >>> source_link("10.1145/1571941.1572114"), source_link("A paper, table 2")
    ('https://doi.org/10.1145/1571941.1572114', '')
    """
    address = source.strip()
    bare = address[4:].strip() if address.casefold().startswith("doi:") else address
    if DOI.fullmatch(bare):
        address = f"https://doi.org/{bare}"
    return address if is_safe_link(address) else ""


def reported_on(benchmark: Benchmark, release: Release | None = None) -> QuerySet[ReportedScore]:
    """The values of a benchmark; with a release, those of it and of none that is known."""
    scores = ReportedScore.objects.filter(benchmark=benchmark)
    if release is not None:
        scores = scores.filter(Q(release=release) | Q(release=None))
    return scores.select_related("reported_by", "release", "run").order_by(
        "system", "split", "source", "measure"
    )


def may_change_reported(viewer: Any, score: ReportedScore, *, keeps: bool) -> bool:
    """Who entered a value, and who keeps the benchmark (`keeps`), may change it or take it away."""
    return keeps or (viewer.is_authenticated and score.reported_by_id == viewer.pk)


def reported_rows(
    scores: Iterable[ReportedScore], viewer: Any, benchmark: Benchmark
) -> list[ReportedRow]:
    """A row for each system, split and source, by name."""
    keeps = may(viewer, Action.EDIT, benchmark)
    rows: dict[tuple[str, str, str], ReportedRow] = {}
    for score in scores:
        key = (score.system, score.split, score.source)
        if key not in rows:
            rows[key] = ReportedRow(score)
        rows[key].values[score.measure] = score.value
        if may_change_reported(viewer, score, keeps=keeps):
            rows[key].keys[score.measure] = score.pk
        if score.note and score.note not in rows[key].notes:
            rows[key].notes.append(score.note)
    return list(rows.values())


def reported_measures(rows: Iterable[ReportedRow], first: Iterable[str]) -> list[str]:
    """The measures that have a value: `first` ones in their order, then the others by name."""
    there = {name for row in rows for name in row.values}
    wanted = [name for name in first if name in there]
    return wanted + sorted(there - set(wanted))


def beside_ours(
    scores: Iterable[ReportedScore],
    board: Mapping[int, BoardRow],
    systems: Mapping[str, int],
    threshold: int,
) -> list[Beside]:
    """Each value beside that of the run it names, or else of the run that is called like it.

    `board` has the runs that somebody may see by their keys, `systems` the run of each system of
    this site; grades from `threshold` are relevant on the board.
    """
    by_name = {row.run.name.casefold(): key for key, row in board.items()}
    by_name |= {name.casefold(): key for name, key in systems.items() if key in board}
    return [_beside(score, board, by_name, threshold) for score in scores]


def _beside(
    score: ReportedScore, board: Mapping[int, BoardRow], by_name: dict[str, int], threshold: int
) -> Beside:
    standard = measure_named(score.measure)
    label = standard.label if standard else score.measure
    row = board.get(score.run_id or by_name.get(score.system.casefold(), 0))
    if row is None:
        return Beside(score, label)
    name = standard.counting_from(threshold) if standard else score.measure
    return Beside(score, label, row.run, row.scores.get(name), row.intervals.get(name))
