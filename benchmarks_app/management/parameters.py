"""What the admin commands take, made from what the library declares."""

from argparse import SUPPRESS, ArgumentTypeError, BooleanOptionalAction
from collections.abc import Callable, Iterable
from typing import Any

from benchwright.recipes.arguments import Argument, Declared, OneOf
from benchwright.recipes.parameters import Parameter, ParameterError


def add_declared(parser: Any, declared: Iterable[Declared]) -> None:
    """Add what is declared to a parser of argparse's, or to a group of one."""
    for declaration in declared:
        if isinstance(declaration, OneOf):
            group = parser.add_mutually_exclusive_group(required=declaration.is_required)
            add_declared(group, declaration.options)
            continue
        names, settings = (
            _of_parameter(declaration)
            if isinstance(declaration, Parameter)
            else _of_argument(declaration)
        )
        parser.add_argument(*names, **settings)
        if declaration.old:
            parser.add_argument(
                *declaration.old, **{**settings, "default": SUPPRESS, "help": SUPPRESS}
            )


def _of_parameter(parameter: Parameter) -> tuple[list[str], dict[str, Any]]:
    names = [name for name in (parameter.short, parameter.flag) if name]
    settings = {
        "dest": parameter.name,
        "type": reader(parameter),
        "default": parameter.default,
        "help": _plain(parameter.help),
    }
    return names, settings


def _of_argument(argument: Argument) -> tuple[tuple[str, ...], dict[str, Any]]:
    settings: dict[str, Any] = {"default": argument.default, "help": _plain(argument.help)}
    if argument.names[0].startswith("-"):
        settings |= {"dest": argument.name, "required": argument.is_required}
    elif argument.default is None:
        del settings["default"]
    if argument.has_no:
        return argument.names, {**settings, "action": BooleanOptionalAction}
    if argument.sets is not None:
        return argument.names, {**settings, "action": "store_const", "const": argument.sets}
    settings |= {"metavar": argument.metavar, "choices": argument.choices, "type": argument.kind}
    more = {"nargs": argument.many, "action": "append" if argument.is_repeated else None}
    return argument.names, settings | {name: value for name, value in more.items() if value}


def _plain(help: str | None) -> str | None:
    """Help for argparse, which reads per cent signs."""
    return help and help.replace("%", "%%")


def reader(parameter: Parameter) -> Callable[[str], Any]:
    """What argparse takes a text with."""

    def read(text: str) -> Any:
        try:
            return parameter.read(text)
        except ParameterError as error:
            raise ArgumentTypeError(parameter.advice) from error

    return read
