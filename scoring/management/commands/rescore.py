"""`manage.py rescore [SLUG]`: score again what an earlier version of the scorer has scored."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.importing import progress_printer
from scoring.management.reporting import refuse_failed
from scoring.rescoring.services.rescoring import scoring_runs_arguments, start_scoring_runs
from scoring.scores.selectors.releases import SCORER_VERSION
from scoring.scores.selectors.rescoring import outdated_releases


class Command(BaseCommand):
    help = "Score again what an earlier version of the scorer has scored, on every release."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", nargs="?", help="of this benchmark alone")
        parser.add_argument(
            "--in-background", action="store_true", help="leave the work to the workers"
        )

    def handle(self, *args: Any, slug: str | None, in_background: bool, **options: Any) -> None:
        found = outdated_releases().select_related("benchmark")
        releases = [one for one in found if slug in (None, one.benchmark.slug)]
        if not releases:
            self.stdout.write(f"nothing to score again: all is of version {SCORER_VERSION}")
        for release in releases:
            if in_background:
                start_scoring_runs(release=release, user=None, only_again=True)
                self.stdout.write(f"{release}: started")
                continue
            arguments = scoring_runs_arguments(release)
            arguments["parameters"] |= {"again": True}
            job = jobs.run_here(
                benchmark=release.benchmark,
                user=None,
                on_progress=progress_printer(self),
                **arguments,
            )
            refuse_failed(job)
            for note in job.result["notes"]:
                self.stderr.write(f"left out {note}")
            self.stdout.write(self.style.SUCCESS(f"{release}: {', '.join(job.result['made'])}"))
