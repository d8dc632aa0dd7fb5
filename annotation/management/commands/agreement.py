import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.agreement import share_equal, weighted_kappa

Pair = tuple[str, str]


class Command(BaseCommand):
    help = (
        "How far two files of grades (TSV: query-id, corpus-id, grade) agree, on the pairs of both."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("first", type=Path)
        parser.add_argument("second", type=Path)

    def handle(self, *args: Any, first: Path, second: Path, **options: Any) -> None:
        one, other = grades_in(first), grades_in(second)
        pairs = sorted(one.keys() & other.keys())
        if not pairs:
            raise CommandError(f"{first} and {second} have no pair in common.")
        a, b = [one[pair] for pair in pairs], [other[pair] for pair in pairs]
        self.stdout.write(
            f"{len(pairs)} pairs graded twice: {share_equal(a, b):.0%} the same grade, "
            f"quadratically weighted kappa {weighted_kappa(a, b):.2f}"
        )


def grades_in(path: Path) -> dict[Pair, int]:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
            return {(row["query-id"], row["corpus-id"]): int(row["grade"]) for row in rows}
    except (OSError, KeyError, ValueError) as error:
        raise CommandError(
            f"{path}: expected columns query-id, corpus-id, grade ({error})"
        ) from error
