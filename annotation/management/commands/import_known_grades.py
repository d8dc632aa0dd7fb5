from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.labels.services.known_grades import (
    add_known_grades,
    read_known_grades,
    set_gold_share,
)
from annotation.models import KnownGrade, Pool
from benchmarks_app.management.importing import actor_of, add_benchmark_arguments, benchmark_of
from benchwright.errors import BenchmarkError


class Command(BaseCommand):
    help = "Set documents of known grade in a pool, for practice or as hidden checks, from a TSV."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("pool", help="name of the pool")
        parser.add_argument("path", type=Path)
        parser.add_argument(
            "--purpose",
            choices=KnownGrade.Purpose.values,
            default="gold",
            help="where none is named",
        )
        parser.add_argument(
            "--share", type=float, help="hidden checks among a person's labels, such as 0.05"
        )

    def handle(
        self,
        *args: Any,
        slug: str,
        user: str | None,
        pool: str,
        path: Path,
        purpose: str,
        share: float | None,
        **options: Any,
    ) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        found = Pool.objects.built().filter(benchmark=benchmark, name=pool).first()
        if found is None:
            raise CommandError(f"No pool '{pool}' in {slug}.")
        try:
            content = path.read_bytes()
            known = read_known_grades(content, pool=found, file=path.name, purpose=purpose)
            add_known_grades(pool=found, known=known, actor=actor)
            if share is not None:
                set_gold_share(pool=found, share=share, actor=actor)
        except (BenchmarkError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(self.style.SUCCESS(f"{len(known)} known grades"))
