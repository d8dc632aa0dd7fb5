from typing import Any

from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.management.naming import qrels_of
from benchmarks_app.releases.services.qrel_sets import delete_qrels
from benchwright.recipes.arguments import word


class Command(BenchmarkCommand):
    help = "Delete a set of qrels that no release uses; its file may be imported again."
    takes = (word("qrels", "name of the set"),)

    def run(self, *, qrels: str, **options: Any) -> None:
        delete_qrels(qrel_set=qrels_of(self.benchmark, qrels), actor=self.actor)
        self.say_done(f"qrels '{qrels}' are deleted")
