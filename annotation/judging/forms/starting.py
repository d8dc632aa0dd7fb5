"""Forms of the start page and of practice."""

from django import forms

from annotation.judging.protocol.exchange import MAX_DWELL_MS


class ReadForm(forms.Form):
    """`version` is that of the guideline on the page; empty where the benchmark has none."""

    has_read = forms.BooleanField()
    version = forms.IntegerField(required=False)


class PracticeForm(forms.Form):
    known = forms.IntegerField()
    grade = forms.IntegerField()
    client_id = forms.UUIDField()
    dwell_ms = forms.IntegerField(required=False, min_value=0, max_value=MAX_DWELL_MS)
