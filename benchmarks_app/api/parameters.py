"""Fields of the API, made from what the library declares of a parameter."""

import math
from typing import Any

from rest_framework import serializers

from benchwright.recipes.parameters import Choice, Day, Parameter, Real, Whole


class DayField(serializers.DateField):
    """A day; validated it is the moment at which it begins, in UTC."""

    def to_internal_value(self, value: Any) -> Any:
        return Day(name="day").read(super().to_internal_value(value))


def api_field(parameter: Parameter, **changes: Any) -> serializers.Field:
    """The field of a parameter; it refuses with the parameter's own words.

    It may be left out, and is null then where the parameter has no default.
    """
    optional = {"allow_null": True, "default": None}
    settings = {
        **(optional if parameter.default is None else {"default": parameter.default}),
        "error_messages": _refusing(parameter.advice),
        **changes,
    }
    if settings.get("required") in (True, False):
        settings = {key: value for key, value in settings.items() if key not in optional} | changes
    match parameter:
        case Whole(least=least, most=most):
            return serializers.IntegerField(**{"min_value": least, "max_value": most, **settings})
        case Real(least=low, most=high):
            ends = {
                "min_value": low,
                "max_value": high,
                "validators": [inside(parameter)],
            }
            return serializers.FloatField(**{**ends, **settings})
        case Choice(choices=choices):
            return serializers.ChoiceField(**{"choices": list(choices), **settings})
        case Day():
            return DayField(**settings)
    raise TypeError(parameter)


def inside(parameter: Real) -> Any:
    """A validator of what limits do not see: ends that are not taken, and what is no number."""

    def validate(value: float) -> None:
        if math.isnan(value) or value in parameter.open_ends:
            raise serializers.ValidationError(parameter.advice)

    return validate


def _refusing(advice: str) -> dict[str, str]:
    return dict.fromkeys(("invalid", "min_value", "max_value", "invalid_choice"), advice)
