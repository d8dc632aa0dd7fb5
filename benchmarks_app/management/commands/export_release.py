from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.common.selectors.reading import release_file_path
from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.management.naming import benchmark_of
from benchmarks_app.models import Release
from benchmarks_app.releases.selectors import release_source
from benchmarks_app.releases.services import exporting
from benchwright.cli.files import written
from benchwright.exports import EXPORTERS
from benchwright.exports.exporter import file_pieces
from benchwright.recipes.arguments import option, switch, unless_told, word
from benchwright.releases.versions import parse_version
from benchwright.texts.counting import counted

QRELS = "qrels"


class Command(DeclaredCommand):
    help = "Write a release in one of the field's formats, as a zip or a folder."
    takes = (
        word("slug", many="?"),
        word("release", "such as 1.0.0", many="?"),
        unless_told("-o", "--output", kind=Path, help="file, or with --folder folder"),
        option(
            "--format",
            choices=[*EXPORTERS, QRELS],
            default="beir",
            help="qrels is the release's one file of TREC qrels",
        ),
        switch("--folder", help="write a folder, not a zip"),
        switch("--formats", help="say what each format holds and loses, and end"),
    )

    def handle(self, *args: Any, slug: str | None, release: str | None, **options: Any) -> None:
        if options["formats"]:
            self._say_formats()
            return
        if slug is None or release is None:
            raise CommandError("Say which release: export_release SLUG VERSION, such as 1.0.0.")
        try:
            path = self._write(_release_of(slug, release), options)
        except OSError as error:
            raise CommandError(f"cannot write: {error}. Choose another --output.") from error
        self.say_done(f"wrote {path}")

    def _write(self, release: Release, options: dict[str, Any]) -> Path:
        """Write what was asked for, and say what the format has no place for."""
        if options["format"] == QRELS:
            path = options["output"] or Path(f"{exporting.export_name(release)}.qrels")
            with written(path) as out:
                out.writelines(file_pieces(release_file_path(release, "qrels.trec")))
            return path
        exporter = EXPORTERS[options["format"]]
        stem = exporter.stem(release_source(release))
        tell = self._tell if options["verbosity"] > 1 else None
        if options["folder"]:
            path = options["output"] or Path(stem)
            exporting.write_folder(release, exporter, path, tell=tell)
        else:
            path = options["output"] or Path(f"{stem}.zip")
            exporting.write_zip(release, exporter, path, tell=tell)
        if options["verbosity"]:
            for line in exporting.losses(release, exporter):
                self.say(f"not in it: {line}")
        return path

    def _tell(self, n: int) -> None:
        self.say(counted(n, "document"))

    def _say_formats(self) -> None:
        for exporter in EXPORTERS.values():
            self.say(f"{exporter.name}: {exporter.about}")
            for line in exporter.loses or ("nothing: an import of it gives an equal release",):
                self.say(f"  loses {line[0].lower()}{line[1:]}")


def _release_of(slug: str, version: str) -> Release:
    major, minor, patch = parse_version(version)
    releases = benchmark_of(slug).releases.published()
    release = releases.filter(major=major, minor=minor, patch=patch).first()
    if release is None:
        raise CommandError(f"{slug} has no release {version}.")
    return release
