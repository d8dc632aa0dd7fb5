"""Names of a package that are imported when they are first asked for, and not before."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` (PEP 562) of a package, by the module that has each of its names.

    It raises `MissingPackageError`, an `ImportError`, where that module needs an extra. The names
    are in `dir()` of the package, for whoever completes them by Tab.
    """
    content = vars(sys.modules[package])
    content["__dir__"] = lambda: sorted({*content, *places})

    def asked_for(name: str) -> Any:
        if name not in places:
            text = f"module '{package}' has no attribute '{name}'"
            raise AttributeError(text)
        try:
            return getattr(import_module(places[name]), name)
        except ModuleNotFoundError as error:
            from benchwright.errors import MissingPackageError

            raise MissingPackageError.of(error, f"{package}.{name}") from error

    return asked_for
