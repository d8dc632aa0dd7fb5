"""What an address asks of a board."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks_app.models import Run
from scoring.scores.selectors.filters import SORTS, BoardFilter, FilterChoices

ANY = ("", _("Any"))
YES_NO = {"yes": True, "no": False}
REVERSED = "reversed"


class BoardFilterForm(forms.Form):
    """Filters and order; what is no choice leaves nothing out, and is told."""

    q = forms.CharField(label=_("Search"), required=False, max_length=200)
    type = forms.CharField(label=_("Type of system"), required=False, max_length=200)
    by = forms.CharField(label=_("Team or person"), required=False, max_length=200)
    kind = forms.ChoiceField(
        label=_("Kind"),
        required=False,
        choices=[ANY, *((kind, _(str(name))) for kind, name in Run.Kind.choices)],
    )
    pooled = forms.ChoiceField(
        label=_("In the pool"),
        required=False,
        choices=[ANY, ("yes", _("Contributed to it")), ("no", _("Did not"))],
    )
    trained = forms.ChoiceField(
        label=_("Trained on this data"),
        required=False,
        choices=[ANY, ("no", _("Does not say so")), ("yes", _("Says so"))],
    )
    since = forms.DateField(
        label=_("Since"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label=_("Until"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    best = forms.BooleanField(label=_("Only the best of each team"), required=False)
    sort = forms.ChoiceField(
        required=False, choices=[(name, name) for name in SORTS], widget=forms.HiddenInput
    )
    order = forms.ChoiceField(
        required=False, choices=[(REVERSED, REVERSED)], widget=forms.HiddenInput
    )

    def offer(self, choices: FilterChoices) -> None:
        """Let types and people be chosen from those there are, and from what is asked for."""
        for name, there in (("type", choices.types), ("by", choices.by)):
            sent = self.data.get(name, "")
            values = [*there, sent] if sent and sent not in there else there
            widget = forms.Select(choices=[ANY, *((value, value) for value in values)])
            self.fields[name].widget = widget

    def filter(self) -> BoardFilter:
        """What was asked for, without what is wrong of it."""
        self.is_valid()
        cleaned: dict[str, Any] = self.cleaned_data
        return BoardFilter(
            q=cleaned.get("q", ""),
            type=cleaned.get("type", ""),
            by=cleaned.get("by", ""),
            kind=cleaned.get("kind", ""),
            pooled=YES_NO.get(cleaned.get("pooled", "")),
            trained=YES_NO.get(cleaned.get("trained", "")),
            since=cleaned.get("since"),
            until=cleaned.get("until"),
            best=cleaned.get("best", False),
            sort=cleaned.get("sort") or "rank",
            is_reversed=cleaned.get("order") == REVERSED,
        )
