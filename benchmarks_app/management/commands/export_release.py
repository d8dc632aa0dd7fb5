from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app import selectors
from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.core.versions import parse_version
from benchmarks_app.management.importing import benchmark_of
from benchmarks_app.models import Release
from benchmarks_app.services import exporting


class Command(BaseCommand):
    help = "Write a release as a BEIR zip, or its TREC qrels."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("release", help="such as 1.0.0")
        parser.add_argument("-o", "--output", type=Path, help="file to write")
        parser.add_argument("--format", choices=["beir", "trec"], default="beir")

    def handle(self, *args: Any, slug: str, release: str, **options: Any) -> None:
        try:
            found = _release_of(slug, release)
            path = options["output"] or Path(_default_name(found, options["format"]))
            pieces = _pieces(found, options["format"])  # refuses before the file is touched
            with path.open("wb") as out:
                for piece in pieces:
                    out.write(piece)
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(self.style.SUCCESS(f"wrote {path}"))


def _release_of(slug: str, version: str) -> Release:
    major, minor, patch = parse_version(version)
    releases = benchmark_of(slug).releases.published()
    found = releases.filter(major=major, minor=minor, patch=patch).first()
    if found is None:
        raise CommandError(f"{slug} has no release {version}.")
    return found


def _default_name(release: Release, form: str) -> str:
    return exporting.export_name(release) + {"beir": ".zip", "trec": ".qrels"}[form]


def _pieces(release: Release, form: str):
    if form == "beir":
        return exporting.beir_zip(release)
    return exporting.file_pieces(selectors.release_file_path(release, "qrels.trec"))
