from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.collections.services.snapshots import discard_snapshot, take_snapshot
from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.models import Benchmark, CorpusVersion
from benchwright.corpora.cuts import cut_sentence
from benchwright.recipes.arguments import OneOf, switch
from benchwright.texts.counting import counted

COUNTS = ("added", "changed", "described", "removed", "unchanged")


class Command(BenchmarkCommand):
    help = "Show what a proposed snapshot of a corpus changes; take or discard it."
    takes = (
        OneOf(
            (
                switch("--yes", help="take it; otherwise it is only shown"),
                switch("--discard", help="throw it away"),
            )
        ),
    )

    def run(self, *, yes: bool, discard: bool, **options: Any) -> None:
        version = _proposed(self.benchmark)
        arguments: dict[str, Any] = {
            "version": version,
            "benchmark": self.benchmark,
            "actor": self.actor,
        }
        self._show(version)
        if discard:
            discard_snapshot(**arguments)
            self.say(f"version {version.number} discarded")
        elif yes:
            take_snapshot(**arguments)
            self.say_done(f"version {version.number} taken")
        else:
            self.say("Nothing done yet: --yes takes it, --discard throws it away.")

    def _show(self, version: CorpusVersion) -> None:
        difference = version.difference
        self.say(f"version {version.number}: {counted(version.n_documents, 'document')}")
        for name in COUNTS:
            self.say(f"  {difference.get(name, 0):>12,} {name}")
        if version.cut:
            self.say(f"  {cut_sentence(version.cut)}")
        names = dict(version.corpus.benchmarks.values_list("pk", "slug"))
        for at_stake in difference.get("labels", []):
            self.say(
                f"  {names.get(at_stake['benchmark'], '?')}: "
                f"{counted(at_stake['labels_moved'], 'label')} stale, "
                f"{at_stake['labels_gone']:,} of removed documents; "
                f"{at_stake['qrels_moved']:,} and {at_stake['qrels_gone']:,} grades in its qrels"
            )


def _proposed(benchmark: Benchmark) -> CorpusVersion:
    versions = benchmark.corpus.versions.select_related("corpus")
    version = versions.filter(state=CorpusVersion.State.PROPOSED).first()
    if version is None:
        raise CommandError(f"No snapshot of the corpus of '{benchmark.slug}' waits.")
    return version
