"""Forms of a pool's people: who judges it, by when, how wordings of one need are shared out."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.common.selectors.holding import judges_of
from annotation.models import Pool
from benchmarks_app.common.forms import ChangeForm, row_field
from benchmarks_app.common.parameters import form_field
from benchmarks_app.models import User
from benchwright.recipes import pools as recipes


class PoolPeopleForm(ChangeForm, forms.Form):
    annotators = forms.ModelMultipleChoiceField(
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Who may judge this pool",
        help_text="Nobody chosen: everybody who judges in this benchmark.",
    )
    assignment = forms.ChoiceField(
        choices=Pool.Assignment.choices,
        widget=forms.RadioSelect,
        label="Wordings of one need",
    )
    due_on = form_field(recipes.DUE)
    may_search = forms.BooleanField(
        required=False,
        label="Annotators may search and judge",
        help_text="Beside each query of the pool they search the corpus by words and grade what "
        "they find, without seeing runs or what others said. Such grades stand in the ledger, and "
        "the pool does not grow by them: that would tell what is in it.",
    )
    shows_machine = forms.BooleanField(
        required=False,
        label="Annotators see what a machine said, once the pool is closed",
        help_text="Beside their own labels, among their judgments: nobody sees it before all is "
        "said. A pool that has shown it stays closed, for a label that came after it would not be "
        "its person's alone.",
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, pool: Pool, **kwargs: Any) -> None:
        chosen = {
            "annotators": pool.annotators.all(),
            "assignment": pool.assignment,
            "due_on": pool.due_on,
            "may_search": pool.may_search,
            "shows_machine": pool.shows_machine,
        }
        super().__init__(data, initial=chosen, **kwargs)
        row_field(self, "annotators").queryset = judges_of(pool)


class ReleaseForm(forms.Form):
    """Whose documents go back to the others."""

    annotator = forms.ModelChoiceField(User.objects.all())


class PoolStateForm(forms.Form):
    state = forms.ChoiceField(
        choices=[(state, state.label) for state in Pool.State if state != Pool.State.BUILDING]
    )
