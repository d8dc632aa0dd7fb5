"""What the tests of the databases' rules share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.db.models import CheckConstraint


@dataclass(frozen=True)
class Case:
    """`good` can be written; `bad`, after it, cannot. Both take the scene."""

    good: Callable[[Any], Any]
    bad: Callable[[Any], Any]


def constraints_of(app: str) -> dict[str, Any]:
    """Every named constraint of the app's models."""
    models = apps.get_app_config(app).get_models(include_auto_created=True)
    results = [constraint for model in models for constraint in model._meta.constraints]
    return {constraint.name: constraint for constraint in results}


def check(app: str, name: str, cases: dict[str, Case], scene: Any) -> None:
    """The good rows of a constraint's case are taken, the bad ones refused by this constraint."""
    constraint = constraints_of(app)[name]
    case = cases[name]
    case.good(scene)
    with refused(*_words(constraint)):
        case.bad(scene)


def _words(constraint: Any) -> tuple[str, ...]:
    """What the database says; SQLite names the columns of a unique constraint instead of it."""
    if connection.vendor == "sqlite" and not isinstance(constraint, CheckConstraint):
        return ("UNIQUE", *(f".{field}" for field in constraint.fields))
    return (constraint.name,)


@contextmanager
def refused(*words: str) -> Iterator[None]:
    """The database refuses what is done inside, saying all these words; nothing stays of it."""
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        yield
    assert [word for word in words if word not in str(caught.value)] == []
