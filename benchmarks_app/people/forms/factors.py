"""Forms of second factors; what changes them asks for the password again."""

import time
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks_app.errors import NoPasswordError, PeopleError
from benchmarks_app.language import told
from benchmarks_app.models import User
from benchmarks_app.people.services.factors import CREDENTIAL_LENGTH, read_credential, totp_step
from benchmarks_app.people.services.guesses import check_password_again, knows_password
from benchmarks_app.requests import PersonRequest
from benchmarks_app.sessions import PROVIDER

CODE_LENGTH = 40
# How long a sign-in through a provider stands in for the password again.
FRESH_SECONDS = 600
CODE_WIDGET = {"autocomplete": "one-time-code", "spellcheck": "false", "autocapitalize": "off"}


class CodeInput(forms.TextInput):
    """Empty after a wrong code: it will not be right the next time."""

    def format_value(self, value: Any) -> None:
        return None


def right_password(user: User, password: str) -> str:
    """The password, if it is the person's."""
    try:
        check_password_again(user=user, password=password)
    except PeopleError as error:
        raise forms.ValidationError(told(error)) from error
    return password


class PasswordAgainForm(forms.Form):
    """That the person is still who they were; a stolen session is not enough.

    Who signs in through a provider has no password to ask for: they have to have done it just now.
    """

    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    field_order = ("name", "code", "password")

    def __init__(self, *args: Any, request: PersonRequest, **kwargs: Any) -> None:
        self.user = request.user
        signed_in = request.session.get(PROVIDER, {}).get("at", 0)
        self.is_fresh = time.time() - signed_in <= FRESH_SECONDS
        super().__init__(*args, **kwargs)
        if not knows_password(self.user):
            del self.fields["password"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "password" not in self.fields and not self.is_fresh:
            raise forms.ValidationError(told(NoPasswordError()))
        return cleaned

    def clean_password(self) -> str:
        return right_password(self.user, self.cleaned_data["password"])


class TotpForm(PasswordAgainForm):
    """The first code of an app proves that it has the key."""

    code = forms.CharField(
        label=_("Code of the app"),
        max_length=CODE_LENGTH,
        widget=CodeInput(attrs={**CODE_WIDGET, "inputmode": "numeric"}),
    )

    def __init__(self, *args: Any, secret: str, **kwargs: Any) -> None:
        self.secret = secret
        super().__init__(*args, **kwargs)

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        step = totp_step(self.secret, code)
        if step is None:
            message = _("This is not the code of now. Is the clock of the device right?")
            raise forms.ValidationError(message)
        self.step = step
        return code


class CredentialMixin(forms.Form):
    """What the browser says of a key, put into the form by `factors.js`."""

    credential = forms.CharField(
        required=False, max_length=CREDENTIAL_LENGTH, widget=forms.HiddenInput
    )

    def clean_credential(self) -> dict[str, Any] | None:
        return read_credential(self.cleaned_data["credential"])


class SecurityKeyForm(CredentialMixin, PasswordAgainForm):
    name = forms.CharField(
        label=_("Name of the key"),
        max_length=60,
        help_text=_("To know it by, such as “blue key” or “phone”."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and cleaned["credential"] is None:
            message = _("No key has answered. This needs a browser with JavaScript, and the key.")
            raise forms.ValidationError(message)
        return cleaned


class SecondFactorForm(CredentialMixin):
    """A code, or a key's answer."""

    code = forms.CharField(
        required=False,
        max_length=CODE_LENGTH,
        label=_("Code"),
        widget=CodeInput(attrs={**CODE_WIDGET, "inputmode": "numeric", "autofocus": True}),
    )
