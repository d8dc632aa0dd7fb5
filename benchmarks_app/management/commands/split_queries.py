from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
)
from benchmarks_app.management.parameters import add_parameters
from benchmarks_app.models import Benchmark, QrelSet
from benchmarks_app.splits.services import leak_reports, splitting
from benchwright.errors import BenchmarkError, MissingFileError
from benchwright.files.sources import open_lines
from benchwright.recipes import splits
from benchwright.recipes.splits import Mode
from benchwright.splits import SPLITS, SplitRecipe, parse_shares


class Command(BaseCommand):
    help = "Split a benchmark's queries by families, and tell what leaks."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument(
            "--shares", default="train=70,dev=10,test=20", help="such as train=80,test=20"
        )
        add_parameters(parser, *splits.SPLITTING)
        parser.add_argument(
            "--drop-straddling",
            action="store_const",
            const="drop_family",
            dest="straddling",
            help="the same as --straddling drop-family",
        )
        parser.add_argument("--slice", default="", help="the slice that becomes the test split")
        parser.add_argument("--given", type=Path, help="file of query id, TAB, split")
        parser.add_argument("--qrels", help="name of the set that says what is relevant")
        parser.add_argument("--document-date", default="", help="key of the documents' metadata")
        parser.add_argument(
            "--hide",
            action="append",
            choices=SPLITS,
            help="hide the grades of a split; may be repeated. Without it nothing changes",
        )
        parser.add_argument(
            "--show-all", action="store_true", help="hide no split's grades any longer"
        )
        parser.add_argument("--accept-small-slices", action="store_true")
        parser.add_argument(
            "--dry-run", action="store_true", help="print what it would be, and change nothing"
        )

    def handle(self, *args: Any, slug: str, user: str | None, **given: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        try:
            options = self._options(benchmark, given)
            if given["dry_run"]:
                self._print_preview(splitting.preview_split(benchmark=benchmark, **options))
                return
            plan = splitting.apply_split(benchmark=benchmark, user=actor, **options)
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        sizes = ", ".join(f"{split} {n:,}" for split, n in plan.sizes.items() if n)
        self.stdout.write(self.style.SUCCESS(f"split {slug}: {sizes}"))
        if plan.n_excluded:
            self.stdout.write(f"in no split: {plan.n_excluded:,}")
        self._print_leaks(benchmark)

    def _options(self, benchmark: Benchmark, given: dict[str, Any]) -> dict[str, Any]:
        recipe = _recipe(given)
        return {
            "recipe": recipe,
            "given": _given(benchmark, given["given"]) if recipe.mode == Mode.GIVEN else None,
            "qrel_set": _set_of(benchmark, given["qrels"]) if given["qrels"] else None,
            "hidden": [] if given["show_all"] else given["hide"],
            "accept_small": given["accept_small_slices"],
            "document_date": given["document_date"],
        }

    def _print_preview(self, preview: splitting.SplitPreview) -> None:
        for part in preview.description.parts:
            self.stdout.write(
                f"{part.name}: {part.n_queries:,} queries ({part.share:.1%}), "
                f"{part.n_families:,} families"
            )
        for reason, n in preview.description.excluded.items():
            self.stdout.write(f"in no split: {n:,} ({reason})")
        for row in preview.description.slices:
            shares = ", ".join(f"{split} {share:.1%}" for split, share in row.shares.items())
            self.stdout.write(f"slice {row.name}: {row.share:.1%} of all; {shares}")
        for found in preview.findings:
            self.stdout.write(f"{found.severity}: {found.message} {found.advice}")

    def _print_leaks(self, benchmark: Benchmark) -> None:
        report = leak_reports.current_leak_report(benchmark)
        for found in report["findings"]:
            self.stdout.write(
                f"{found['severity']}: {found['where']}: {found['message']} {found['advice']}"
            )
        if not report["findings"]:
            self.stdout.write("nothing leaks from one split into another")


def _recipe(given: dict[str, Any]) -> SplitRecipe:
    return SplitRecipe(
        mode=given["mode"],
        shares=parse_shares(given["shares"]),
        seed=given["seed"],
        test_from=given["test_from"],
        dev_from=given["dev_from"],
        gap_days=given["gap_days"],
        straddling=given["straddling"],
        slice_name=given["slice"],
    )


def _given(benchmark: Benchmark, path: Path | None) -> dict[str, str]:
    if path is None:
        raise MissingFileError(place="--given", expected="file", advice="Name it.")
    return splitting.given_from(benchmark, open_lines(path), file=path.name)


def _set_of(benchmark: Benchmark, name: str) -> QrelSet:
    sets = QrelSet.objects.ready().filter(benchmark=benchmark)
    found = sets.filter(name=name).first()
    if found is None:
        known = ", ".join(sets.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"No qrels '{name}'. There are: {known}.")
    return found
