"""Lists a page at a time."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest


def page_of(request: HttpRequest, rows: Any, size: int = 50) -> Page:
    """The page that `?page=` names; what is no page number shows the nearest there is."""
    return Paginator(rows, size).get_page(request.GET.get("page"))
