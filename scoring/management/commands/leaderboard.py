"""`manage.py leaderboard SLUG [--release 1.2.0]`: the board as a table, with every run on it."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import benchmark_of
from scoring import selectors
from scoring.management.reporting import release_of

COLUMNS = selectors.BOARD


class Command(BaseCommand):
    help = "Print the leaderboard of a release; the newest where none is named."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="short name of the benchmark")
        parser.add_argument("--release", help="version, such as 1.2.0")
        parser.add_argument("-m", "--measure", default="nDCG@10", help="what ranks the runs")

    def handle(
        self, *args: Any, slug: str, release: str | None, measure: str, **options: Any
    ) -> None:
        found = release_of(benchmark_of(slug), release)
        shown = selectors.measure_named(measure)
        if shown is None:
            known = ", ".join(one.label for one in selectors.MEASURES)
            reason = f"'{measure}' is not on boards; expected one of {known}."
            raise CommandError(reason)
        board = selectors.whole_leaderboard(release=found, measure=shown)
        self.stdout.write(f"{slug} {found.version}, by {shown.label}")
        for line in _table(board):
            self.stdout.write(line)


def _table(board: Sequence[selectors.BoardRow]) -> Iterator[str]:
    rows = [["rank", "run", *(shown.label for shown in COLUMNS), "answered", "missing", "extra"]]
    rows += [_cells(row) for row in board]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.ljust(width) if column == 1 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _cells(row: selectors.BoardRow) -> list[str]:
    means = (row.scores.get(shown.name) for shown in COLUMNS)
    score_set = row.score_set
    return [
        f"{row.rank}{'=' if row.is_tied else ''}",
        row.run.name,
        *("-" if mean is None else f"{mean:.4f}" for mean in means),
        f"{row.n_answered}/{score_set.n_queries}",
        str(score_set.n_missing),
        str(score_set.n_extra),
    ]
