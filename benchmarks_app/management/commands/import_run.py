from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    import_path,
)


class Command(BaseCommand):
    help = "Import TREC runs; each is named after its file unless --name is given."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("paths", type=Path, nargs="+")
        parser.add_argument("--name", default="", help="name of the run, where there is one file")

    def handle(
        self, *args: Any, slug: str, user: str | None, paths: list[Path], name: str, **options: Any
    ) -> None:
        if name and len(paths) > 1:
            why = "--name goes with one file."
            raise CommandError(why)
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        for path in paths:
            import_path(self, benchmark, actor, path, kind="run", name=name)
