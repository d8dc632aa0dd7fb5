"""The one door to readers of files from outside: the site's pool, with the site's limits.

Neither the web process nor a worker reads such a file itself (`core.apart`).
"""

import logging
from collections.abc import Callable, Generator
from functools import cache
from typing import Any

from django.conf import settings

from benchwright.sandbox import Limits, Pool, UnreadableFileError

logger = logging.getLogger(__name__)
# Loaded before the first file comes.
LOADED = ("polars", "numpy", "benchwright.uploads")
# A page shows little of a file; what an import reads comes in messages of about a megabyte.
PAGE_BYTES = 32 << 20
ITEM_BYTES = 256 << 20


@cache
def pool() -> Pool:
    """The readers of this process."""
    # What a child that was killed has left there is swept.
    return Pool(
        settings.READERS,
        wait_seconds=settings.READ_SECONDS,
        loads=LOADED,
        folder=settings.READERS_DIR,
    )


def limits(*, is_job: bool) -> Limits:
    """What one file may take: while a page waits for it, or in a job."""
    memory_bytes = settings.READ_MEMORY_MB << 20
    if is_job:
        seconds = settings.READ_JOB_SECONDS
        return Limits(
            memory_bytes=memory_bytes,
            cpu_seconds=settings.READ_JOB_CPU_SECONDS,
            silent_seconds=seconds,
            answer_bytes=ITEM_BYTES,
            seconds_setting="READ_JOB_SECONDS or READ_JOB_CPU_SECONDS",
        )
    seconds = settings.READ_SECONDS
    return Limits(
        memory_bytes=memory_bytes,
        cpu_seconds=seconds,
        silent_seconds=seconds,
        answer_bytes=PAGE_BYTES,
    )


def call(
    function: Callable[..., Any],
    *arguments: Any,
    file: str,
    is_job: bool = False,
    progress: Callable[..., None] | None = None,
    **options: Any,
) -> Any:
    """What a reader returns; raises as `core.apart.Pool.call` does."""
    how: dict[str, Any] = {"file": file, "limits": limits(is_job=is_job), "progress": progress}
    try:
        return pool().call(function, *arguments, **how, **options)
    except UnreadableFileError as error:
        _log(error)
        raise


def stream(
    function: Callable[..., Any], *arguments: Any, file: str, **options: Any
) -> Generator[Any, None, Any]:
    """What a reader yields, in a job; raises as `core.apart.Pool.stream` does."""
    try:
        return (
            yield from pool().stream(
                function, *arguments, file=file, limits=limits(is_job=True), **options
            )
        )
    except UnreadableFileError as error:
        _log(error)
        raise


def items_and_result(reader: Generator[Any, None, Any]) -> tuple[list[Any], Any]:
    """All that a reader yields, and what it returns at its end."""
    items = []
    while True:
        try:
            items.append(next(reader))
        except StopIteration as ended:
            return items, ended.value


def _log(error: UnreadableFileError) -> None:
    """Tell the operator, with the place where a reader broke: it may be ours to mend."""
    trace = "\n".join(getattr(error, "__notes__", ()))
    logger.warning("%s %s%s", error.code, error, f"\n{trace}" if trace else "")
