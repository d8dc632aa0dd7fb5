"""The files of a submission of embeddings, sent together and counted as one."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks_app.client.counted import Counted, Sent

Parts = Callable[[], dict[str, tuple[str, Counted, str]]]
"""What a request sends as files, from the beginning at each attempt."""

CONTENT_TYPE = "application/octet-stream"


@contextmanager
def opened_files(paths: Mapping[str, str | Path | None], tell: Sent | None) -> Iterator[Parts]:
    """Open the files that are given, {field: path}; `tell` hears the bytes of all together.

    Raises
    ------
    OSError
        If one cannot be read.
    """
    given = {field: Path(path) for field, path in paths.items() if path}
    total = sum(path.stat().st_size for path in given.values())
    sent: dict[str, int] = {}

    def told_of(field: str) -> Sent | None:
        if tell is None:
            return None

        def told(done: int, size: int) -> None:
            sent[field] = done
            tell(sum(sent.values()), total)

        return told

    with ExitStack() as stack:
        sources = {
            field: Counted(
                stack.enter_context(path.open("rb")), path.stat().st_size, told_of(field)
            )
            for field, path in given.items()
        }

        def parts() -> dict[str, Any]:
            sent.clear()
            return {
                field: (given[field].name, source.again(), CONTENT_TYPE)
                for field, source in sources.items()
            }

        yield parts
