"""What click takes: files that are there, and what the library declares of a parameter."""

from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any

import click

from benchwright.cli.main import option
from benchwright.files.sources import STANDARD_INPUT
from benchwright.recipes.parameters import Choice, Day, Parameter, ParameterError, Real, Whole
from benchwright.texts.counting import counted

NAMED_AT_MOST = 3


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


class ResultFile(InputFile):
    """A result file of MTEB, or a folder that it wrote one into, beside what holds no value."""

    NO_RESULTS = "model_meta.json"

    def __init__(self) -> None:
        super().__init__(takes_folder=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = super().convert(value, param, ctx)
        if not path.is_dir():
            return path
        files = [file for file in sorted(path.rglob("*.json")) if file.name != self.NO_RESULTS]
        if len(files) != 1:
            names = ", ".join(str(file.relative_to(path)) for file in files[:NAMED_AT_MOST])
            more = " …" if len(files) > NAMED_AT_MOST else ""
            such = f" (such as {names}{more})" if files else ""
            n = counted(len(files), "result file")
            text = f"{path}: holds {n}{such}; expected one. Name a file."
            raise NoSuchFile(text)
        return files[0]


class Content(InputFile):
    """What is in a file: its text, or what its JSON says."""

    def __init__(self, *, is_json: bool = False) -> None:
        super().__init__()
        self.is_json = is_json

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        import json

        path = super().convert(value, param, ctx)
        text = text_of(path)
        if not self.is_json:
            return text
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            message = f"{path}:{error.lineno}: is no JSON ({error.msg}). Mend the line."
            raise click.ClickException(message) from error


class Rows(InputFile):
    """The rows of a table of tab-separated values, whose first line names what is in them."""

    NAMES = {"query-id": "query", "corpus-id": "document"}
    """BEIR's names of columns, and what the API calls them."""

    def __init__(self, *columns: str) -> None:
        super().__init__()
        self.columns = columns

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        text = text_of(path).removesuffix("\n")
        lines = [line.split("\t") for line in text.split("\n")] if text else []
        head = [self.NAMES.get(name, name) for name in lines[0]] if lines else []
        if missing := [name for name in self.columns if name not in head]:
            what = f"has no column {missing[0]}; expected {', '.join(self.columns)}"
            raise self._wrong(path, 1, f"{what}, between tabs. Name the columns there.")
        for number, cells in enumerate(lines[1:], start=2):
            if len(cells) != len(head):
                n = counted(len(cells), "cell")
                what = f"{n}, expected {len(head)}, between tabs. Mend the line."
                raise self._wrong(path, number, what)
        return [dict(zip(head, cells, strict=True)) for cells in lines[1:]]

    @staticmethod
    def _wrong(path: Path, line: int, what: str) -> click.ClickException:
        return click.ClickException(f"{path}:{line}: {what}")


def text_of(path: Path) -> str:
    """The text of a file, or of standard input, its lines ended by a line feed.

    Raises
    ------
    click.ClickException
        If it is neither UTF-8 nor UTF-16 with its mark; names the line.
    """
    from benchwright.files.sources import open_lines

    content = b"".join(open_lines(path))
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        text = f"{path}:{line}: is not UTF-8. Save it as UTF-8."
        raise click.ClickException(text) from error


class OutputFile(click.Path):
    """A file to write, as `Path`; `-` is None, where without one it is printed, or refused."""

    def __init__(self, *, is_printed: bool = False) -> None:
        super().__init__(dir_okay=False, path_type=Path)
        self.is_printed = is_printed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value != "-":
            return super().convert(value, param, ctx)
        if not self.is_printed:
            text = "'-' is standard output, where this command says how it went. Name a file."
            self.fail(text, param, ctx)
        return None


class FiniteRange(click.FloatRange):
    """A number of a range; NaN and infinity are in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            text = f"{number} is not in the range {self._describe_range()}."
            self.fail(text, param, ctx)
        return number


FILE = InputFile()


class _Taken:
    """What a parameter of the library takes, as a type of click's; it refuses in its words."""

    parameter: Parameter

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self.parameter.read(value)
        except ParameterError as error:
            raise click.BadParameter(self.parameter.advice, ctx, param) from error


class _Whole(_Taken, click.IntRange):
    def __init__(self, parameter: Whole) -> None:
        self.parameter = parameter
        super().__init__(parameter.least, parameter.most)


class _Real(_Taken, click.FloatRange):
    def __init__(self, parameter: Real) -> None:
        self.parameter = parameter
        super().__init__(
            parameter.least, parameter.most, min_open=parameter.above, max_open=parameter.below
        )


class _Choice(_Taken, click.Choice):  # type: ignore[type-arg,unused-ignore] # generic since 8.2
    def __init__(self, parameter: Choice) -> None:
        self.parameter = parameter
        super().__init__([value.replace("_", "-") for value in parameter.choices])


class _Day(_Taken, click.ParamType):  # type: ignore[type-arg,unused-ignore] # generic since 8.2
    name = "day"

    def __init__(self, parameter: Day) -> None:
        self.parameter = parameter


def parameter_option(
    parameter: Parameter, *also: str, group: str, **changes: Any
) -> Callable[[Any], Any]:
    """The option of a parameter, called as it or as `also`; its value is under its own name."""
    types = {Whole: _Whole, Real: _Real, Choice: _Choice, Day: _Day}
    settings = {
        "type": types[type(parameter)](parameter),
        "default": _shown(parameter.default),
        "show_default": parameter.default is not None,
        "help": parameter.help,
        **changes,
    }
    names = [name for name in (parameter.short, *also, parameter.flag) if name]
    return option(*names, parameter.name, group=group, old=parameter.old, **settings)


def _shown(default: Any) -> Any:
    """A default as the option's help shows it: choices have hyphens."""
    return default.replace("_", "-") if isinstance(default, str) else default
