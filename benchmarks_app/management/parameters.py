"""Options of the admin commands, made from what the library declares of a parameter."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Any

from benchwright.recipes.errors import ParameterError
from benchwright.recipes.parameters import Parameter


def add_parameters(parser: ArgumentParser, *parameters: Parameter) -> None:
    """An option for each; its value stands under the parameter's own name."""
    for parameter in parameters:
        add_parameter(parser, parameter)


def add_parameter(parser: ArgumentParser, parameter: Parameter, *also: str) -> None:
    """The option of one, called as it or as `also`."""
    parser.add_argument(
        *also,
        parameter.flag,
        dest=parameter.name,
        type=reader(parameter),
        default=parameter.default,
        help=parameter.help.replace("%", "%%"),
    )


def reader(parameter: Parameter) -> Callable[[str], Any]:
    """What argparse takes a text with."""

    def read(text: str) -> Any:
        try:
            return parameter.read(text)
        except ParameterError as error:
            raise ArgumentTypeError(parameter.advice) from error

    return read
