"""The measures whose means are told of hidden splits, as the owner declares them for a release."""

from collections.abc import Callable, Iterable

from benchwright.errors import BenchmarkError
from benchwright.releases.errors import DeclaredMeasureError

# What a measure is, an app above knows: it says so when the site starts.
READERS: list[Callable[[str], str]] = []


def declared(names: Iterable[str]) -> tuple[str, ...]:
    """Their canonical names, each once.

    Raises
    ------
    DeclaredMeasureError
        If one is no measure, or none that may be told of grades that are hidden.
    """
    return tuple(dict.fromkeys(_read(name) for name in names))


def _read(name: str) -> str:
    try:
        for read in READERS:
            name = read(name)
    except BenchmarkError as error:
        raise DeclaredMeasureError(name=name[:80], why=str(error)) from error
    return name
