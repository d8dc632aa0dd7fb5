from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from annotation.labels.services.exporting_judgments import export_judgments
from benchmarks_app.management.importing import actor_of, add_benchmark_arguments, benchmark_of
from benchwright.qrels.raw_judgments import FORMATS


class Command(BaseCommand):
    help = "Write every judgment of a benchmark, people by pseudonym, as JSON lines or CSV."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("--format", choices=sorted(FORMATS), default="jsonl")
        parser.add_argument(
            "--all", action="store_true", help="with practice, hidden checks and repeats"
        )
        parser.add_argument("--as-of", type=int, metavar="EVENT", help="up to this event")
        parser.add_argument("-o", "--output", type=Path, help="a file; by default it is printed")

    def handle(
        self, *args: Any, slug: str, user: str | None, output: Path | None, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        chunks = export_judgments(
            benchmark=benchmark,
            actor=actor_of(benchmark, user),
            form=options["format"],
            is_whole=options["all"],
            as_of=options["as_of"],
        )
        if output is None:
            for chunk in chunks:
                self.stdout.write(chunk, ending="")
            return
        with output.open("w", encoding="utf-8", newline="") as out:
            out.writelines(chunks)
        self.stderr.write(f"wrote {output}")
