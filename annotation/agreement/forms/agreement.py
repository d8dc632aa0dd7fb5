"""Which judgments the agreement page is about."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils import timezone

from annotation.agreement.selectors.agreement import Filters
from annotation.models import Pool
from benchmarks_app.common.forms import row_field
from benchmarks_app.models import Benchmark


class AgreementFilterForm(forms.Form):
    pool = forms.ModelChoiceField(Pool.objects.none(), required=False, empty_label="All pools")
    since = forms.DateTimeField(
        required=False, label="From", widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateTimeField(
        required=False, label="To", widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row_field(self, "pool").queryset = (
            Pool.objects.built().filter(benchmark=benchmark).order_by("-pk")
        )

    @property
    def filters(self) -> Filters:
        """What was asked for; what cannot be understood counts as not asked."""
        cleaned = self.cleaned_data if self.is_bound and self.is_valid() else {}
        pool, until = cleaned.get("pool"), cleaned.get("until")
        if until is not None and timezone.localtime(until).time() == until.min.time():
            until += timedelta(days=1)  # a day means all of it
        return Filters(pool and pool.pk, cleaned.get("since"), until)
