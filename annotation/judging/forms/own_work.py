"""Forms of one's own work."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.judging.forms.judging import CANT_JUDGE_REASONS
from annotation.judging.selectors.own_work import CANT_JUDGE
from annotation.models import Pool
from benchmarks_app.common.forms import row_field

GRADES = [("", _("Any")), *((str(n), str(n)) for n in range(10)), (CANT_JUDGE, _("Can't judge"))]


class PoolField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Pool) -> str:
        return f"{obj.benchmark}: {obj}"


class OwnJudgmentFilterForm(forms.Form):
    q = forms.CharField(required=False, max_length=200, label=_("Query, document or note"))
    grade = forms.ChoiceField(required=False, choices=GRADES)
    pool = PoolField(Pool.objects.none(), required=False, empty_label=_("Any"))

    def __init__(self, *args: Any, pools: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row_field(self, "pool").queryset = pools

    @property
    def asked(self) -> dict[str, Any]:
        """What to look for; what is no valid filter is left out."""
        cleaned = self.cleaned_data if self.is_valid() else {}
        pool = cleaned.get("pool")
        return {
            "words": cleaned.get("q", ""),
            "grade": cleaned.get("grade", ""),
            "pool": pool.pk if pool else None,
        }


class ChangeForm(forms.Form):
    """Another grade, or why the document cannot be judged after all."""

    grade = forms.IntegerField(required=False)
    reason = forms.ChoiceField(
        required=False, choices=[(reason, reason) for reason in CANT_JUDGE_REASONS]
    )
    note = forms.CharField(required=False, max_length=10_000)
    client_id = forms.UUIDField()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if (cleaned.get("grade") is None) == (not cleaned.get("reason")):
            why = _("Choose a grade, or why the document cannot be judged.")
            raise forms.ValidationError(why)
        return cleaned
