"""A judge: where it is, how it is asked, and with which key."""

from typing import Any, cast

from django import forms
from django.conf import settings

from benchmarks_app.common.forms import ChangeForm
from benchmarks_app.common.parameters import form_field
from benchmarks_app.judges.services.keys import check_variable, checked_address, refuse_moved_key
from benchmarks_app.models import JudgeEndpoint
from benchwright.errors import BenchmarkError
from benchwright.recipes import contextual


class JudgeForm(ChangeForm, forms.Form):
    """What `contextual_judges` makes or changes a judge of; the key is never shown again."""

    name = forms.CharField(label="Name", max_length=120, help_text="As your team calls it.")
    base_url = forms.CharField(
        label="Address",
        max_length=500,
        help_text="Where an OpenAI-compatible API begins, such as https://api.openai.com/v1.",
        widget=forms.URLInput(attrs={"placeholder": "https://…/v1"}),
    )
    model = forms.CharField(label="Model", max_length=200, help_text="As the endpoint names it.")
    key_variable = forms.ChoiceField(
        label="Key from the environment",
        required=False,
        help_text="Variables that whoever runs this site allows, each for one address.",
    )
    key = forms.CharField(
        label="Or a key to store",
        required=False,
        max_length=1000,
        help_text="Kept encrypted, used by workers only, and never shown again.",
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
    )
    is_key_forgotten = forms.BooleanField(label="Forget the stored key", required=False)
    price_in = form_field(contextual.PRICE_IN)
    price_out = form_field(contextual.PRICE_OUT)
    concurrency = form_field(contextual.CONCURRENCY, required=True)
    requests_per_minute = form_field(contextual.REQUESTS_PER_MINUTE)
    timeout_seconds = form_field(contextual.TIMEOUT_SECONDS, required=True)
    max_attempts = form_field(contextual.MAX_ATTEMPTS, required=True)

    def __init__(self, *args: Any, judge: JudgeEndpoint | None = None, **options: Any) -> None:
        if judge is not None:
            initial = {name: getattr(judge, name) for name in FACTS}
            options["initial"] = {**initial, **options.get("initial", {})}
        super().__init__(*args, **options)
        for field in self.fields.values():
            # Beside a password a browser would take the others for a user name.
            field.widget.attrs.setdefault("autocomplete", "off")
        self.judge = judge
        self.has_stored_key = bool(judge and judge.key_sealed)
        names = dict.fromkeys([*settings.JUDGE_KEYS, *self._kept()])
        cast(forms.ChoiceField, self.fields["key_variable"]).choices = [
            ("", "none"),
            *((name, name) for name in names),
        ]
        if not names:
            del self.fields["key_variable"]
        if self.has_stored_key:
            self.fields["key"].label = "Another key"
            self.fields["key"].help_text = "Empty: the stored key stays."
        else:
            del self.fields["is_key_forgotten"]

    def _kept(self) -> list[str]:
        """A variable that was allowed when the judge was made stays, to be changed knowingly."""
        return [self.judge.key_variable] if self.judge and self.judge.key_variable else []

    def clean_key(self) -> str:
        key: str = self.cleaned_data["key"].strip()
        if not all("!" <= character <= "~" for character in key):
            message = "A key has visible ASCII characters only. Copy it again."
            raise forms.ValidationError(message)
        return key

    def clean_base_url(self) -> str:
        address: str = self.cleaned_data["base_url"].rstrip("/")
        self._refused(lambda: checked_address(address))
        return address

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        variable, address = cleaned.get("key_variable", ""), cleaned.get("base_url", "")
        if (cleaned.get("price_in") is None) != (cleaned.get("price_out") is None):
            self.add_error("price_out", "Enter both prices, or neither.")
        if variable and cleaned.get("key"):
            self.add_error("key", "Choose one: a variable, or a key to store.")
        elif address and "key" not in self.errors:
            self._check_key(variable, address, cleaned)
        return cleaned

    def _check_key(self, variable: str, address: str, cleaned: dict[str, Any]) -> None:
        keeps = not (cleaned.get("key") or variable or cleaned.get("is_key_forgotten"))
        try:
            if variable:
                check_variable(variable, address)
            elif self.judge is not None and keeps:
                refuse_moved_key(self.judge, address)
        except BenchmarkError as error:
            self.add_error("key_variable" if variable else "key", str(error))

    def _refused(self, check: Any) -> None:
        try:
            check()
        except BenchmarkError as error:
            raise forms.ValidationError(str(error)) from error

    @property
    def facts(self) -> dict[str, Any]:
        """What the services take."""
        facts = dict(self.cleaned_data)
        facts.setdefault("key_variable", "")
        if self.judge is None:
            facts.pop("is_key_forgotten", None)
        return facts


FACTS = (
    "name",
    "base_url",
    "model",
    "key_variable",
    "price_in",
    "price_out",
    "concurrency",
    "requests_per_minute",
    "timeout_seconds",
    "max_attempts",
)
