"""What the site knows of a person: each app registers its texts and its records of people here."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.db.models import Model

from benchmarks_app.models import User

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


def follows_runs(follower: RunFollower) -> RunFollower:
    """Register what has names of runs besides the run, and gives them up when the run does."""
    RUN_FOLLOWERS.append(follower)
    return follower
