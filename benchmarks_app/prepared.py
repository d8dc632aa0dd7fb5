"""Queries whose SQL is made once: writing a short one takes Django longer than it takes to answer.

    @prepared
    def _roles(benchmark: int, user: int) -> QuerySet:
        return Membership.objects.filter(benchmark=benchmark, user=user).values_list("role")

The function is called once, with placeholders; whoever calls it then gets the rows, as a list.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec

from django.db import connection
from django.db.models import Expression, QuerySet
from django.db.models.sql.compiler import SQLCompiler

Asked = ParamSpec("Asked")


class Placeholder(Expression):
    """Stands in a query for a number, a text or a moment that comes with each call."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:
        return "%s", (self,)


@dataclass(frozen=True)
class _Prepared:
    """A queryset and the compiler that wrote its SQL, in which placeholders are parameters."""

    queryset: QuerySet
    compiler: Any
    sql: str
    parameters: tuple[Any, ...]

    @classmethod
    def of(cls, queryset: QuerySet, same: QuerySet) -> "_Prepared":
        """What was made by one function twice, which must not depend on when."""
        compiler: Any = queryset.query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        if same.query.get_compiler(connection=connection).as_sql() != (sql, parameters):
            msg = f"another query each time: {sql}"
            raise ValueError(msg)
        converters = compiler.get_converters([column for column, *_ in compiler.select])
        compiler.get_converters = lambda expressions: converters
        return cls(queryset, compiler, sql, parameters)

    def rows(self, values: tuple[Any, ...]) -> list[Any]:
        bound = [
            _as_stored(values[it.place]) if isinstance(it, Placeholder) else it
            for it in self.parameters
        ]
        compiler = copy(self.compiler)
        # Connections are of their threads.
        compiler.connection = connection
        compiler.as_sql = lambda *_, **__: (self.sql, bound)
        rows: Any = self.queryset.all()
        rows.query.get_compiler = lambda *_, **__: compiler
        return list(rows)


def _as_stored(value: int | str | datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


def prepared(queryset_of: Callable[Asked, QuerySet]) -> Callable[Asked, list[Any]]:
    """Make a function of a queryset one of its rows, whose values are told by place.

    Not for rows that are locked: whether there is a transaction is asked when the SQL is made.
    """
    by_vendor: dict[str, _Prepared] = {}
    make: Any = queryset_of
    placeholders = tuple(map(Placeholder, range(len(signature(queryset_of).parameters))))

    @wraps(queryset_of)
    def rows(*values: Asked.args, **_: Asked.kwargs) -> list[Any]:
        if connection.vendor not in by_vendor:
            by_vendor[connection.vendor] = _Prepared.of(make(*placeholders), make(*placeholders))
        return by_vendor[connection.vendor].rows(values)

    return rows
