from typing import Any

from benchmarks_app.common.selectors.qrel_sets import merged_before
from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.management.naming import qrels_of
from benchmarks_app.releases.services.qrel_sets import map_qrels
from benchwright.formats.unlisted import UNLISTED
from benchwright.recipes.arguments import option, word


class Command(BenchmarkCommand):
    help = "Map an imported set of qrels to other grades, as a new set beside it."
    takes = (
        word("qrels", "name of the set"),
        option("--grade-map", help="such as 1=2,2=3,-1=0"),
        option(
            "--unlisted",
            choices=UNLISTED,
            help="what documents are that it does not list; otherwise as the set says",
        ),
        option("--name", help="of the new set"),
    )

    def run(self, *, qrels: str, **options: Any) -> None:
        changes = {name: options[name] for name in ("name", "grade_map", "unlisted")}
        qrel_set = qrels_of(self.benchmark, qrels)
        if merged := merged_before(qrel_set):
            self.note(f"note: {merged}")
        mapped = map_qrels(qrel_set=qrel_set, actor=self.actor, **changes)
        self.say_done(
            f"qrels '{mapped}': {mapped.n_qrels:,} grades, {mapped.n_relevant:,} relevant"
        )
