"""Telephone numbers as people of a country write them, without the country's own number.

Which digits are a number of a country is what the package phonenumbers knows; here it is made one
pattern a country, since parsing each candidate for each country takes a hundred times as long.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

LEAST, MOST = 8, 13
# Without a word that says more, fewer digits in a row are a number of something else: but for nine
# that begin as those of mobile telephones and large towns do where no 0 is dialled before them.
LEAST_IN_A_ROW, NINE_IN_A_ROW = 10, re.compile(r"[679]\d{8}")
TYPES = (
    "fixed_line",
    "mobile",
    "personal_number",
    "voip",
    "uan",
    "pager",
    "toll_free",
    "shared_cost",
    "premium_rate",
)
RUN = re.compile(r"(?<![\w.+@-])\(?\d+(?:(?:[ \u00a0./-]| ?\(|\)[ -]?| - )\d+)*(?![\w@]|-\w)")
DIGITS = re.compile(r"\d+")
DATE = re.compile(r"(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])")
JOINED_BEFORE, JOINED_AFTER = re.compile(r"\d[./-]$"), re.compile(r"[./-]\d")
# How numbers of eight digits are grouped; others of eight digits are dates, years and journals.
SHORT_GROUPS = ((2, 2, 2, 2), (3, 2, 3))
IN_A_LIST = 6


@dataclass(frozen=True, slots=True)
class Run:
    """Groups of digits with separators between: where each starts and ends in the text."""

    whole: str
    groups: tuple[tuple[int, int], ...]

    @property
    def span(self) -> tuple[int, int]:
        """Where it starts, with the bracket of an area code, and where it ends."""
        first = self.groups[0][0]
        return first - (self.whole[first - 1 : first] == "("), self.groups[-1][1]

    @property
    def text(self) -> str:
        start, end = self.span
        return self.whole[start:end]

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.whole[start:end] for start, end in self.groups)

    def runs(self) -> Iterator["Run"]:
        """Every number of a telephone's length that could stand in it, from left to right."""
        for first in range(len(self.groups)):
            for last in range(len(self.groups), first, -1):
                run = Run(self.whole, self.groups[first:last])
                length = sum(end - start for start, end in run.groups)
                if LEAST <= length <= MOST and run.is_apart and run.is_even:
                    yield run

    @property
    def is_apart(self) -> bool:
        """Whether blanks or brackets part it from other digits, and nothing that joins them."""
        start, end = self.span
        return not JOINED_BEFORE.search(self.whole[max(0, start - 2) : start]) and not (
            JOINED_AFTER.match(self.whole[end : end + 2])
        )

    @property
    def is_even(self) -> bool:
        """Whether points stand between all its groups or none: 839.821 is a decimal."""
        points = self.text.count(".")
        return points in (0, len(self.groups) - 1) and points != 1


def rows_in(text: str) -> Iterator[Run]:
    """Every row of groups of digits, but for lists of numbers and dates."""
    for match in RUN.finditer(text):
        groups = tuple(
            digits.span() for digits in DIGITS.finditer(text, match.start(), match.end())
        )
        if len(groups) <= IN_A_LIST and not DATE.match(match[0]):
            yield Run(text, groups)


@cache
def national_pattern(regions: tuple[str, ...]) -> re.Pattern[str]:
    """What the digits of a number are that is dialled within one of the regions."""
    return re.compile("|".join(_pattern(region) for region in regions) or r"(?!)")


def _pattern(region: str) -> str:
    from phonenumbers import PhoneMetadata

    facts = PhoneMetadata.metadata_for_region(region)
    if facts is None:
        return r"(?!)"
    bodies = {
        kind.national_number_pattern
        for kind in (getattr(facts, name) for name in TYPES)
        if kind is not None and kind.national_number_pattern
    }
    prefix = facts.national_prefix or ""
    rules = [number_format.national_prefix_formatting_rule for number_format in facts.number_format]
    is_optional = (
        all(rule is None for rule in rules)
        or any(
            number_format.national_prefix_optional_when_formatting
            for number_format in facts.number_format
        )
        or any(rule is not None and prefix not in rule for rule in rules)
    )
    dialled = f"(?:{prefix}){'?' if is_optional else ''}" if prefix else ""
    return f"{dialled}(?:{'|'.join(sorted(bodies))})"


@cache
def known_regions() -> frozenset[str]:
    """The countries phonenumbers knows, by their two letters."""
    from phonenumbers import SUPPORTED_REGIONS

    return frozenset(SUPPORTED_REGIONS)


def is_national(run: Run, regions: tuple[str, ...], *, is_said: bool, is_short: bool) -> bool:
    """Whether it is a number of one of the regions, grouped as such numbers are.

    `is_said` is whether a word says that it is a telephone's, `is_short` whether the query is: in a
    sentence without such a word, volume and pages of an article look like a number without its 0.
    """
    parts = run.parts
    digits = "".join(parts)
    if not national_pattern(regions).fullmatch(digits) or digits.endswith("000000"):
        return False
    if is_said:
        return True
    if len(parts) == 1:
        is_long = len(digits) >= LEAST_IN_A_ROW or bool(NINE_IN_A_ROW.fullmatch(digits))
        return is_short and is_long
    if not is_short:
        return digits[0] == "0" and len(digits) >= LEAST_IN_A_ROW
    if len(digits) == LEAST:
        return tuple(map(len, parts)) in SHORT_GROUPS and not _counts_up(parts)
    return not all(re.fullmatch(r"(?:19|20)\d\d", part) for part in parts)


def _counts_up(parts: tuple[str, ...]) -> bool:
    """Whether they are a list of numbers in order: 22 23 24 25."""
    return all(int(b) - int(a) == 1 for a, b in pairwise(parts))
