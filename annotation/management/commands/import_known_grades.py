from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.labels.services.known_grades import (
    add_known_grades,
    read_known_grades,
    set_gold_share,
)
from annotation.models import KnownGrade, Pool
from benchmarks_app.management.declared import BenchmarkCommand
from benchwright.recipes.arguments import option, unless_told, word


class Command(BenchmarkCommand):
    help = "Set documents of known grade in a pool, for practice or as hidden checks, from a TSV."
    takes = (
        word("pool", "name of the pool"),
        word("path", kind=Path),
        option(
            "--purpose",
            choices=KnownGrade.Purpose.values,
            default="gold",
            help="where none is named",
        ),
        unless_told(
            "--share", kind=float, help="hidden checks among a person's labels, such as 0.05"
        ),
    )

    def run(
        self, *, pool: str, path: Path, purpose: str, share: float | None, **options: Any
    ) -> None:
        row = Pool.objects.built().filter(benchmark=self.benchmark, name=pool).first()
        if row is None:
            raise CommandError(f"No pool '{pool}' in {self.benchmark.slug}.")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CommandError(str(error)) from error
        known_grades = read_known_grades(content, pool=row, file=path.name, purpose=purpose)
        add_known_grades(pool=row, known_grades=known_grades, actor=self.actor)
        if share is not None:
            set_gold_share(pool=row, share=share, actor=self.actor)
        self.say_done(f"{len(known_grades)} known grades")
