from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import actor_of, add_benchmark_arguments, benchmark_of
from benchmarks_app.models import Slice
from benchmarks_app.slices.services import changes
from benchwright.errors import BenchmarkError


class Command(BaseCommand):
    help = "Register a slice: its members, rule and name stay, and a gate may use it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("name", help="the slice")

    def handle(self, *args: Any, slug: str, user: str | None, name: str, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        found = Slice.objects.filter(benchmark=benchmark, name=name).first()
        if found is None:
            known = ", ".join(benchmark.slices.values_list("name", flat=True)) or "none yet"
            raise CommandError(f"No slice '{name}'. There are: {known}.")
        try:
            made = changes.register_slice(of=found, actor=actor_of(benchmark, user))
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        n = made.n_results_before
        seen = f"after {n:,} results had been seen" if n else "before any result was seen"
        said = f"slice '{name}' registered {seen}: members {made.members_sha256}"
        self.stdout.write(self.style.SUCCESS(said))
