from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.collections.services import uploading
from benchmarks_app.families.services.grouping import grouping_arguments, review_preview
from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    progress_printer,
)
from benchmarks_app.management.parameters import add_parameters
from benchmarks_app.models import Benchmark, Job, QrelSet, Upload, User
from benchmarks_app.splits.selectors import default_qrels
from benchwright.errors import BenchmarkError
from benchwright.families import GroupingOptions
from benchwright.families.keys import DEFAULT_LANGUAGE
from benchwright.recipes import families


class Command(BaseCommand):
    help = "Group a benchmark's queries into families; what people said of pairs holds."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        add_parameters(parser, *families.GROUPING)
        parser.add_argument(
            "--qrels", help="set whose relevant documents count; by default the newest official one"
        )
        parser.add_argument(
            "--no-qrels", action="store_true", help="count no relevant documents at all"
        )
        parser.add_argument("--embeddings", type=Path, help=".npz with ids and embeddings")
        parser.add_argument(
            "--paraphrases",
            action="store_true",
            help="look for paraphrases by static vectors (extra demo)",
        )
        parser.add_argument(
            "--reviews", action="store_true", help="only say how many reviews each --merge-at costs"
        )
        parser.add_argument("--ids", type=Path, help="the ids of an .npy file, one a line")

    def handle(self, *args: Any, slug: str, user: str | None, **told: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        try:
            if told["reviews"]:
                options = _options(benchmark, told)
                qrel_set = _qrels(benchmark, told)
                for cost in review_preview(
                    benchmark=benchmark,
                    options=options,
                    qrel_set=qrel_set,
                    paraphrases=told["paraphrases"],
                    most=None,
                ):
                    self.stdout.write(str(cost))
                return
            arguments = grouping_arguments(
                benchmark=benchmark,
                options=_options(benchmark, told),
                qrel_set=_qrels(benchmark, told),
                embeddings=_upload(benchmark, actor, told["embeddings"]),
                ids=_upload(benchmark, actor, told["ids"]),
                paraphrases=told["paraphrases"],
            )
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        job = jobs.run_here(
            benchmark=benchmark, user=actor, on_progress=progress_printer(self), **arguments
        )
        if job.state == Job.State.FAILED:
            raise CommandError(job.error)
        for made in job.result["made"]:
            self.stdout.write(self.style.SUCCESS(made))


def _options(benchmark: Benchmark, told: dict[str, Any]) -> GroupingOptions:
    thresholds = {one.name: told[one.name] for one in families.GROUPING}
    return GroupingOptions(**thresholds, language=benchmark.corpus.lang or DEFAULT_LANGUAGE)


def _qrels(benchmark: Benchmark, told: dict[str, Any]) -> QrelSet | None:
    if told["no_qrels"]:
        return None
    if not told["qrels"]:
        return default_qrels(benchmark)
    ready = QrelSet.objects.ready().filter(benchmark=benchmark)
    found = ready.filter(name=told["qrels"]).first()
    if found is None:
        known = ", ".join(ready.values_list("name", flat=True)[:10]) or "none yet"
        raise CommandError(f"No set of qrels '{told['qrels']}'. There are: {known}.")
    return found


def _upload(benchmark: Benchmark, actor: User, path: Path | None) -> Upload | None:
    if path is None:
        return None
    if not path.is_file():
        raise CommandError(f"{path}: no such file.")
    return uploading.receive_path(benchmark=benchmark, owner=actor, path=path)
