from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Pool
from annotation.services.importing_labels import import_labels, read_labels
from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.management.importing import actor_of, add_benchmark_arguments, benchmark_of


class Command(BaseCommand):
    help = "Enter grades given elsewhere (TSV: query-id, corpus-id, grade) for a pool's documents."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("pool", help="name of the pool")
        parser.add_argument("path", type=Path)

    def handle(
        self, *args: Any, slug: str, user: str | None, pool: str, path: Path, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        found = Pool.objects.built().filter(benchmark=benchmark, name=pool).first()
        if found is None:
            raise CommandError(f"No pool '{pool}' in {slug}.")
        grades = set(benchmark.grades.values_list("value", flat=True))
        try:
            labels = read_labels(path, grades)
        except (BenchmarkError, OSError) as error:
            raise CommandError(str(error)) from error
        done = import_labels(pool=found, labels=labels, actor=actor_of(benchmark, user))
        said = f"entered {done.n_labels} grades of {len(done.queries)} queries"
        self.stdout.write(self.style.SUCCESS(said))
        if done.n_stale:
            self.stdout.write(f"{done.n_stale} were given for another text and are stale")
        if done.n_outside:
            self.stdout.write(f"{done.n_outside} are of pairs the pool does not hold")
