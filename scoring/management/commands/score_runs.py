"""`manage.py score_runs SLUG [--release 1.2.0]`: score every run that has no scores there yet."""

from typing import Any

from benchmarks_app.management.declared import BenchmarkCommand, refuse_failed
from benchwright.recipes.arguments import unless_told
from scoring.management.reporting import release_of
from scoring.rescoring.services.rescoring import scoring_runs_arguments


class Command(BenchmarkCommand):
    help = "Score the runs that a release (the newest where none is named) has no scores of."
    takes = (unless_told("--release", help="version, such as 1.2.0"),)

    def run(self, *, release: str | None, **options: Any) -> None:
        job = self.job(scoring_runs_arguments(release_of(self.benchmark, release)))
        refuse_failed(job)
        for note in job.result["notes"]:
            self.note(f"left out {note}")
        self.say_made(job)
