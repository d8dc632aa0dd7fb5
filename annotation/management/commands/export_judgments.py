from pathlib import Path
from typing import Any

from annotation.labels.services.exporting_judgments import export_judgments
from benchmarks_app.management.declared import BenchmarkCommand
from benchwright.cli.files import written
from benchwright.qrels.raw_judgments import FORMATS
from benchwright.recipes.arguments import option, switch, unless_told


class Command(BenchmarkCommand):
    help = "Write every judgment of a benchmark, people by pseudonym, as JSON lines or CSV."
    takes = (
        option("--format", choices=sorted(FORMATS), default="jsonl"),
        switch("--all", help="with practice, hidden checks and repeats"),
        unless_told("--as-of", kind=int, metavar="EVENT", help="up to this event"),
        unless_told("-o", "--output", kind=Path, help="a file; by default it is printed"),
    )

    def run(self, *, output: Path | None, **options: Any) -> None:
        chunks = export_judgments(
            benchmark=self.benchmark,
            actor=self.actor,
            form=options["format"],
            is_whole=options["all"],
            as_of=options["as_of"],
        )
        if output is None:
            for chunk in chunks:
                self.stdout.write(chunk, ending="")
            return
        with written(output) as out:
            out.writelines(chunk.encode() for chunk in chunks)
        self.note(f"wrote {output}")
