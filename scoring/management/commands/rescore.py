"""`manage.py rescore [SLUG]`: score again what an earlier version of the scorer has scored."""

from typing import Any

from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.declared import DeclaredCommand, refuse_failed
from benchmarks_app.management.naming import benchmark_of
from benchwright.recipes.arguments import switch, word
from scoring.rescoring.services.rescoring import scoring_runs_arguments, start_scoring_runs
from scoring.scores.selectors.releases import SCORER_VERSION
from scoring.scores.selectors.rescoring import outdated_releases


class Command(DeclaredCommand):
    help = "Score again what an earlier version of the scorer has scored, on every release."
    takes = (
        word("slug", "of this benchmark alone", many="?"),
        switch("--in-background", help="leave the work to the workers"),
    )

    def handle(self, *args: Any, slug: str | None, in_background: bool, **options: Any) -> None:
        releases = outdated_releases().select_related("benchmark")
        if slug is not None:
            releases = releases.filter(benchmark=benchmark_of(slug))
        if not releases:
            self.say(f"nothing to score again: all is of version {SCORER_VERSION}")
        for release in releases:
            if in_background:
                start_scoring_runs(release=release, user=None, only_again=True)
                self.say(f"{release}: started")
                continue
            arguments = scoring_runs_arguments(release)
            arguments["parameters"] |= {"again": True}
            job = jobs.run_here(
                benchmark=release.benchmark,
                user=None,
                on_progress=self.progress,
                **arguments,
            )
            refuse_failed(job)
            for note in job.result["notes"]:
                self.note(f"left out {note}")
            self.say_done(f"{release}: {', '.join(job.result['made'])}")
