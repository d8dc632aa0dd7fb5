"""Fields of forms, made from what the library declares of a parameter.

What it declares is English; a page says it in its own language where a catalogue has the words.
"""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from benchwright.recipes.parameters import Choice, Day, Parameter, Real, Whole


class DayField(forms.DateField):
    """A day; cleaned it is the moment at which it begins, in UTC."""

    widget = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})

    def clean(self, value: Any) -> Any:
        day = super().clean(value)
        return day and Day(name="day").read(day)


def form_field(parameter: Parameter, **changes: Any) -> forms.Field:
    """The field of a parameter; it refuses with the parameter's own words."""
    words = {
        "label": _(parameter.label) if parameter.label else None,
        "help_text": _(parameter.help) if parameter.help else "",
        "initial": parameter.default,
        "required": False,
        "error_messages": _refusing(_(parameter.advice)),
    }
    match parameter:
        case Whole(least=least, most=most):
            return forms.IntegerField(**{"min_value": least, "max_value": most, **words, **changes})
        case Real(least=low, most=high):
            ends = {
                "min_value": low,
                "max_value": high,
                "validators": [_inside(parameter, _(parameter.advice))],
            }
            return forms.FloatField(**{**ends, **words, **changes})
        case Choice(choices=choices):
            translated = [(key, _(text) if text else "") for key, text in choices.items()]
            return forms.ChoiceField(**{"choices": translated, **words, **changes})
        case Day():
            return DayField(**{**words, **changes})
    raise TypeError(parameter)


def percent_field(parameter: Real, **changes: Any) -> forms.DecimalField:
    """The field of a share that a page asks for in per cent; cleaned it is still per cent."""
    least, most = 100 * parameter.least, 100 * parameter.most
    advice = percent_advice(parameter)
    settings: dict[str, Any] = {
        "label": f"{parameter.label}, %" if parameter.label else None,
        "help_text": parameter.help,
        "initial": None if parameter.default is None else round(100 * parameter.default, 2),
        "required": False,
        "min_value": Decimal(f"{least:g}"),
        "max_value": Decimal(f"{most:g}"),
        "decimal_places": 2,
        "validators": [_inside(parameter, advice, 100)],
        "error_messages": _refusing(advice),
    }
    return forms.DecimalField(**{**settings, **changes})


def _inside(parameter: Real, advice: Any, whole: int = 1) -> Any:
    """A validator of what limits do not see: ends that are not taken, and what is no number."""

    def validate(value: float | Decimal) -> None:
        if parameter.is_missed(float(value) / whole):
            raise ValidationError(advice)

    return validate


def percent_advice(parameter: Real) -> str:
    ends = replace(parameter, least=100 * parameter.least, most=100 * parameter.most)
    return f"Expected {ends.expected}, in per cent."


def _refusing(advice: Any) -> dict[str, Any]:
    codes = ("invalid", "min_value", "max_value", "invalid_choice", "max_decimal_places")
    return dict.fromkeys(codes, advice)
