from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.corpus_options import add_corpus_arguments, corpus_arguments
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    add_grades_arguments,
    add_leave_out_argument,
    benchmark_of,
    grades_arguments,
    import_each,
    import_path,
    packed,
)
from benchmarks_app.models import Benchmark, User
from benchwright.detection import KIND_LABELS, FileKind
from benchwright.errors import BenchmarkError
from benchwright.formats.mapping import parsed


class Command(BaseCommand):
    help = "Import files of any kind, in the order given: what each is, its content tells."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("paths", type=Path, nargs="+", help="files, folders, zips or tars")
        kinds = ", ".join(f"{kind} ({KIND_LABELS[kind].lower()})" for kind in FileKind)
        parser.add_argument(
            "--kind", choices=["auto", *FileKind], default="auto", metavar="KIND", help=kinds
        )
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="FIELD=COLUMN",
            help="which column is what, such as id=doc_id; once for each field",
        )
        parser.add_argument(
            "--header",
            action="store_true",
            default=None,
            help="the first line names the columns, though it does not look so",
        )
        parser.add_argument("--no-header", dest="header", action="store_false")
        parser.add_argument("--lang", default="", help="language of the queries, such as de")
        parser.add_argument("--split", default="", help="split of the queries of qrels")
        parser.add_argument("--name", default="", help="name of the run or the set of qrels")
        add_grades_arguments(parser)
        add_leave_out_argument(parser)
        parser.add_argument(
            "--show-metadata",
            action="append",
            metavar="KEY",
            help="a key of the documents' metadata that people who judge see",
        )
        add_corpus_arguments(parser)

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        paths = options["paths"]
        if options["name"] and len(paths) > 1:
            why = "--name goes with one file."
            raise CommandError(why)
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        try:
            said = grades_arguments(options)
            said["mapping"] |= dict(parsed(pair) for pair in options["map"])
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        imports = [
            (path, partial(self._import, path, benchmark, actor, said, options)) for path in paths
        ]
        import_each(self, imports, options["leave_out"])

    def _import(
        self, path: Path, benchmark: Benchmark, actor: User, said: dict, options: dict
    ) -> None:
        with packed(path) as file:
            import_path(
                self,
                benchmark,
                actor,
                file,
                kind=options["kind"],
                has_header=options["header"],
                lang=options["lang"],
                split=options["split"],
                name=options["name"],
                leave_out=options["leave_out"],
                shown_metadata=options["show_metadata"],
                corpus=corpus_arguments(options),
                **said,
            )
