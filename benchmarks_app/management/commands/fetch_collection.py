from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.importing.services.fetching import fetch_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.corpus_options import add_corpus_arguments, corpus_arguments
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    finished,
    progress_printer,
)
from benchmarks_app.models import Job
from benchwright.errors import BenchmarkError


class Command(BaseCommand):
    help = "Fetch a collection by its name (beir:scifact, hub:owner/name, irds:vaswani), import it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("collection", help="beir:NAME, hub:OWNER/NAME[@REVISION] or irds:ID")
        add_corpus_arguments(parser)

    def handle(
        self, *args: Any, slug: str, user: str | None, collection: str, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        tell = progress_printer(self)
        try:
            arguments = fetch_arguments(collection=collection, **corpus_arguments(options))
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        job = jobs.run_here(benchmark=benchmark, user=actor, on_progress=tell, **arguments)
        finished(self, job)
        # The import that follows is a job of its own; whoever took it meanwhile is waited for not.
        jobs.execute(job.result["job"], has_heartbeat=True, on_progress=tell)
        finished(self, Job.objects.get(pk=job.result["job"]))
