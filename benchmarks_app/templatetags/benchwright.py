"""Template helpers; built in, so no template loads them."""

from typing import Any

from django import template
from django.http import HttpRequest

from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, may

register = template.Library()
DASH = "\N{EN DASH}"


@register.simple_tag(takes_context=True)
def allowed(context: dict[str, Any], action: str, benchmark: Benchmark | None = None) -> bool:
    """Whether the page's user may do `action`: `{% allowed "edit" as may_edit %}`."""
    request: HttpRequest = context["request"]
    return may(request.user, Action(action), benchmark or request.benchmark)


@register.filter
def score(value: float | None, digits: int = 4) -> str:
    """A measure's value as boards show it; what is not defined is a dash."""
    return DASH if value is None or value != value else f"{value:.{digits}f}"


@register.filter
def percent(value: float | None, digits: int = 0) -> str:
    return DASH if value is None or value != value else f"{100 * value:.{digits}f} %"


@register.filter
def at(mapping: dict[Any, Any], key: Any) -> Any:
    """`mapping|at:key`, for keys that are variables."""
    return mapping.get(key)


@register.simple_tag(takes_context=True)
def query_with(context: dict[str, Any], **changes: Any) -> str:
    """The page's own query string with some parameters changed (None takes one away)."""
    query = context["request"].GET.copy()
    for key, value in changes.items():
        query.pop(key, None) if value is None else query.__setitem__(key, value)
    return f"?{query.urlencode()}" if query else "?"
