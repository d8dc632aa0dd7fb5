"""Times as pages write them: `{% load latency %}`."""

from django import template

from benchwright.evaluation.latency import told_ms

register = template.Library()


@register.filter
def milliseconds(value: float | None) -> str:
    """Milliseconds with their unit; what was not measured is a dash."""
    return "\N{EN DASH}" if value is None else told_ms(value)
