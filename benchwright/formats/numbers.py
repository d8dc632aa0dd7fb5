"""Numbers, grades and times of files, read in one way: no reader takes what another refuses.

A grade is a number, or a word of which a person says the number.
"""

import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from math import isnan
from numbers import Number
from typing import cast

# Nine digits at most; `2.0` and numpy's `2.000e+00` are the number 2.
_WHOLE = re.compile(r"([+-]?[0-9]{1,9})(?:\.0*)?(?:[eE][+-]?0+)?")
LARGEST_COUNT = 2**63 - 1
# The longest code that BCP 47 asks programs to take.
LONGEST_LANGUAGE = 35
# More digits than any database gives a row.
_LONGEST_KEY = 18


def row_key(text: str) -> int | None:
    """The number of a row, as an address or a form names it; None where no row can have it.

    >>> [row_key(text) for text in ("7", "²", "-1", "7.0", "9" * 19)]
    [7, None, None, None, None]
    """
    is_key = text.isascii() and text.isdigit() and len(text) <= _LONGEST_KEY
    return int(text) if is_key else None


def whole(value: object) -> int | None:
    """The whole number that a token, a cell or a value is; None where it is none.

    Truth values are none, and neither are `1,0`, `1_0` and digits beyond ASCII.

    >>> [whole(value) for value in (b"2", " 2.0 ", 2.0, "2.5", "2,0", True)]
    [2, 2, 2, None, None, None]
    """
    if isinstance(value, bytes | str):
        match = _WHOLE.fullmatch(_text(value))
        return int(match[1]) if match else None
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    number = real(value)
    return None if number is None or not number.is_integer() else int(number)


def count_of(value: object) -> int | None:
    """The whole number from 0 up that a database can hold; None where a value is none."""
    if isinstance(value, str):
        text = value.strip()
        value = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else text
    count = whole(value)
    return count if count is not None and 0 <= count <= LARGEST_COUNT else None


def real(value: object) -> float | None:
    """The number that a token, a cell or a value is, infinite ones among them; None for the rest.

    >>> [real(value) for value in (b"0.5", "-1e3", "inf", "nan", "9,5", "1_0", None)]
    [0.5, -1000.0, inf, None, None, None, None]
    >>> from decimal import Decimal
    >>> whole(Decimal("2.00")), real(Decimal("0.5"))
    (2, 0.5)
    """
    if isinstance(value, bytes | str):
        value = _text(value)
        # float() takes 1_0 and digits of any script, which no other reader does.
        if "_" in value or not value.isascii():
            return None
    elif isinstance(value, bool) or not isinstance(value, Number):
        return None
    try:
        number = float(cast("float", value))  # of Parquet and databases also a Decimal
    except (TypeError, ValueError, OverflowError):
        return None
    return None if isnan(number) else number


def _text(value: bytes | str) -> str:
    """A cell without the blanks around it; a token, which has none, as it is."""
    if isinstance(value, bytes):
        text = value.decode("latin-1")
        return text if text == text.strip() else "_"
    return value.strip()


FileGrade = int | str
# A column of more words than these is no column of grades.
MOST_WORDS = 40
LONGEST_WORD = 60
NO_WORDS = ("nan", "null", "none", "n/a", "na")
# The letters of the shopping queries data set (ESCI), which nothing else has together.
ESCI = {"e": 3, "s": 2, "c": 1, "i": 0}
# Words in the order of what they say; those that say the same stand together.
_ORDERS = (
    (
        {"irrelevant", "not relevant", "non relevant", "nonrelevant", "no", "bad"},
        {"marginally relevant", "somewhat relevant", "slightly relevant"},
        {"partially relevant", "partially", "partly relevant", "partly", "partial", "fair"},
        {"relevant", "yes", "good"},
        {"highly relevant", "very relevant", "excellent"},
        {"perfectly relevant", "perfect"},
    ),
    ({"irrelevant"}, {"complement"}, {"substitute"}, {"exact"}),
)


def grade_of_file(text: str) -> FileGrade:
    """The grade that a text is: a whole number, or the word itself.

    >>> grade_of_file("2"), grade_of_file("E")
    (2, 'E')
    """
    number = whole(text)
    return text if number is None else number


def word_of(value: object) -> str:
    """The word that stands in the place of a grade, without blanks around it; '' if none does.

    What tables write where there is no value is none.

    >>> [word_of(value) for value in (" not  relevant ", "0.5", "", "NaN", None)]
    ['not relevant', '', '', '', '']
    """
    if not isinstance(value, str) or len(value) > LONGEST_WORD:
        return ""
    word = " ".join(value.split())
    is_word = word.isprintable() and any(letter.isalpha() for letter in word)
    return word if is_word and real(word) is None and word.lower() not in NO_WORDS else ""


def in_order(grades: Iterable[FileGrade]) -> list[FileGrade]:
    """Numbers before words, each in their order.

    >>> in_order(["no", 2, -1, "E"])
    [-1, 2, 'E', 'no']
    """
    return sorted(grades, key=lambda grade: (isinstance(grade, str), grade))


def suggested_grades(words: Collection[str]) -> dict[str, int]:
    """What the words of a file seem to mean, from 0 on; nothing where one of them is not known.

    A suggestion: whoever imports the file says what they are.

    >>> suggested_grades(["E", "I"]), suggested_grades(["relevant", "Not relevant"])
    ({'E': 3, 'I': 0}, {'relevant': 1, 'Not relevant': 0})
    >>> suggested_grades(["yes", "partially", "no"]), suggested_grades(["yes", "zilch"])
    ({'yes': 2, 'partially': 1, 'no': 0}, {})
    """
    plain = {word: " ".join(word.lower().replace("-", " ").replace("_", " ").split())
             for word in words}  # fmt: skip
    if plain and set(plain.values()) <= ESCI.keys():
        return {word: ESCI[letter] for word, letter in plain.items()}
    for order in _ORDERS:
        levels = {name: level for level, names in enumerate(order) for name in names}
        if not plain or not set(plain.values()) <= levels.keys():
            continue
        if order is _ORDERS[-1]:  # a scale of its own, whose levels are all there
            return {word: levels[name] for word, name in plain.items()}
        # Without what lies between them, "no" and "yes" are 0 and 1.
        present = sorted({0, *(levels[name] for name in plain.values())})
        return {word: present.index(levels[name]) for word, name in plain.items()}
    return {}


def words_sentence(counts: dict[str, int]) -> str:
    """What is to be said of words that nobody has said the grades of, with all of them.

    >>> words_sentence({"E": 2, "I": 1})  # doctest: +NORMALIZE_WHITESPACE
    "grades are words: 'E' (2 rows), 'I' (1 row). Say what each is here: on the import page, or as
    a grade map such as 'E=3, I=0'."
    """
    listed = ", ".join(f"'{word}' ({n:,} row{'s' if n != 1 else ''})" for word, n in counts.items())
    suggested = suggested_grades(counts) or {
        word: place for place, word in enumerate(list(counts)[:2])
    }
    example = ", ".join(f"{quoted(word)}={grade}" for word, grade in suggested.items())
    return (
        f"grades are words: {listed}. Say what each is here: on the import page, or as a grade map "
        f"such as '{example}'."
    )


def quoted(grade: FileGrade) -> str:
    """A grade as a grade map writes it: in quotes where it could be read otherwise.

    >>> [quoted(grade) for grade in (-1, "not relevant", "so, so")]
    ['-1', 'not relevant', '"so, so"']
    """
    text = str(grade)
    is_plain = not any(mark in text for mark in ',="')
    return text if is_plain else '"' + text.replace('"', '""') + '"'


def moment_of(text: str) -> datetime | None:
    """An ISO date or time in UTC, which one without a zone is of; None for what is neither.

    So is what the zone moves out of the years 1 to 9999: it is in no calendar of ours.

    >>> moment_of("2024-05-31T09:30:00+02:00").isoformat(), moment_of("0001-01-01T00:00+14:00")
    ('2024-05-31T07:30:00+00:00', None)
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
