"""Handing out what people said, to be read elsewhere."""

from collections.abc import Iterator

from annotation.labels.selectors.raw_judgments import raw_judgments
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, User
from benchwright.qrels.raw_judgments import FORMATS, in_chunks

CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


def export_judgments(
    *,
    benchmark: Benchmark,
    actor: User,
    form: str = "jsonl",
    is_whole: bool = False,
    as_of: int | None = None,
) -> Iterator[str]:
    """Pieces of the export's text, made while they are taken; that it was asked for is recorded.

    `form` is one of `FORMATS`.
    """
    write = FORMATS[form]
    audit.record(
        actor=actor,
        action="export-judgments",
        benchmark=benchmark,
        target=benchmark.slug,
        form=form,
        is_whole=is_whole,
        as_of=as_of,
    )
    return in_chunks(write(raw_judgments(benchmark, is_whole=is_whole, as_of=as_of)))
