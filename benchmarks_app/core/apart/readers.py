"""The mark of functions that may run apart, and how a child finds them."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

READERS = "__readers__"
Function = TypeVar("Function", bound=Callable[..., Any])


def reader(function: Function) -> Function:
    """Mark a function of a module as one that may be run apart.

    Its arguments are plain data, and its answer is what `answers.Answers` lets through. A
    generator is read by `Pool.stream`, any other function by `Pool.call`.
    """
    vars(import_module(function.__module__)).setdefault(READERS, set()).add(function.__name__)
    return function


def address_of(function: Callable[..., Any]) -> tuple[str, str]:
    """Module and name of a reader; raises LookupError for any other function."""
    module, name = function.__module__, function.__qualname__
    if name not in vars(import_module(module)).get(READERS, ()):
        msg = f"{module}.{name} is not marked as a reader"
        raise LookupError(msg)
    return module, name


def reader_at(module: str, name: str) -> Callable[..., Any]:
    """The reader at an address; raises LookupError where there is none."""
    found = vars(import_module(module))
    if name not in found.get(READERS, ()):
        msg = f"{module}.{name} is not marked as a reader"
        raise LookupError(msg)
    function: Callable[..., Any] = found[name]
    return function
