"""Which of the two scanners reads: the C extension, or its pure Python twin.

The extension is used where it was built. The environment's `BENCHWRIGHT_SCANNER`, `twin` or
`extension`, chooses by name.
"""

import os
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from benchwright.errors import UnknownScannerError

if TYPE_CHECKING:
    from types import ModuleType

VARIABLE = "BENCHWRIGHT_SCANNER"
SCANNERS = ("extension", "twin")


@cache
def built() -> "ModuleType | None":
    """The extension, if there is one."""
    try:
        return import_module("benchwright.reading._scanner")
    except ImportError:
        return None


def extension() -> "ModuleType | None":
    """The extension where it is to be used, otherwise None.

    Raises
    ------
    UnknownScannerError
        If the environment asks for a scanner that there is not.
    """
    asked = os.environ.get(VARIABLE, "")
    if asked and asked not in SCANNERS:
        expected = " or ".join(SCANNERS)
        raise UnknownScannerError(scanner=asked, expected=expected, advice="Choose one of them.")
    if asked == "extension" and built() is None:
        advice = "Install a C compiler and Benchwright again, or leave the variable out."
        raise UnknownScannerError(scanner=asked, expected="it to be installed", advice=advice)
    return None if asked == "twin" else built()


def scanner_name() -> str:
    """`extension` or `twin`: what reads runs and qrels here."""
    return "twin" if extension() is None else "extension"
