"""Files named on a command line: standard input, names for runs, what is said of them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from benchmarks_app.core.formats.sources import STANDARD_INPUT
from benchmarks_app.core.problems import Problems
from scoring.core.errors import ScoringError

COMPRESSED = (".gz", ".zst")


class NoSuchFile(click.ClickException):
    """A file on the command line is not there; ends as a usage error does."""

    exit_code = 2


class InputFile(click.ParamType):  # type: ignore[type-arg,unused-ignore] # generic since 8.2
    """A file that exists, as a path; `-` stands for standard input."""

    name = "file"

    def __init__(self, *, takes_folder: bool = False) -> None:
        self.takes_folder = takes_folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if path.is_dir() and not self.takes_folder:
            text = f"{path}: is a folder; expected a file. Name a file in it."
            raise NoSuchFile(text)
        if path != STANDARD_INPUT and not path.exists():
            text = f"{path}: no such file. Check the path."
            raise NoSuchFile(text)
        return path


FILE = InputFile()


def check_standard_input(paths: Iterable[Path | None]) -> None:
    """Refuse `-` for two files.

    Raises
    ------
    click.UsageError
        If it stands there twice.
    """
    if sum(path == STANDARD_INPUT for path in paths) > 1:
        message = "'-' is named twice; standard input can be read once. Name a file."
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
        message = f"{run}: {error}"
        raise click.ClickException(message) from error


def tell_warnings(problems: Problems) -> None:
    """Print what was worth saying of the files, on standard error, each once."""
    for warning in dict.fromkeys(map(str, problems.warnings)):
        click.echo(f"Warning: {warning}", err=True)
    problems.warnings.clear()
