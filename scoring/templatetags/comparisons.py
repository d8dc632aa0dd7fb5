"""Numbers of comparisons as pages write them: `{% load comparisons %}`."""

from collections.abc import Mapping

from django import template
from django.utils.safestring import SafeString, mark_safe

from benchwright.texts.counting import number_beside, signed_beside

register = template.Library()
DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
SMALLEST_P, LEVEL = 0.0001, 0.05


@register.filter
def signed(value: float | None, digits: int = 4) -> str:
    """A difference with its sign, 0 only where there is none; what is not defined is a dash."""
    if value is None or value != value:
        return DASH
    return signed_beside(value, decimals=digits).replace("-", MINUS)


@register.filter
def signed_percent(value: float | None, digits: int = 1) -> str:
    """A relative change with its sign."""
    if value is None or value != value:
        return DASH
    return f"{100 * value:+.{digits}f} %".replace("-", MINUS)


@register.filter
def p_value(value: float | None) -> str:
    """A p-value, rounded neither to 0 nor to the level that verdicts go by."""
    if value is None or value != value:
        return DASH
    return f"<{SMALLEST_P:.4f}" if 0 < value < SMALLEST_P else number_beside(value, LEVEL)


@register.filter
def unsigned(value: int) -> int:
    """How far, whichever way."""
    return abs(value)


@register.filter
def elsewhere(ranks: Mapping[str, int | None], run: int) -> int | None:
    """The rank in the list of a run, by its key."""
    return ranks.get(str(run))


@register.simple_tag
def score_bar(share: float | None, interval: tuple[float, float] | None) -> SafeString:
    """A mean from 0 to 1 as a bar, its 95 % interval a line over it: decoration beside numbers."""
    width, *ends = (round(1000 * (value or 0)) for value in (share, *(interval or ())))
    line = (
        '<path class="bar-interval" d="M{} 5H{}" vector-effect="non-scaling-stroke"/>'.format(*ends)
        if ends
        else ""
    )
    return mark_safe(
        '<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="bar-track" width="1000" height="10"/>'
        f'<rect class="bar-fill" width="{width}" height="10"/>{line}</svg>'
    )
