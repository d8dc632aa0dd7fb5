from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.collections.services.units import derive_document_qrels
from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.management.naming import benchmark_of, qrels_of
from benchwright.recipes.arguments import option, unless_told, word
from benchwright.texts.counting import counted


class Command(BenchmarkCommand):
    help = "Derive grades of documents from grades of passages: the highest of a document's."
    takes = (
        word("qrels", "name of the set that grades passages"),
        unless_told("--from", dest="source", help="the benchmark it is of, if another"),
        option("--name", help="of the new set"),
    )

    def run(self, *, qrels: str, source: str | None, name: str, **options: Any) -> None:
        graded = benchmark_of(source) if source else self.benchmark
        if graded.corpus_id != self.benchmark.corpus_id:
            slug = self.benchmark.slug
            raise CommandError(f"'{graded.slug}' is on another corpus than '{slug}'.")
        qrel_set = qrels_of(graded, qrels)
        derived = derive_document_qrels(
            benchmark=self.benchmark, qrel_set=qrel_set, actor=self.actor, name=name
        )
        self.say_done(
            f"qrels '{derived}': {counted(derived.n_qrels, 'grade')} of documents, "
            f"{derived.n_relevant:,} relevant"
        )
