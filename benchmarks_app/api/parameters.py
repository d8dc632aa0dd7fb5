"""Fields of the API, made from what the library declares of a parameter."""

from typing import Any

from rest_framework import serializers

from benchwright.recipes.parameters import Choice, Day, Parameter, Real, Whole


class DayField(serializers.DateField):
    """A day; validated it is the moment at which it begins, in UTC."""

    def to_internal_value(self, value: Any) -> Any:
        return Day(name="day").read(super().to_internal_value(value))


def api_field(parameter: Parameter, **changes: Any) -> serializers.Field:
    """The field of a parameter; it refuses with the parameter's own words.

    It may be left out, and is null then where the parameter has no default; with `required` said,
    one that is left out is none.
    """
    usual: dict[str, Any] = {} if "required" in changes else {"default": parameter.default}
    if usual and parameter.default is None:
        usual["allow_null"] = True
    settings = {**usual, "error_messages": _refusing(parameter.advice), **changes}
    match parameter:
        case Whole(least=least, most=most):
            return serializers.IntegerField(**{"min_value": least, "max_value": most, **settings})
        case Real(least=low, most=high):
            ends = {
                "min_value": low,
                "max_value": high,
                "validators": [_inside(parameter)],
            }
            return serializers.FloatField(**{**ends, **settings})
        case Choice(choices=choices):
            return serializers.ChoiceField(**{"choices": list(choices), **settings})
        case Day():
            return DayField(**settings)
    raise TypeError(parameter)


def _inside(parameter: Real) -> Any:
    """A validator of what limits do not see: ends that are not taken, and what is no number."""

    def validate(value: float) -> None:
        if parameter.is_missed(value):
            raise serializers.ValidationError(parameter.advice)

    return validate


def _refusing(advice: str) -> dict[str, str]:
    return dict.fromkeys(("invalid", "min_value", "max_value", "invalid_choice"), advice)
