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
from benchmarks_app.models import Benchmark, Job, QrelSet, Upload, User
from benchmarks_app.splits.selectors import default_qrels
from benchwright.errors import BenchmarkError
from benchwright.families import GroupingOptions, Linkage

DEFAULTS = GroupingOptions()


class Command(BaseCommand):
    help = "Group a benchmark's queries into families; what people said of pairs holds."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        for name, default, what in (
            ("--merge-at", DEFAULTS.merge_at, "alike from here on is one family"),
            ("--review-at", DEFAULTS.review_at, "from here on as well, and waits for review"),
            ("--embedding-at", DEFAULTS.embedding_at, "the same for embeddings"),
            ("--paraphrase-at", DEFAULTS.paraphrase_at, "the same for --paraphrases"),
            ("--relevant-at", DEFAULTS.relevant_at, "share of common relevant documents"),
            ("--least", DEFAULTS.least_similarity, "two less alike may be a chain"),
            ("--recut-at", DEFAULTS.recut_at, "how alike the parts of a chain are"),
        ):
            parser.add_argument(
                name, type=float, default=default, help=f"{what} (default {default})"
            )
        parser.add_argument("--largest", type=int, default=DEFAULTS.largest)
        parser.add_argument(
            "--recut-by",
            choices=list(Linkage),
            default=DEFAULTS.recut_by,
            help="how a chain is cut",
        )
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
    return GroupingOptions(
        merge_at=told["merge_at"],
        review_at=told["review_at"],
        embedding_at=told["embedding_at"],
        paraphrase_at=told["paraphrase_at"],
        relevant_at=told["relevant_at"],
        largest=told["largest"],
        least_similarity=told["least"],
        recut_by=Linkage(told["recut_by"]),
        recut_at=told["recut_at"],
        language=benchmark.corpus.lang or DEFAULTS.language,
    )


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
