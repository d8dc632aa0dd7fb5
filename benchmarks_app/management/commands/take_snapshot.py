from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.collections.services.snapshots import discard_snapshot, take_snapshot
from benchmarks_app.management.importing import actor_of, add_benchmark_arguments, benchmark_of
from benchmarks_app.models import Benchmark, CorpusVersion
from benchwright.corpora.cuts import cut_sentence
from benchwright.errors import BenchmarkError

COUNTS = ("added", "changed", "described", "removed", "unchanged")


class Command(BaseCommand):
    help = "Show what a proposed snapshot of a corpus changes; take or discard it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--yes", action="store_true", help="take it; otherwise it is only shown")
        what.add_argument("--discard", action="store_true", help="throw it away")

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        version = _proposed(benchmark)
        given = {"version": version, "benchmark": benchmark, "actor": actor_of(benchmark, user)}
        self._show(version)
        try:
            if options["discard"]:
                discard_snapshot(**given)
                self.stdout.write(f"version {version.number} discarded")
            elif options["yes"]:
                take_snapshot(**given)
                self.stdout.write(self.style.SUCCESS(f"version {version.number} taken"))
            else:
                self.stdout.write("Nothing done yet: --yes takes it, --discard throws it away.")
        except BenchmarkError as error:
            raise CommandError(str(error)) from error

    def _show(self, version: CorpusVersion) -> None:
        difference = version.difference
        self.stdout.write(f"version {version.number}: {version.n_documents:,} documents")
        for name in COUNTS:
            self.stdout.write(f"  {difference.get(name, 0):>12,} {name}")
        if version.cut:
            self.stdout.write(f"  {cut_sentence(version.cut)}")
        names = dict(version.corpus.benchmarks.values_list("pk", "slug"))
        for at_stake in difference.get("labels", []):
            self.stdout.write(
                f"  {names.get(at_stake['benchmark'], '?')}: {at_stake['labels_moved']:,} labels "
                f"go stale, {at_stake['labels_gone']:,} are of removed documents; "
                f"{at_stake['qrels_moved']:,} and {at_stake['qrels_gone']:,} grades in its qrels"
            )


def _proposed(benchmark: Benchmark) -> CorpusVersion:
    versions = benchmark.corpus.versions.select_related("corpus")
    version = versions.filter(state=CorpusVersion.State.PROPOSED).first()
    if version is None:
        raise CommandError(f"No snapshot of the corpus of '{benchmark.slug}' waits.")
    return version
