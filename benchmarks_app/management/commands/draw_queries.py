from typing import Any

from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.queries.services import draw_families
from benchwright.recipes.sampling import FAMILIES_DRAWN


class Command(BenchmarkCommand):
    help = "Draw families of queries for people to label: what a corrected mean may rest on."
    takes = (FAMILIES_DRAWN,)

    def run(self, **options: Any) -> None:
        draw = draw_families(benchmark=self.benchmark, user=self.actor, n=options["n"])
        self.say_done(f"drew {draw} (seed {draw.seed})")
        for family in draw.families:
            self.say(family)
