"""Forms of the start page and of practice."""

from django import forms


class ReadForm(forms.Form):
    """`version` is that of the guideline on the page; empty where the benchmark has none."""

    has_read = forms.BooleanField()
    version = forms.IntegerField(required=False)


class PracticeForm(forms.Form):
    known = forms.IntegerField()
    grade = forms.IntegerField()
    client_id = forms.UUIDField()
