"""One's own account: signing in and out, passwords, profile."""

from functools import partial
from typing import Any

from axes.utils import reset as forget_failed_sign_ins
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import (
    AuthenticationForm,
    PasswordChangeForm,
    PasswordResetForm,
    SetPasswordForm,
)
from django.contrib.auth.mixins import LoginRequiredMixin
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from django.views.generic.edit import FormMixin

from benchmarks_app.common.selectors.factors import has_second_factor, second_factors_of
from benchmarks_app.common.selectors.people import named
from benchmarks_app.common.services import audit
from benchmarks_app.errors import NoPasswordError, PasswordsOffError
from benchmarks_app.language import speak_anew
from benchmarks_app.models import User
from benchmarks_app.notices.forms import MailChoicesForm
from benchmarks_app.notices.selectors import mails_wanted
from benchmarks_app.people import mailed_links, second_step
from benchmarks_app.people.forms.people import (
    PASSWORD_HELP,
    ApiTokenForm,
    PasswordForm,
    ProfileForm,
    ResetForm,
)
from benchmarks_app.people.services import mailing
from benchmarks_app.people.services.api_tokens import create_api_token, revoke_api_token
from benchmarks_app.people.services.guesses import knows_password
from benchmarks_app.people.services.people import change_profile, open_address_link, verify_address
from benchmarks_app.requests import PersonRequest
from benchmarks_app.sessions import PROVIDER
from benchmarks_app.sign_ins import remember_device

TOKENS_SHOWN = 100


class SignIn(auth_views.LoginView):
    """Locked out after too many failures; see `sign_ins`. A second factor is asked for next."""

    template_name = "registration/sign_in.html"
    extra_context = {"site": settings}

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.SIGN_IN_BY_PASSWORD:
            raise PasswordsOffError
        return super().post(*args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        if has_second_factor(form.get_user()):
            return second_step.begin(self.request, form.get_user(), self.get_success_url())
        response = super().form_valid(form)
        remember_device(self.request, response, form.get_user())
        return response


class SignOut(auth_views.LogoutView):
    """Here, and at the provider where somebody came through one that has a page for it."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        end = request.session.get(PROVIDER, {}).get("end")
        response = super().post(request, *args, **kwargs)
        return redirect(end) if end else response


class ByPassword(View):
    """Pages of passwords, on a site that has some."""

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.SIGN_IN_BY_PASSWORD:
            raise PasswordsOffError
        return super().dispatch(*args, **kwargs)


class ShortHelp(FormMixin):
    """Says in one line what a password must be, where Django would make a list of it."""

    def get_form(self, *args: Any, **kwargs: Any) -> Any:
        form = super().get_form(*args, **kwargs)
        form.fields["new_password1"].help_text = PASSWORD_HELP
        form.fields["new_password2"].label = _("New password again")
        form.fields["new_password2"].help_text = ""
        return form


class PasswordChange(ByPassword, ShortHelp, auth_views.PasswordChangeView):
    form_class = PasswordForm
    template_name = "registration/password_change.html"
    success_url = reverse_lazy("account-detail")

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.request.user.is_authenticated and not knows_password(self.request.user):
            raise NoPasswordError
        return super().dispatch(*args, **kwargs)

    @transaction.atomic
    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        response = super().form_valid(form)
        audit.record(actor=form.user, action="password-change", target=named(form.user.pk))
        message = _("Your password was changed. Other devices were signed out.")
        messages.success(self.request, message)
        return response


class PasswordReset(ByPassword, auth_views.PasswordResetView):
    """Answers the same, and as soon, whether or not an account has the address."""

    form_class = ResetForm

    template_name = "registration/password_reset.html"
    email_template_name = "registration/password_reset_email.txt"
    subject_template_name = "registration/password_reset_subject.txt"
    success_url = reverse_lazy("password-reset-sent")

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        mailed_links.count_request(self.request)
        scheme, _, host = mailed_links.place_in_mails(self.request).partition("://")
        send = partial(
            form.save,
            domain_override=host,
            use_https=scheme == "https",
            email_template_name=self.email_template_name,
            subject_template_name=self.subject_template_name,
        )
        mailing.send_later(send)
        return redirect(self.get_success_url())


class PasswordResetSent(ByPassword, auth_views.PasswordResetDoneView):
    template_name = "registration/password_reset_sent.html"


class PasswordResetConfirm(ByPassword, ShortHelp, auth_views.PasswordResetConfirmView):
    """The link of the email: good once, because the new password changes what it was made of."""

    template_name = "registration/password_reset_confirm.html"
    success_url = reverse_lazy("sign-in")

    @transaction.atomic
    def form_valid(self, form: SetPasswordForm) -> HttpResponse:
        response = super().form_valid(form)
        # Who could read the email owns the account: a lock-out of guesses must not hold them up.
        forget_failed_sign_ins(username=form.user.get_username())
        audit.record(actor=form.user, action="password-reset", target=named(form.user.pk))
        verify_address(user=form.user, actor=form.user)
        messages.success(self.request, _("Your new password is set. Sign in with it."))
        return response


class AddressLink(LoginRequiredMixin, auth_views.RedirectURLMixin, View):
    """Mails the link; answers the same, and as soon, whether or not it can be sent."""

    next_page = "account-detail"

    def post(self, request: PersonRequest) -> HttpResponse:
        mailed_links.mail_address_link(request, self.get_redirect_url())
        message = _(
            "A link is on its way to {address}. Nothing after a few minutes? Look among the "
            "unwanted mail, or ask whoever runs this site."
        )
        messages.info(request, message.format(address=request.user.email))
        return redirect(self.get_success_url())


class AddressVerify(LoginRequiredMixin, auth_views.RedirectURLMixin, View):
    """The link of that mail: good once, for whoever is signed in with the account it is for."""

    http_method_names = ["get"]
    next_page = "account-detail"

    def get(self, request: PersonRequest, token: str) -> HttpResponse:
        open_address_link(user=request.user, token=token)
        message = _("You have confirmed that {address} is yours.")
        messages.success(request, message.format(address=request.user.email))
        return redirect(self.get_success_url())


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account_detail(request: PersonRequest) -> HttpResponse:
    # A row of its own: a form that does not validate must not change the page's user.
    person = User.objects.get(pk=request.user.pk)
    form = ProfileForm(request.POST or None, instance=person)
    if request.method == "POST" and form.is_valid():
        change_profile(user=person, **form.profile())
        speak_anew(request, person.language)
        messages.success(request, _("Your profile was saved."))
        return redirect("account-detail")
    return _account_page(request, person, form, ApiTokenForm())


def _account_page(
    request: HttpRequest, person: User, form: ProfileForm, token_form: ApiTokenForm
) -> HttpResponse:
    context = {
        "form": form,
        "memberships": person.memberships.select_related("benchmark").order_by("benchmark__name"),
        "teams": person.teams.order_by("name"),
        "has_password": knows_password(person),
        "n_factors": second_factors_of(person).count(),
        "token_form": token_form,
        "mail_form": MailChoicesForm(initial={"events": mails_wanted(person)}),
        "tokens": person.api_tokens.filter(revoked_at=None).order_by("-pk")[:TOKENS_SHOWN],
        "now": timezone.now(),
    }
    is_refused = form.is_bound or token_form.is_bound
    return render(
        request,
        "benchmarks_app/people/account_detail.html",
        context,
        status=422 if is_refused else 200,
    )


# --- tokens for the API ---------------------------------------------------------------------------


@never_cache
@sensitive_post_parameters()
@login_required
@require_POST
def api_token_create(request: PersonRequest) -> HttpResponse:
    form = ApiTokenForm(request.POST)
    if not form.is_valid():
        person = User.objects.get(pk=request.user.pk)
        return _account_page(request, person, ProfileForm(instance=person), form)
    issued = create_api_token(user=request.user, **form.cleaned_data)
    # The secret is part of this one answer: after a redirect nobody could know it any more.
    context = {"token": issued.token, "secret": issued.secret}
    return render(request, "benchmarks_app/people/api_token_create.html", context)


@login_required
@require_POST
def api_token_revoke(request: PersonRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(request.user.api_tokens, pk=pk)
    revoke_api_token(token=token, actor=request.user)
    message = _("The token “{name}” no longer works.").format(name=token.name)
    messages.success(request, message)
    return redirect("account-detail")
