"""Forms of webhooks, and of the mails that a person wants."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks_app.common.forms import ChangeForm
from benchmarks_app.models.notices import Event
from benchmarks_app.notices.errors import WebhookAddressError
from benchmarks_app.notices.services.webhooks import checked_url


class WebhookForm(forms.Form):
    """Where a webhook is and what it is told."""

    url = forms.CharField(
        label="Address",
        max_length=500,
        help_text="What is told is sent there as a POST, signed.",
        widget=forms.URLInput(attrs={"placeholder": "https://…"}),
    )
    events = forms.MultipleChoiceField(
        label="Told when",
        choices=[(event.value, event.label) for event in Event],
        widget=forms.CheckboxSelectMultiple,
    )

    def clean_url(self) -> str:
        try:
            return checked_url(self.cleaned_data["url"])
        except WebhookAddressError as error:
            raise forms.ValidationError(str(error)) from error


class WebhookChangeForm(ChangeForm, WebhookForm):
    is_on = forms.BooleanField(
        label="On", required=False, help_text="Off, nothing is sent, and nothing waits."
    )


class MailChoicesForm(forms.Form):
    """Which mails a person wants; none unless they say so."""

    events = forms.MultipleChoiceField(
        label=_("Mail me when"),
        choices=Event.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        # Beside another form of the page, whose fields have ids as well.
        super().__init__(*args, **{"auto_id": "mail_%s", **options})
