"""What the site knows of a person: each app registers its texts and its records of people here."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.db.models import Manager, Model, QuerySet

from benchmarks_app.models import User

CHUNK = 2000

# What people wrote, by model: where a name is found in one of these fields, a pseudonym takes its
# place when the person is forgotten. All other texts are content, or are made by machines.
WRITTEN: dict[type[Model], tuple[str, ...]] = {}
# What is released, or judged by: it never changes, and may go on naming a person. With the way to
# the benchmark it is of.
LASTING: dict[type[Model], tuple[str, tuple[str, ...]]] = {}

# Told which runs have a new name, and what they were called; they return the tables they wrote to.
RunFollower = Callable[[Mapping[int, str]], set[str]]
RUN_FOLLOWERS: list[RunFollower] = []

Records = Callable[[User], Iterator[dict[str, Any]]]
# Kinds of records of a person, for their export: objects as JSON has them, one at a time.
RECORDS: dict[str, Records] = {}


def records(name: str) -> Callable[[Records], Records]:
    """Register what tells of the records of one kind that a person has."""

    def register(teller: Records) -> Records:
        RECORDS[name] = teller
        return teller

    return register


def columns(
    name: str, rows: Callable[[User], QuerySet | Manager], *same: str, **renamed: str
) -> None:
    """Register records that are columns of rows, of the names of their fields or renamed."""
    fields = renamed | dict(zip(same, same, strict=True))
    RECORDS[name] = lambda user: told(rows(user).order_by("pk"), **fields)


def told(rows: QuerySet, **columns: str) -> Iterator[dict[str, Any]]:
    """The rows as objects of these columns, each from a field; read a batch at a time."""
    for values in rows.values_list(*columns.values()).iterator(chunk_size=CHUNK):
        yield dict(zip(columns, values, strict=True))


def follows_runs(follower: RunFollower) -> RunFollower:
    """Register what has names of runs besides the run, and gives them up when the run does."""
    RUN_FOLLOWERS.append(follower)
    return follower
