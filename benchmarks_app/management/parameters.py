"""Options of the admin commands, made from what the library declares of a parameter."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Any

from benchwright.recipes.errors import ParameterError
from benchwright.recipes.parameters import Parameter


def add_parameters(parser: ArgumentParser, *parameters: Parameter, **changes: Any) -> None:
    """An option for each; its value stands under the parameter's own name."""
    for parameter in parameters:
        settings = {
            "dest": parameter.name,
            "type": reader(parameter),
            "default": parameter.default,
            "help": parameter.help.replace("%", "%%"),
            **changes,
        }
        parser.add_argument(parameter.flag, **settings)


def reader(parameter: Parameter) -> Callable[[str], Any]:
    """What argparse takes a text with."""

    def read(text: str) -> Any:
        try:
            return parameter.read(text)
        except ParameterError as error:
            raise ArgumentTypeError(parameter.advice) from error

    return read
