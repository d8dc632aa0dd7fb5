"""Figures that apps add to those of the site, registered without loading what writes them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A number with its name and what it is."""

    name: str
    about: str
    value: float


Counter = Callable[[], Iterable[Figure]]
COUNTERS: list[Counter] = []


def counts(counter: Counter) -> Counter:
    """Register what counts further figures: cheap, for it is asked every few seconds."""
    COUNTERS.append(counter)
    return counter
