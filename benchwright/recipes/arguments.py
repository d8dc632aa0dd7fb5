"""What a command is told beside its parameters: words by their place, options and switches.

A command's `takes` is a tuple of these and of parameters. The options of `manage.py`
(`benchmarks_app.management.parameters`) and of `benchwright` (`benchwright.cli.parameters`) are
made from it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.recipes.parameters import Parameter


@dataclass(frozen=True)
class Argument:
    """A word by its place, or an option where `names` begin with a hyphen.

    `old` are spellings of before: they are taken and not shown. `many` is the `nargs` of argparse;
    a `is_repeated` option may be given several times, and is a list. An option with `sets` takes no
    word: it sets that value; with `has_no` there is also a `--no-` of it.
    """

    names: tuple[str, ...]
    old: tuple[str, ...] = ()
    dest: str = ""
    kind: Callable[[str], Any] | None = None
    default: Any = None
    choices: Sequence[str] | None = None
    is_required: bool = False
    many: str | None = None
    is_repeated: bool = False
    sets: Any = None
    has_no: bool = False
    metavar: str | None = None
    help: str | None = None

    @property
    def name(self) -> str:
        """Where its value stands."""
        if self.dest:
            return self.dest
        long = next((name for name in self.names if name.startswith("--")), self.names[0])
        return long.removeprefix("--").replace("-", "_")


@dataclass(frozen=True)
class OneOf:
    """Options of which one may be given, or must be."""

    options: tuple[Argument, ...]
    is_required: bool = False


Declared = Argument | OneOf | Parameter


def word(name: str, help: str | None = None, **more: Any) -> Argument:
    """What is told by its place."""
    return Argument((name,), help=help, **more)


def option(*names: str, help: str | None = None, **more: Any) -> Argument:
    """What is told by name; a text, '' where it is left out, unless `more` says otherwise."""
    return Argument(names, help=help, **{"default": "", **more})


def unless_told(*names: str, help: str | None = None, **more: Any) -> Argument:
    """What is told by name, and None where it is left out."""
    return Argument(names, help=help, **more)


def switch(*names: str, help: str | None = None, **more: Any) -> Argument:
    """What is true where its name is given."""
    return Argument(names, help=help, **{"default": False, "sets": True, **more})
