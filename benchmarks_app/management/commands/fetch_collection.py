from typing import Any

from benchmarks_app.importing.services.fetching import fetch_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.management.importing import CORPUS, corpus_arguments
from benchmarks_app.models import Job
from benchwright.recipes.arguments import word


class Command(BenchmarkCommand):
    help = "Fetch a collection by its name (beir:scifact, hub:owner/name, irds:vaswani), import it."
    takes = (word("collection", "beir:NAME, hub:OWNER/NAME[@REVISION] or irds:ID"), *CORPUS)

    def run(self, *, collection: str, **options: Any) -> None:
        arguments = fetch_arguments(collection=collection, **corpus_arguments(options))
        job = self.finished(arguments)
        # The import that follows is a job of its own; whoever took it meanwhile is waited for not.
        jobs.execute(job.result["job"], has_heartbeat=True, on_progress=self.progress)
        self.told(Job.objects.get(pk=job.result["job"]))
