"""Webhooks and what became of their notices; which mails a person wants."""

from django.db.models import Count, Q, QuerySet

from benchmarks_app.models import Benchmark, Delivery, User, Webhook


def webhooks_of(benchmark: Benchmark) -> QuerySet[Webhook]:
    """The oldest first, with how many notices wait for each."""
    waiting = Count("deliveries", filter=Q(deliveries__state=Delivery.State.WAITING))
    rows = Webhook.objects.filter(benchmark=benchmark).select_related("benchmark", "created_by")
    return rows.annotate(n_waiting=waiting).order_by("pk")


def deliveries_of(webhook: Webhook) -> QuerySet[Delivery]:
    return webhook.deliveries.select_related("notice").order_by("-pk")


def mails_wanted(person: User) -> list[str]:
    return list(person.mail_choices.order_by("event").values_list("event", flat=True))
