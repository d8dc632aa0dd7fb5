"""`manage.py leaderboard SLUG [--release 1.2.0]`: the board as a table, with every run on it."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import benchmark_of
from scoring import selectors
from scoring.core.errors import ScoringError
from scoring.management.reporting import release_of
from scoring.services import measuring
from scoring.shown import BOARD, Shown, any_measure


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
        threshold = selectors.relevance_threshold(found)
        try:
            shown = any_measure(measure, threshold)
            score_sets = selectors.whole_score_sets(found)
            while not shown.is_standard and measuring.add_measure(
                release=found, score_sets=score_sets.all(), name=shown.name
            ):
                pass  # as many as fit into what a page waits for, until all are there
        except ScoringError as error:
            raise CommandError(str(error)) from error
        board = selectors.whole_leaderboard(release=found, measure=shown)
        columns = list(dict.fromkeys([*(one.on(threshold) for one in BOARD), shown]))
        self.stdout.write(f"{slug} {found.version}, by {shown.label}")
        for line in _table(board, columns):
            self.stdout.write(line)


def _table(board: Sequence[selectors.BoardRow], columns: Sequence[Shown]) -> Iterator[str]:
    rows = [["rank", "run", *(shown.label for shown in columns), "answered", "missing", "extra"]]
    rows += [_cells(row, columns) for row in board]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.ljust(width) if column == 1 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _cells(row: selectors.BoardRow, columns: Sequence[Shown]) -> list[str]:
    means = (row.scores.get(shown.name) for shown in columns)
    score_set = row.score_set
    return [
        f"{row.rank}{'=' if row.is_tied else ''}",
        row.run.name,
        *("-" if mean is None else f"{mean:.4f}" for mean in means),
        f"{row.n_answered}/{score_set.n_queries}",
        str(score_set.n_missing),
        str(score_set.n_extra),
    ]
