"""One thing that people can set, what it takes, and the refusal of what it does not."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from benchwright.errors import BenchmarkError

MOST_SHOWN = 80
MAX_SEED = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class Parameter(ABC):
    """What every kind has: where `default` is None, the parameter may be left out.

    `option` is its name as a command's option, where that is not `name` with hyphens, `short` a
    letter for it, and `old` are spellings of before, which commands take and do not show.
    """

    name: str
    default: Any = None
    label: str = ""
    help: str = ""
    option: str = ""
    short: str = ""
    old: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        return f"--{self.option or self.name.replace('_', '-')}"

    @property
    @abstractmethod
    def expected(self) -> str:
        """What it takes, to be read after "expected"."""

    @property
    def advice(self) -> str:
        """The refusal of a page, the API or a command, which say themselves whose it is."""
        return f"Expected {self.expected}."

    @abstractmethod
    def taken(self, raw: object) -> Any:
        """The value, from a text or as it is.

        Raises
        ------
        TypeError, ValueError
            If it is none.
        """

    def read(self, raw: object) -> Any:
        """The value, from a text or as it is.

        Raises
        ------
        ParameterError
            If the parameter does not take it.
        """
        try:
            return self.taken(raw)
        except (TypeError, ValueError, OverflowError):
            excerpt = str(raw)
            excerpt = excerpt if len(excerpt) <= MOST_SHOWN else f"{excerpt[:MOST_SHOWN]}…"
            raise ParameterError(name=self.name, shown=excerpt, expected=self.expected) from None


@dataclass(frozen=True, kw_only=True)
class Whole(Parameter):
    """A whole number from `least` to `most`."""

    least: int = 0
    most: int = MAX_SEED

    @property
    def expected(self) -> str:
        return f"a whole number from {self.least:,} to {self.most:,}"

    def taken(self, raw: object) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int | str):
            raise TypeError
        number = int(raw)
        if not self.least <= number <= self.most:
            raise ValueError
        return number


@dataclass(frozen=True, kw_only=True)
class Real(Parameter):
    """A number from `least` to `most`; `above` leaves the first out, `below` the second."""

    least: float = 0
    most: float = 1
    above: bool = False
    below: bool = False

    @property
    def expected(self) -> str:
        least, most = (f"{end:,.12g}" for end in (self.least, self.most))
        if not self.above and not self.below:
            return f"a number from {least} to {most}"
        if self.above and self.below:
            return f"a number between {least} and {most}"
        first = f"above {least}" if self.above else f"of at least {least}"
        last = f"below {most}" if self.below else f"at most {most}"
        return f"a number {first} and {last}"

    def taken(self, raw: object) -> float:
        if isinstance(raw, bool) or not isinstance(raw, int | float | str):
            raise TypeError
        number = float(raw)
        is_inside = self.least <= number <= self.most
        if not is_inside or number in self.open_ends:
            raise ValueError
        return number

    @property
    def open_ends(self) -> list[float]:
        """The ends that are not taken."""
        ends = ((self.least, self.above), (self.most, self.below))
        return [end for end, is_open in ends if is_open]

    def is_missed(self, number: float) -> bool:
        """Whether limits that take their ends let it pass, and this does not."""
        return math.isnan(number) or number in self.open_ends


@dataclass(frozen=True, kw_only=True)
class Choice(Parameter):
    """One of `choices`: the values, each with the words of a page."""

    choices: Mapping[str, str] = field(default_factory=dict)

    @property
    def expected(self) -> str:
        *others, last = (value.replace("_", "-") for value in self.choices)
        return f"{', '.join(others)} or {last}"

    def taken(self, raw: object) -> str:
        """The value; between hyphens and underscores it makes no difference."""
        word = str(raw).strip().lower().replace("-", "_")
        for value in self.choices:
            if value.replace("-", "_") == word:
                return value
        raise ValueError


@dataclass(frozen=True, kw_only=True)
class Day(Parameter):
    """A day, as the moment at which it begins in UTC."""

    @property
    def expected(self) -> str:
        return "a day such as 2024-06-01"

    def taken(self, raw: object) -> datetime:
        if not isinstance(raw, date | str):
            raise TypeError
        day = raw if isinstance(raw, date) else date.fromisoformat(raw)
        return datetime(day.year, day.month, day.day, tzinfo=UTC)


def check(parameters: Iterable[Parameter], values: Any) -> None:
    """Refuse what the attributes of `values` that are called as the parameters hold.

    None is no value.

    Raises
    ------
    ParameterError
        If a parameter does not take what it was given.
    """
    for parameter in parameters:
        value = getattr(values, parameter.name)
        if value is not None:
            parameter.read(value)


class ParameterError(BenchmarkError):
    """`name` is the parameter's, `shown` what it was given, `expected` what it takes."""

    code = "parameter"
    message = "{name} is {shown}; expected {expected}."
