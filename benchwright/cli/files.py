"""Files named on a command line: standard input, names for runs, what is said, what is written.

click is imported where it has to be told something: a plain line does without it.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from benchwright.errors import Problems, ScoringError
from benchwright.files.sources import STANDARD_INPUT

COMPRESSED = (".gz", ".zst")


def check_standard_input(paths: Iterable[Path | None]) -> None:
    """Refuse `-` for two files.

    Raises
    ------
    click.UsageError
        If it stands there twice.
    """
    if sum(path == STANDARD_INPUT for path in paths) > 1:
        import click

        message = "'-' is named twice; standard input can be read once. Name a file."
        raise click.UsageError(message)


def check_named_once(runs: Sequence[Path]) -> None:
    """Refuse a run that is named twice.

    Raises
    ------
    click.UsageError
    """
    if len(set(runs)) < len(runs):
        import click

        message = "A run is named twice; expected each once. Leave one of the two out."
        raise click.UsageError(message)


def run_names(paths: Sequence[Path]) -> list[str]:
    """What tables call the runs: their files' names, or whole paths where two are the same.

    Examples
    --------
    >>> run_names([Path("runs/bm25.run.gz"), Path("dense.run")])
    ['bm25.run', 'dense.run']
    """
    names = [path.stem if path.suffix in COMPRESSED else path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


@contextmanager
def naming(run: str) -> Iterator[None]:
    """Put the run's name before an error that does not say which of the runs it is about."""
    try:
        yield
    except ScoringError as error:
        import click

        message = f"{run}: {error}"
        raise click.ClickException(message) from error


def tell_warnings(problems: Problems) -> None:
    """Print what was worth saying of the files, on standard error, each once."""
    for warning in dict.fromkeys(map(str, problems.warnings)):
        sys.stderr.write(f"Warning: {warning}\n")
    problems.warnings.clear()


def is_stream(path: Path) -> bool:
    """Whether it is a device or a pipe, as /dev/stdout."""
    return path.exists() and not path.is_file()


@contextmanager
def written(path: Path | None, *, is_private: bool = False) -> Iterator[BinaryIO]:
    """A file to write, which is in its place once it is whole, or not at all.

    What `is_private` is for its owner alone to read. A device or a pipe is written as it is, and so
    is standard output (None); through a link the file that it names is.
    """
    if path is None:
        yield sys.stdout.buffer
        return
    if is_stream(path):
        with path.open("wb") as stream:
            yield stream
        return
    target = path.resolve()
    staged = target.with_name(f".{target.name}.part")
    try:
        with staged.open("wb") as stream:
            if is_private:
                staged.chmod(0o600)
            yield stream
            stream.flush()
            # What it was made from may be removed next: by then the disk has it.
            os.fsync(stream.fileno())
        staged.replace(target)
    except OSError as error:
        if error.filename == str(staged):  # a name that nobody gave
            error.filename = str(path)
        raise
    finally:
        with suppress(OSError):
            staged.unlink()
