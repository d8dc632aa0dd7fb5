from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    finished,
)
from benchmarks_app.models import Benchmark, Job, QrelSet
from benchmarks_app.releases.services.drafting import create_draft, draft_options, looking_arguments
from benchmarks_app.releases.services.releasing import release_arguments
from benchwright.errors import BenchmarkError
from benchwright.exports import EXPORTERS
from benchwright.releases.options import ReleaseOptions


class Command(BaseCommand):
    help = "Publish a release that pins a set of qrels; look first with --dry-run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("--qrels", required=True, help="name of the set")
        parser.add_argument(
            "--release", default="", help="such as 1.0.0; by default it follows from what changed"
        )
        parser.add_argument("--notes", default="", help="what is new, for the changelog")
        parser.add_argument("--card", type=Path, help="file of Markdown: the card's own text")
        parser.add_argument("--licence", help="such as CC-BY-4.0")
        parser.add_argument("--citation", type=Path, help="file of BibTeX")
        parser.add_argument("--threshold", type=int, help="the lowest grade that is relevant")
        parser.add_argument(
            "--drop-all-zero", action="store_true", help="leave out queries without a grade above 0"
        )
        parser.add_argument(
            "--withhold-texts", action="store_true", help="give out ids and hashes, no texts"
        )
        parser.add_argument(
            "--without",
            action="append",
            choices=list(EXPORTERS),
            default=[],
            help="a format that it is not given in; may be repeated",
        )
        parser.add_argument(
            "--measure",
            action="append",
            default=[],
            help="a measure whose means all see of hidden splits; may be repeated; by default "
            "those of every board",
        )
        parser.add_argument(
            "--strict", action="store_true", help="refuse to publish where there is a warning"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="print what was found, and publish nothing"
        )
        parser.add_argument(
            "--draft", action="store_true", help="leave it as a draft, to be published on its page"
        )

    def handle(self, *args: Any, slug: str, user: str | None, qrels: str, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        wanted = {
            "qrel_set": _set_of(benchmark, qrels),
            "version": options["release"],
            "notes": options["notes"],
            "options": _options(benchmark, options),
        }
        try:
            if options["draft"]:
                draft = create_draft(user=actor, **wanted)
                self.stdout.write(self.style.SUCCESS(f"drafted {slug} {draft.version}"))
                return
            # A version that follows from what changed is known when it was looked over.
            if options["dry_run"] or not wanted["version"]:
                looked = self._looked(benchmark, actor, wanted)
                wanted["version"] = looked.result["version"]
            if options["dry_run"]:
                self._print_findings(looked)
                return
            accepted = [] if options["strict"] else "*"
            arguments = release_arguments(**wanted, accepted=accepted)
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"cannot read: {error}.") from error
        finished(self, jobs.run_here(benchmark=benchmark, user=actor, **arguments))
        self.stdout.write(self.style.SUCCESS(f"published {slug} {wanted['version']}"))

    def _looked(self, benchmark: Benchmark, actor: Any, wanted: dict[str, Any]) -> Job:
        job = jobs.run_here(benchmark=benchmark, user=actor, **looking_arguments(**wanted))
        if job.state == Job.State.FAILED:
            raise CommandError(job.error)
        return job

    def _print_findings(self, job: Job) -> None:
        self.stdout.write(f"would be {job.result['version']}")
        for reason in job.result["diff"].get("reasons", []):
            self.stdout.write(f"since {job.result['diff']['parent']}: {reason}")
        for found in job.result["findings"]:
            self.stdout.write(
                f"{found['severity']} {found['code']} ({found['target']}, {found['where']}): "
                f"{found['message']} {found['advice']}"
            )
        if any(found["severity"] == "error" for found in job.result["findings"]):
            why = "There are errors; it can not be published."
            raise CommandError(why)


def _options(benchmark: Benchmark, given: dict[str, Any]) -> ReleaseOptions:
    """The choices of the newest release, with those of the command in their place."""
    options = draft_options(benchmark)
    said = {
        "licence": given["licence"],
        "threshold": given["threshold"],
        "description": given["card"] and given["card"].read_text("utf-8"),
        "citation": given["citation"] and given["citation"].read_text("utf-8"),
        "drops_all_zero": given["drop_all_zero"] or None,
        "passes_on_texts": False if given["withhold_texts"] else None,
        "left_out": tuple(given["without"]) or None,
        "measures": tuple(given["measure"]) or None,
    }
    return replace(options, **{key: value for key, value in said.items() if value is not None})


def _set_of(benchmark: Benchmark, name: str) -> QrelSet:
    sets = QrelSet.objects.ready().filter(benchmark=benchmark)
    found = sets.filter(name=name).first()
    if found is None:
        known = ", ".join(sets.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"No set of qrels '{name}'. There are: {known}.")
    return found
