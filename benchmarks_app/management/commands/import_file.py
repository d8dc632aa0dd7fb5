from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.importing import (
    CORPUS,
    GRADES,
    LEAVE_OUT,
    ImportCommand,
    corpus_arguments,
    grades_arguments,
)
from benchwright.detection import KIND_LABELS, FileKind
from benchwright.files.archives import packed
from benchwright.formats.mapping import parsed
from benchwright.recipes import collections
from benchwright.recipes.arguments import option, switch, unless_told, word


class Command(ImportCommand):
    help = "Import files of any kind, in the order given: what each is, its content tells."
    takes = (
        word("paths", "files, folders, zips or tars", kind=Path, many="+"),
        option(
            "--kind",
            choices=["auto", *FileKind],
            default="auto",
            metavar="KIND",
            help=", ".join(f"{kind} ({KIND_LABELS[kind].lower()})" for kind in FileKind),
        ),
        option(
            "--map",
            is_repeated=True,
            default=[],
            metavar="FIELD=COLUMN",
            help="which column is what, such as id=doc_id; once for each field",
        ),
        switch(
            "--header",
            default=None,
            help="the first line names the columns, though it does not look so",
        ),
        switch("--no-header", dest="header", default=None, sets=False),
        option("--language", old=("--lang",), help="language of the queries, such as de"),
        option("--split", help="split of the queries of qrels"),
        option("--name", help="name of the run or the set of qrels"),
        *GRADES,
        LEAVE_OUT,
        collections.AGREED,
        unless_told(
            "--show-metadata",
            is_repeated=True,
            metavar="KEY",
            help="a key of the documents' metadata that people who judge see",
        ),
        *CORPUS,
    )

    def run(self, *, paths: list[Path], **options: Any) -> None:
        if options["name"] and len(paths) > 1:
            raise CommandError("--name goes with one file.")
        arguments = grades_arguments(options)
        arguments["mapping"] |= dict(parsed(pair) for pair in options["map"])
        arguments |= {name: options[name] for name in ("kind", "split", "name", "leave_out")}
        arguments["n_agreed"] = options["n_agreed"]
        arguments |= {"has_header": options["header"], "shown_metadata": options["show_metadata"]}
        arguments |= {"lang": options["language"], "corpus": corpus_arguments(options)}
        imports = [(path, partial(self._bring_packed, path, arguments)) for path in paths]
        self.import_each(imports, options["leave_out"])

    def _bring_packed(self, path: Path, arguments: dict[str, Any]) -> None:
        with packed(path) as file:
            self.bring(file, **arguments)
