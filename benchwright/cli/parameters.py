"""Files as click takes them: those that are read are there, and none is a folder."""

from pathlib import Path
from typing import Any

import click

from benchwright.files.sources import STANDARD_INPUT


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
WRITTEN = click.Path(dir_okay=False, path_type=Path)
