"""Readers that do what no reader should."""

import errno
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchwright.errors import FileProblemsError, MissingFileError, Problem
from benchwright.formats.beir import CorpusRow
from benchwright.sandbox import reader


@reader
def echo(*arguments: Any, **named: Any) -> Any:
    return arguments, named


@reader
def rows(n: int) -> Iterator[CorpusRow]:
    for number in range(1, n + 1):
        yield CorpusRow(number, f"d{number}", "", "text")


@reader
def grows_row_by_row() -> Iterator[CorpusRow]:
    yield from rows(8_191)
    for number in range(8_192, 8_392):
        yield CorpusRow(number, f"d{number}", "", "a" * 70_000)


@reader
def counted(n: int, progress: Any) -> Counter[str]:
    for done in range(n):
        progress(done, n)
    return Counter("abba")


@reader
def missing() -> None:
    raise MissingFileError(place="here", expected="corpus", advice="Look elsewhere.")


@reader
def wrong_lines() -> None:
    raise FileProblemsError(problems=[Problem("a.tsv", 7, "has no grade")], is_cut=True)


@reader
def panic() -> None:
    import polars as pl

    raise pl.exceptions.PanicException("called `Option::unwrap()` on a `None` value")


@reader
def bug() -> None:
    raise KeyError("grade")


@reader
def grows_in_python() -> int:
    return len(bytearray(1 << 30))


@reader
def grows_in_rust() -> int:
    import polars as pl

    return int(pl.select(pl.repeat(1.0, 1 << 27)).sum().item())


@reader
def hides_its_growth() -> None:
    try:
        raise OSError("Cannot allocate memory to hold CompactString")
    except OSError as error:
        raise MissingFileError(place="here", expected="corpus", advice="") from error


NO_ROOM = os.strerror(errno.ENOSPC)


@reader
def meets_a_full_disk() -> None:
    raise OSError(errno.ENOSPC, NO_ROOM)


@reader
def meets_a_full_disk_in_polars() -> None:
    import polars as pl

    raise pl.exceptions.ComputeError(f"{NO_ROOM} (os error 28)")


@reader
def hides_a_full_disk() -> None:
    try:
        raise OSError(errno.ENOSPC, NO_ROOM)
    except OSError as error:
        raise MissingFileError(place="here", expected="corpus", advice="") from error


@reader
def sleeps() -> None:
    time.sleep(60)


@reader
def spins() -> None:
    while True:
        pass


@reader
def dies(after: int = 0) -> Iterator[int]:
    yield from range(after)
    os.kill(os.getpid(), 9)


@reader
def breaks_its_stack() -> None:
    import ctypes

    ctypes.string_at(0)


@reader
def says_too_much() -> str:
    return "a" * (2 << 20)


@reader
def writes_too_much(folder: Path) -> None:
    (folder / "much").write_bytes(bytes(2 << 20))


@reader
def opens_too_much() -> int:
    return len([Path("/dev/null").open() for _ in range(300)])


@reader
def environment() -> dict[str, str]:
    return dict(os.environ)


@reader
def descriptors() -> list[str]:
    items = list(Path("/proc/self/fd").iterdir())
    return sorted(str(path.readlink()) for path in items if path.is_symlink())


@reader
def leaves_a_file() -> str:
    path = Path(os.environ["TMPDIR"], "left")
    path.write_text("left")
    return str(path)


@reader
def gives_code() -> Any:
    return os.system


@reader
def prints() -> int:
    print("to the screen")  # noqa: T201
    os.write(1, b"straight")
    return 7


@reader
def process() -> int:
    return os.getpid()


def not_a_reader() -> int:
    return 1
