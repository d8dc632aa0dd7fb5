"""Lists a page at a time: by numbers of pages, or by a cursor where `limit` is given."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import Model, QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.pagination import BasePagination, Cursor, CursorPagination, PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response

SIZE, MOST = 50, 200
MOST_ROWS = 10**9
CURSOR_PARAMETERS: list[dict[str, Any]] = [
    {
        "name": "limit",
        "in": "query",
        "required": False,
        "description": f"So many at a time, at most {MOST}; `next` then leads on by a cursor.",
        "schema": {"type": "integer", "minimum": 1, "maximum": MOST},
    },
    {
        "name": "cursor",
        "in": "query",
        "required": False,
        "description": "Where the page before ended; `next` has it.",
        "schema": {"type": "string"},
    },
]


class KeyPages(CursorPagination):
    """By the place of the last row in the list's own order: what is added before moves nothing."""

    page_size, max_page_size = SIZE, MOST
    page_size_query_param = "limit"
    # Rows of one place are counted on however many there are; cut off, they would come for ever.
    offset_cutoff = None
    invalid_cursor_message = "This cursor is none of this list. Begin without one."

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> Any:
        return tuple(queryset.query.order_by or queryset.model._meta.ordering)

    def decode_cursor(self, request: Request) -> Any:
        cursor = super().decode_cursor(request)
        # Somebody wrote it: PostgreSQL knows no text with a NUL.
        if cursor is not None and (cursor.offset > MOST_ROWS or "\0" in (cursor.position or "")):
            raise NotFound(self.invalid_cursor_message)
        return cursor

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        try:
            return super().paginate_queryset(queryset, request, view)
        except (OverflowError, ValidationError, ValueError) as error:  # somebody wrote it
            raise NotFound(self.invalid_cursor_message) from error


class RowPages(KeyPages):
    """By how many rows came before, in lists that are computed or sorted by what rows lack."""

    def paginate_queryset(self, rows: Any, request: Request, view: Any = None) -> Any:
        self.base_url = request.build_absolute_uri()
        self.page_size = self.get_page_size(request)
        cursor = self.decode_cursor(request)
        self.start = cursor.offset if cursor else 0
        page = list(rows[self.start : self.start + self.page_size + 1])
        self.has_next = len(page) > self.page_size
        return page[: self.page_size]

    def get_next_link(self) -> str | None:
        return self._link(self.start + self.page_size) if self.has_next else None

    def get_previous_link(self) -> str | None:
        return self._link(max(self.start - self.page_size, 0)) if self.start else None

    def _link(self, start: int) -> str:
        return str(self.encode_cursor(Cursor(offset=start, reverse=False, position=None)))


class Pages(PageNumberPagination):
    """Both ways in one shape: `count`, `next`, `previous`, `results`, and `Link` headers."""

    page_size, max_page_size = SIZE, MOST
    page_size_query_param = "page_size"

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        self.way: BasePagination | None = None
        if not is_by_cursor(request):
            return super().paginate_queryset(queryset, request, view)
        self.way = KeyPages() if _has_places(queryset) else RowPages()
        self.n = queryset.count() if isinstance(queryset, QuerySet) else len(queryset)
        return self.way.paginate_queryset(queryset, request, view)

    def get_paginated_response(self, data: Any) -> Response:
        way: Any = self.way or super()
        n = self.n if self.way else self.page.paginator.count
        following, earlier = way.get_next_link(), way.get_previous_link()
        answer = {"count": n, "next": following, "previous": earlier, "results": data}
        return Response(answer, headers=link_header(following, earlier))

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        return [*super().get_schema_operation_parameters(view), *CURSOR_PARAMETERS]


def is_by_cursor(request: Request) -> bool:
    return not {"limit", "cursor"}.isdisjoint(request.query_params)


def link_header(following: str | None, earlier: str | None = None) -> dict[str, str]:
    """The pages around as a header (RFC 8288); nothing where there are none.

    Examples
    --------
    >>> link_header("http://a/?cursor=x")
    {'Link': '<http://a/?cursor=x>; rel="next"'}
    """
    links = {"next": following, "prev": earlier}
    link_values = [f'<{url}>; rel="{name}"' for name, url in links.items() if url]
    return {"Link": ", ".join(link_values)} if link_values else {}


def _has_places(rows: QuerySet | Sequence[Any]) -> bool:
    """Whether the rows are in the order of columns of their own that are never empty."""
    if not isinstance(rows, QuerySet) or not issubclass(rows.model, Model):
        return False
    names = rows.query.order_by or rows.model._meta.ordering or ()
    return bool(names) and all(_is_column(rows.model, name) for name in names)


def _is_column(model: type[Model], name: Any) -> bool:
    if not isinstance(name, str):
        return False
    name = name.removeprefix("-")
    try:
        field = model._meta.pk if name == "pk" else model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    return bool(field and field.concrete and not field.is_relation and not field.null)
