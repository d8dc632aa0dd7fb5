"""Fields of several features: names, and a thousand runs written without a template for each."""

import pytest
from django import forms
from django.core.exceptions import ValidationError
from rest_framework import serializers

from benchmarks_app.api.serializers import Name
from benchmarks_app.common.forms import NameField, SelectMultipleOfMany, SelectOfMany, offer_runs
from benchmarks_app.models import Run
from tests import factories


class Plain(forms.Form):
    """By Django's own widgets."""

    needed = forms.ModelChoiceField(Run.objects.none(), empty_label=None, help_text="One.")
    empty = forms.ModelChoiceField(Run.objects.none())
    spare = forms.ModelChoiceField(Run.objects.none(), required=False, empty_label="none & <all>")
    some = forms.ModelMultipleChoiceField(Run.objects.none(), required=False)

    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, **more)
        for field in self.fields.values():
            field.queryset = Run.objects.order_by("name")


class Quick(Plain):
    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, **more)
        for name, field in self.fields.items():
            widget = SelectMultipleOfMany() if name == "some" else SelectOfMany()
            widget.is_required, field.widget = field.required, widget
        offer_runs(self, self.fields, Run.objects.order_by("name"))


@pytest.mark.parametrize("chosen", ["nothing", "initial", "a run", "what is no run"])
def test_a_chooser_is_byte_by_byte_as_djangos(benchmark, chosen):
    for name in ("b", "a<b> \"&\" 'c'", "ü"):
        benchmark.runs.create(
            name=name, owner=factories.user("olga"), n_rows=1, n_queries=1, depth=1
        )
    keys = list(Run.objects.values_list("pk", flat=True))
    first, second = Run.objects.all()[:2]
    asked = {
        "nothing": {},
        "initial": {"initial": {"needed": first, "spare": second.pk, "some": [first, second]}},
        "a run": {"data": {"needed": keys[1], "empty": keys[0], "some": keys[:2]}},
        "what is no run": {"data": {"needed": 999, "spare": "<x>", "some": ["y"]}},
    }[chosen]

    assert str(Quick(**asked)) == str(Plain(**asked))
    assert Quick(**asked).is_valid() == Plain(**asked).is_valid() == (chosen == "a run")


def test_runs_are_read_once_for_all_fields(benchmark, django_assert_num_queries):
    with django_assert_num_queries(1):
        str(Quick())


@pytest.mark.parametrize("clean", [NameField().clean, Name().run_validation])
def test_name_is_one_line_of_printable_characters(clean):
    assert clean(" Owls\t of  Bonn ") == "Owls of Bonn"
    with pytest.raises((ValidationError, serializers.ValidationError), match="control character"):
        clean("Owls\x1b")
