from typing import Any

from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.management.naming import named
from benchmarks_app.models import Slice
from benchmarks_app.slices.services import changes
from benchwright.recipes.arguments import word


class Command(BenchmarkCommand):
    help = "Register a slice: its members, rule and name stay, and a gate may use it."
    takes = (word("name", "the slice"),)

    def run(self, *, name: str, **options: Any) -> None:
        slices = Slice.objects.filter(benchmark=self.benchmark)
        query_slice = named(slices, name, f"No slice '{name}'. There are:")
        registered = changes.register_slice(of=query_slice, actor=self.actor)
        n = registered.n_results_before
        moment = f"after {n:,} results had been seen" if n else "before any result was seen"
        self.say_done(f"slice '{name}' registered {moment}: members {registered.members_sha256}")
