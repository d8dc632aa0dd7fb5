"""Which column of a log says what: named by its owner, or told by its name and its values.

Only what has a role is ever read. Columns about people (users, sessions, addresses) can have none.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from benchwright.logs.errors import LogColumnsError

# The names that columns go by, those of the first kind first: a column that the publisher has
# cleaned is what was meant, beside one of what was typed.
NAMES: dict[str, tuple[str, ...]] = {
    "query": (
        "query cleaned", "cleaned query", "search string cleaned", "query normalized",
        "normalized query", "query normalised", "query", "query text", "querytext", "search query",
        "search string", "search term", "search terms", "searchterm", "keywords", "keyword",
        "search phrase", "phrase", "term", "q", "text",
    ),
    "count": (
        "count", "counts", "searches", "frequency", "freq", "n searches", "search count",
        "query count", "total unique searches", "total searches", "times", "volume", "impressions",
        "n", "hits",
    ),
    "date": (
        "date", "day", "timestamp", "time", "datetime", "query time", "querytime", "searched at",
        "asked at", "created at", "event time", "@timestamp", "ts", "first seen",
    ),
    "year": ("year", "yr"),
    "month": ("month", "year month", "yearmonth", "mon"),
    "clicks": (
        "clicked", "clicks", "clicked docs", "clicked documents", "clicked doc", "clicked document",
        "clicked ids", "clicked id", "clicked docid", "click url", "clickurl", "clicked url",
        "docid", "doc id", "document id",
    ),
    "lang": ("lang", "language", "locale", "query language"),
}  # fmt: skip
LABELS = {
    "query": "what was asked",
    "count": "how often",
    "date": "day or time",
    "year": "year",
    "month": "month",
    "clicks": "clicked documents",
    "lang": "language",
}
PERSONAL = re.compile(
    r"\b(user|users|session|sessions|cookie|visitor|client|device|account|customer|member|person"
    r"|anon|anonid|ip|email|mail|phone|userid|sessionid|uid|guid|host)\b"
)
EXPECTED = (
    "expected a column of queries (named query, search string or the like), and if there are any "
    "of counts (count, searches), of days (date; or year and month) and of clicked documents"
)


@dataclass(frozen=True, slots=True)
class LogColumns:
    """The name of the column that has each role; empty where none has."""

    query: str
    count: str = ""
    date: str = ""
    year: str = ""
    month: str = ""
    clicks: str = ""
    lang: str = ""

    @property
    def named(self) -> dict[str, str]:
        """The roles that a column has, and which."""
        pairs = ((role.name, getattr(self, role.name)) for role in fields(self))
        return {role: column for role, column in pairs if column}

    @classmethod
    def of(cls, named: Mapping[str, Any]) -> "LogColumns":
        """From `named`, as it was kept; roles of other names are passed over."""
        roles = {role.name for role in fields(cls)}
        return cls(**{"query": "", **{k: str(v) for k, v in named.items() if k in roles and v}})


def said(name: str) -> str:
    """A column's name as names are compared: `Search_String` is `search string`."""
    return " ".join(re.sub(r"[_\-.\s]+", " ", name).split()).casefold()


def is_personal(name: str) -> bool:
    """Whether a column is about people, by its name.

    >>> is_personal("AnonID"), is_personal("session_id"), is_personal("signed in")
    (True, True, False)
    """
    return bool(PERSONAL.search(said(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)))) or bool(
        PERSONAL.search(said(name))
    )


def detected_columns(
    columns: Sequence[str], rows: Sequence[Mapping[str, Any]], *, file: str
) -> LogColumns:
    """Which column has which role, by names; one column alone is of queries, whatever it is called.

    Raises
    ------
    LogColumnsError
        If none is of queries, by its name or as the one that holds words.
    """
    columns_found = {role: _named(columns, names) for role, names in NAMES.items()}
    if not columns_found["query"]:
        columns_found["query"] = _wordy(columns, rows, columns_taken=set(columns_found.values()))
    if not columns_found["query"]:
        listed = ", ".join(columns)[:100] or "none"
        raise LogColumnsError(file=file, why=f"its columns are {listed}; {EXPECTED}.")
    if columns_found["date"]:
        columns_found["year"] = columns_found["month"] = ""
    if columns_found["year"] and not columns_found["month"]:
        columns_found["year"] = ""
    return LogColumns(**columns_found)


def _named(columns: Sequence[str], names: Sequence[str]) -> str:
    by_name = {said(column): column for column in reversed(columns) if not is_personal(column)}
    return next((by_name[name] for name in names if name in by_name), "")


def _wordy(
    columns: Sequence[str], rows: Sequence[Mapping[str, Any]], *, columns_taken: set[str]
) -> str:
    """The only column of words, if there is exactly one besides those that have a role."""
    if len(columns) == 1:
        return columns[0]
    wordy = [
        column
        for column in columns
        if column not in columns_taken and not is_personal(column) and _has_words(column, rows)
    ]
    return wordy[0] if len(wordy) == 1 else ""


def _has_words(column: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    texts = [str(row.get(column) or "") for row in rows]
    worded = sum(bool(re.search(r"[^\W\d_]{2}", text)) for text in texts)
    return bool(texts) and 2 * worded > len(texts)


def checked_columns(columns: LogColumns, there: Sequence[str], *, file: str) -> LogColumns:
    """The columns as given; raises where one is not there, has two roles or is about people.

    Raises
    ------
    LogColumnsError
    """
    named = columns.named
    if not columns.query:
        raise LogColumnsError(file=file, why=f"no column is said to hold the queries; {EXPECTED}.")
    for role, column in named.items():
        if column not in there:
            why = f"there is no column '{column}' for {LABELS[role]}; there are {', '.join(there)}."
            raise LogColumnsError(file=file, why=why)
        if is_personal(column) and len(there) > 1:
            why = (
                f"column '{column}' is about people by its name and cannot be {LABELS[role]}. "
                "Choose another; what tells users or sessions apart is never read."
            )
            raise LogColumnsError(file=file, why=why)
    twice = sorted({c for c in named.values() if list(named.values()).count(c) > 1})
    if twice:
        why = f"column '{twice[0]}' has two roles; give each column one."
        raise LogColumnsError(file=file, why=why)
    if columns.year and not columns.month:
        why = "there is a column of years and none of months; name one, or leave the year out."
        raise LogColumnsError(file=file, why=why)
    if columns.date and (columns.year or columns.month):
        why = "days and months are both given; a log has one or the other."
        raise LogColumnsError(file=file, why=why)
    return columns
