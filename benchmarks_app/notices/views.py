"""Webhooks, for who keeps the benchmark; mails, for each person, and the link that stops them."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks_app.models import Benchmark, Webhook
from benchmarks_app.notices.errors import ManyWebhooksError
from benchmarks_app.notices.forms import MailChoicesForm, WebhookChangeForm, WebhookForm
from benchmarks_app.notices.selectors import deliveries_of, webhooks_of
from benchmarks_app.notices.services import webhooks
from benchmarks_app.notices.services.mailing import choose_mails, stop_mails, stopped_by
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest

PAGE_SIZE = 20


def _webhook(benchmark: Benchmark, pk: int) -> Webhook:
    return get_object_or_404(webhooks_of(benchmark), pk=pk)


def _secret_page(request: HttpRequest, issued: webhooks.Issued, *, is_new: bool) -> HttpResponse:
    # The secret is part of this one answer: after a redirect nobody could know it any more.
    context = {"webhook": issued.webhook, "secret": issued.secret, "is_new": is_new}
    return render(request, "benchmarks_app/notices/webhook_secret.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def webhook_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """The webhooks, and a form for one more; the answer to it shows the secret, once."""
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            issued = webhooks.add_webhook(
                benchmark=benchmark, user=request.user, **form.cleaned_data
            )
        except ManyWebhooksError as error:
            form.add_error(None, str(error))
        else:
            return _secret_page(request, issued, is_new=True)
    context = {"form": form, "webhooks": list(webhooks_of(benchmark))}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/notices/webhook_list.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def webhook_detail(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    webhook = _webhook(benchmark, pk)
    before = {"url": webhook.url, "events": webhook.events, "is_on": webhook.is_on}
    form = WebhookChangeForm(request.POST if request.method == "POST" else None, initial=before)
    if form.is_bound and form.is_valid():
        webhooks.change_webhook(webhook=webhook, user=request.user, **form.cleaned_data)
        messages.success(request, "The webhook was changed.")
        return redirect(webhook)
    page = page_of(request, deliveries_of(webhook), PAGE_SIZE)
    context = {"webhook": webhook, "form": form, "page": page}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/notices/webhook_detail.html", context, status=status)


@never_cache
@sensitive_post_parameters()
@require_POST
@benchmark_view(Action.EDIT)
def webhook_secret(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    issued = webhooks.renew_secret(webhook=_webhook(benchmark, pk), user=request.user)
    return _secret_page(request, issued, is_new=False)


@require_POST
@benchmark_view(Action.EDIT)
def webhook_test(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    webhook = _webhook(benchmark, pk)
    webhooks.send_test(webhook=webhook)
    messages.info(request, "A test is on its way; what comes back stands below in a moment.")
    return redirect(webhook)


@require_POST
@benchmark_view(Action.EDIT)
def webhook_delete(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    webhooks.delete_webhook(webhook=_webhook(benchmark, pk), user=request.user)
    messages.success(request, "The webhook was deleted.")
    return redirect("webhook-list", benchmark.slug)


@require_POST
@benchmark_view(Action.EDIT)
def webhook_resend(
    request: PersonRequest, benchmark: Benchmark, pk: int, delivery: int
) -> HttpResponse:
    webhook = _webhook(benchmark, pk)
    webhooks.send_again(delivery=get_object_or_404(deliveries_of(webhook), pk=delivery))
    messages.info(request, "It is sent again; what comes back stands below in a moment.")
    return redirect(webhook)


# --- mails -----------------------------------------------------------------------------------


@login_required
@require_POST
def mail_choices(request: PersonRequest) -> HttpResponse:
    form = MailChoicesForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("That could not be chosen. Load the page again and try anew."))
        return redirect("account-detail")
    choose_mails(person=request.user, events=form.cleaned_data["events"])
    messages.success(request, _("Your mails were chosen."))
    return redirect("account-detail")


@csrf_exempt  # a mail program has no cookie of ours: the link itself is what proves it
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def mail_stop(request: HttpRequest, stop: str) -> HttpResponse:
    """Stops mails of one kind by a POST; what merely follows links must not (RFC 8058)."""
    is_stopped = request.method == "POST"
    event = stop_mails(stop) if is_stopped else stopped_by(stop)[1]
    context = {"what": event, "is_stopped": is_stopped}
    return render(request, "benchmarks_app/notices/mail_stop.html", context)
