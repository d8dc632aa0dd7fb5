"""Forms of accounts and members: they validate, and leave writing to the services."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import PasswordChangeForm, PasswordResetForm, UserCreationForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from benchmarks_app.common.forms import NameField, has_rows, row_field
from benchmarks_app.limits import is_among_first
from benchmarks_app.models import ApiToken, Invitation, Role, Scope, Team, User
from benchmarks_app.people.forms.factors import right_password
from benchmarks_app.people.services.api_tokens import MOST_DAYS
from benchmarks_app.people.services.guesses import knows_password
from benchmarks_app.people.services.people import MOST_INVITATION_DAYS

ROLE_HELP = {
    Role.OWNER: gettext_noop("everything, also people"),
    Role.MAINTAINER: gettext_noop("imports, pools, qrels, releases, settings"),
    Role.ADJUDICATOR: gettext_noop("judges, and settles disagreements"),
    Role.ANNOTATOR: gettext_noop("judges documents"),
    Role.SUBMITTER: gettext_noop("submits runs"),
    Role.VIEWER: gettext_noop("looks at queries, releases and the leaderboard"),
}
ROLE_CHOICES = [(role, f"{role.label}: {does}") for role, does in ROLE_HELP.items()]
PASSWORD_HELP = _("At least 10 characters, not a common word, not like your name.")


class AccountForm(UserCreationForm):
    """A new account, for somebody who holds an invitation."""

    email = forms.EmailField(
        label=_("Email"), help_text=_("For resetting your password; no newsletter.")
    )

    class Meta(UserCreationForm.Meta):
        model = User
        fields = ("username", "email")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].help_text = _("Letters, digits and @ . + - _")
        self.fields["password1"].help_text = PASSWORD_HELP
        self.fields["password1"].label = _("Password")
        self.fields["password2"].label = _("Password again")
        self.fields["password2"].help_text = ""
        self.fields["username"].widget.attrs.pop("autofocus", None)
        self.fields["email"].widget.attrs["autocomplete"] = "email"

    def clean_email(self) -> str:
        return unused_email(self.cleaned_data["email"])


class ResetForm(PasswordResetForm):
    def get_users(self, email: str) -> Iterator[User]:
        """Whoever has the address, but for those who were sent enough: earlier links still work."""
        for user in super().get_users(email):
            if is_among_first(settings.PASSWORD_RESETS_PER_HOUR, of=f"resets-of-user-{user.pk}"):
                yield user


class ProfileForm(forms.ModelForm):
    """Name and address; a new address needs the password, since it can reset the password."""

    current_password = forms.CharField(
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        label=_("Current password"),
        help_text=_("Only needed to change the email address."),
    )

    language = forms.ChoiceField(
        required=False,
        choices=[("", _("As my browser says")), *settings.LANGUAGES],
        label=_("Language"),
        help_text=_("Of the pages for annotators and submitters; others are in English."),
    )

    class Meta:
        model = User
        fields = ("first_name", "last_name", "email", "language")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, purpose in [
            ("first_name", "given-name"),
            ("last_name", "family-name"),
            ("email", "email"),
        ]:
            self.fields[name].widget.attrs["autocomplete"] = purpose
        self.fields["email"].label = _("Email")
        # Without an address a forgotten password could not be reset.
        self.fields["email"].required = True
        if self.instance.pk and not knows_password(self.instance):
            self.fields["email"].disabled = True
            del self.fields["current_password"]

    def clean_email(self) -> str:
        return unused_email(self.cleaned_data["email"], but_of=self.instance)

    def clean_current_password(self) -> str:
        password: str = self.cleaned_data["current_password"]
        if "email" not in self.changed_data:
            return password
        if not password:
            message = _("Enter your current password to change the address.")
            raise forms.ValidationError(message)
        return right_password(self.instance, password)

    def profile(self) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in self.Meta.fields}


def unused_email(email: str, *, but_of: User | None = None) -> str:
    """The address, if no account has it, however its letters are written."""
    email = User.objects.normalize_email(email)
    others = User.objects.exclude(pk=but_of.pk) if but_of and but_of.pk else User.objects.all()
    if email and others.filter(email__iexact=email).exists():
        message = _("This address cannot be used. If it is yours, sign in or reset your password.")
        raise forms.ValidationError(message)
    return email


SCOPE_CHOICES = [
    (Scope.READ, _("Read: whatever you may see")),
    (Scope.SUBMIT, _("Submit: runs, embeddings, gates, reported values")),
    (Scope.JUDGE, _("Judge: enter grades")),
    (Scope.MANAGE, _("Manage: everything else that changes something")),
]


class PasswordForm(PasswordChangeForm):
    """A new password, and which API tokens outlive the old one."""

    tokens = forms.ModelMultipleChoiceField(
        ApiToken.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Keep these API tokens"),
        help_text=_("All others end. Keep none if somebody else may know your password."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row_field(self, "tokens").queryset = self.user.api_tokens.valid().order_by("-pk")
        if not has_rows(self, "tokens"):
            del self.fields["tokens"]

    def clean_old_password(self) -> str:
        return right_password(self.user, self.cleaned_data["old_password"])

    def save(self, commit: bool = True) -> User:
        self.user.tokens_kept = self.cleaned_data.get("tokens", ())
        return super().save(commit)


class ApiTokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=120, help_text=_("What it is for, such as “export at night”.")
    )
    days = forms.IntegerField(
        label=_("Days until it expires"), min_value=1, max_value=MOST_DAYS, initial=90
    )
    scopes = forms.MultipleChoiceField(
        choices=SCOPE_CHOICES,
        initial=[Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        label=_("What it is good for"),
        help_text=_(
            "Within what your roles allow. What sends something and waits for it reads, too."
        ),
    )


class InvitationForm(forms.Form):
    role = forms.ChoiceField(choices=ROLE_CHOICES, initial=Role.ANNOTATOR)
    note = forms.CharField(
        required=False, max_length=200, help_text="Whom the link is for; only owners see it."
    )
    email = forms.EmailField(
        required=False,
        max_length=Invitation._meta.get_field("email").max_length,
        label="Only for the address",
        help_text="Then only an account of this address can accept, once a mail has proved it.",
    )
    days = forms.IntegerField(
        label="Days until it expires",
        min_value=1,
        max_value=MOST_INVITATION_DAYS,
        initial=settings.INVITATION_DAYS,
    )

    def clean_role(self) -> Role:
        return Role(self.cleaned_data["role"])


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)

    def clean_role(self) -> Role:
        return Role(self.cleaned_data["role"])


class TeamForm(forms.Form):
    name = NameField(
        label=_("Name"),
        max_length=Team._meta.get_field("name").max_length,
        help_text=_("As boards show it; nobody else's team can be called so."),
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name.lower() in ("anonymous", "you"):
            reason_taken = _("“{name}” means something else on boards; choose another name.")
            raise ValidationError(reason_taken.format(name=name))
        return name


class MateForm(forms.Form):
    username = forms.CharField(
        max_length=150,
        label=_("User name"),
        help_text=_("Of somebody who works on one of your benchmarks."),
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
