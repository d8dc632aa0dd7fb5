"""Numbers of comparisons as pages write them: `{% load comparisons %}`."""

from collections.abc import Mapping

from django import template

register = template.Library()
DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
SMALLEST_P = 0.0001


@register.filter
def signed(value: float | None, digits: int = 4) -> str:
    """A difference with its sign; what is not defined is a dash."""
    if value is None or value != value:
        return DASH
    return f"{value:+.{digits}f}".replace("-", MINUS)


@register.filter
def signed_percent(value: float | None, digits: int = 1) -> str:
    """A relative change with its sign."""
    if value is None or value != value:
        return DASH
    return f"{100 * value:+.{digits}f} %".replace("-", MINUS)


@register.filter
def p_value(value: float | None) -> str:
    """A p-value, never rounded to 0."""
    if value is None or value != value:
        return DASH
    return f"<{SMALLEST_P:.4f}" if 0 < value < SMALLEST_P else f"{value:.4f}"


@register.filter
def unsigned(value: int) -> int:
    """How far, whichever way."""
    return abs(value)


@register.filter
def elsewhere(ranks: Mapping[str, int | None], run: int) -> int | None:
    """The rank in the list of a run, by its key."""
    return ranks.get(str(run))
