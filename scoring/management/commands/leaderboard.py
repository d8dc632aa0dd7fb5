"""`manage.py leaderboard SLUG [--release 1.2.0]`: the board as a table, with every run on it."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import BENCHMARK, BenchmarkCommand
from benchmarks_app.models import Release
from benchwright.cli.tables import Table, number, plain
from benchwright.recipes.arguments import option, switch, unless_told
from scoring.boards.selectors.scenarios import stored_scenarios
from scoring.boards.services.scenarios import add_scenarios
from scoring.management.reporting import release_of
from scoring.scores.selectors.boards import BoardRow, Unjudged, whole_leaderboard, whole_score_sets
from scoring.scores.selectors.releases import relevance_threshold
from scoring.scores.selectors.score_sets import Answered
from scoring.scores.services import measuring
from scoring.scores.services.slice_scores import ALL_SPLITS, board_split, slices_of_release
from scoring.scores.shown import BOARD, Shown, any_measure


class Command(BenchmarkCommand):
    help = "Print the leaderboard of a release; the newest where none is named."
    first = (BENCHMARK,)
    takes = (
        unless_told("--release", help="version, such as 1.2.0"),
        option("-m", "--measure", default="nDCG@10", help="what ranks the runs"),
        option("--slice", help="over the queries of a slice"),
        option(
            "--split",
            help="over a split, or all together with 'all'; that of the open phase unless named",
        ),
        switch("--scenarios", help="also what unjudged documents could change"),
    )

    def run(self, *, release: str | None, measure: str, **options: Any) -> None:
        published = release_of(self.benchmark, release)
        slice_name, over = options["slice"], f" over {options['slice']}"
        if slice_name and options["scenarios"]:
            raise CommandError("Scenarios are of all queries. Leave out --slice or --scenarios.")
        if slice_name and slice_name not in slices_of_release(published):
            names = ", ".join(sorted(slices_of_release(published))) or "none"
            raise CommandError(f"{published} has no slice '{slice_name}'. There are: {names}.")
        if not slice_name:
            # What unjudged documents could change is known over all queries.
            split = board_split(published, ALL_SPLITS if options["scenarios"] else options["split"])
            if split.error:
                raise CommandError(split.error)
            slice_name, over = split.slice_name, f", {split.said}"
        column = any_measure(measure, relevance_threshold(published))
        columns = _computed(published, column, slice_name)
        board = whole_leaderboard(release=published, measure=column, slice_name=slice_name)
        scenarios = _scenarios(published, board, column) if options["scenarios"] else None
        self.say(f"{self.benchmark.slug} {published.version}, by {column.label}{over}")
        self.say(plain(_table(board, columns, scenarios)))


def _computed(release: Release, column: Shown, slice_name: str) -> list[Shown]:
    """The columns, after what is not stored of them was computed.

    As many as fit into what a page waits for, until all are there.
    """
    threshold = relevance_threshold(release)
    columns = list(dict.fromkeys([*(standard.on(threshold) for standard in BOARD), column]))
    sets = whole_score_sets(release)
    while not column.is_standard and measuring.add_measure(
        release=release, score_sets=sets.all(), name=column.name
    ):
        pass
    names = [measure.name for measure in columns]
    while slice_name and measuring.add_slice_scores(
        release=release, score_sets=sets.all(), slice_name=slice_name, names=names
    ):
        pass
    return columns


def _scenarios(release: Release, board: Sequence[BoardRow], measure: Shown) -> dict[int, Unjudged]:
    sets = [row.score_set for row in board]
    while add_scenarios(release=release, score_sets=sets, name=measure.name):
        pass
    return stored_scenarios(sets, measure.name)


def _table(
    board: Sequence[BoardRow],
    columns: Sequence[Shown],
    scenarios: Mapping[int, Unjudged] | None,
) -> Table:
    head = ["rank", "run", *(measure.label for measure in columns), "answered", "missing", "extra"]
    if scenarios is not None:
        head += ["condensed", "all relevant", "drawn"]
    rows = []
    for row in board:
        more = [] if scenarios is None else _unjudged(scenarios.get(row.score_set.pk))
        rows.append(_cells(row, columns) + more)
    return Table(head, rows, left=(1,))


def _cells(row: BoardRow, columns: Sequence[Shown]) -> list[str]:
    answered = Answered.by(row.score_set)
    return [
        "-" if row.rank is None else f"{row.rank}{'=' if row.is_tied else ''}",
        row.run.name,
        *(_number(row.scores.get(measure.name)) for measure in columns),
        f"{answered.n}/{answered.n_queries}",
        str(answered.n_missing),
        str(answered.n_extra),
    ]


def _unjudged(unjudged: Unjudged | None) -> list[str]:
    if unjudged is None:
        return ["-", "-", "-"]
    drawn = f"{unjudged.drawn[0]:.4f}-{unjudged.drawn[1]:.4f}" if unjudged.drawn else "-"
    return [_number(unjudged.condensed), _number(unjudged.all_relevant), drawn]


def _number(value: float | None) -> str:
    return number(nan if value is None else value)
