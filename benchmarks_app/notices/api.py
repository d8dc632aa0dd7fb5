"""Webhooks and their deliveries; a secret is given once, when it is made. One's own mails."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.models import Delivery, Webhook
from benchmarks_app.models.notices import Event
from benchmarks_app.notices.selectors import deliveries_of, mails_wanted, webhooks_of
from benchmarks_app.notices.services import webhooks
from benchmarks_app.notices.services.mailing import choose_mails
from benchmarks_app.permissions import Action

TAG = ["webhooks"]


class WebhookSerializer(serializers.ModelSerializer):
    """A webhook, without its secret; `off` says why nothing is sent, "" while it is on."""

    events = serializers.ListField(child=serializers.ChoiceField(Event.choices))
    created_by = serializers.CharField(source="created_by.username", read_only=True)
    n_waiting = serializers.IntegerField(read_only=True, default=0)

    class Meta:
        model = Webhook
        fields = [
            *("id", "url", "events", "off", "failing_since", "n_waiting"),
            *("created_by", "created_at", "renewed_at"),
        ]


class NewWebhookSerializer(serializers.Serializer):
    url = serializers.CharField(max_length=500)
    events = serializers.MultipleChoiceField(choices=Event.choices, allow_empty=False)


class ChangedWebhookSerializer(serializers.Serializer):
    """What is to be changed of a webhook."""

    url = serializers.CharField(max_length=500, required=False)
    events = serializers.MultipleChoiceField(
        choices=Event.choices, allow_empty=False, required=False
    )
    is_on = serializers.BooleanField(required=False)


class IssuedSerializer(serializers.Serializer):
    """A webhook with the secret that its notices are signed with; it is told only now."""

    webhook = WebhookSerializer()
    secret = serializers.CharField()


class DeliverySerializer(serializers.ModelSerializer):
    """A notice on its way: `key` is its `webhook-id`; `status` and `answer` are what came last."""

    key = serializers.UUIDField(source="notice.key", read_only=True)
    event = serializers.CharField(source="notice.event", read_only=True)
    happened_at = serializers.DateTimeField(source="notice.happened_at", read_only=True)

    class Meta:
        model = Delivery
        fields = [
            *("id", "key", "event", "happened_at", "state", "n_attempts", "tried_at", "due_at"),
            *("status", "milliseconds", "answer", "fault"),
        ]


class WebhookEndpoint(Endpoint):
    serializer_class: Any = WebhookSerializer
    pagination_class: Any = None

    def webhook(self) -> Webhook:
        benchmark = self.benchmark_for(Action.EDIT)
        return get_object_or_404(webhooks_of(benchmark), pk=self.kwargs["pk"])


def _issued(issued: webhooks.Issued, *, status: int) -> Response:
    answer = Response(IssuedSerializer(issued).data, status=status)
    answer["Cache-Control"] = "no-store"
    return answer


class WebhookList(Endpoint):
    serializer_class = WebhookSerializer
    keeps_answers = False

    @extend_schema(summary="Webhooks", tags=TAG, responses=WebhookSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.page_of(webhooks_of(self.benchmark_for(Action.EDIT)), WebhookSerializer)

    @extend_schema(
        summary="Add a webhook",
        description="The answer has the secret, which is told only this once.",
        tags=TAG,
        request=NewWebhookSerializer,
        responses={201: IssuedSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(NewWebhookSerializer)
        issued = webhooks.add_webhook(benchmark=benchmark, user=self.caller(), **fields)
        return _issued(issued, status=status.HTTP_201_CREATED)


class WebhookDetail(WebhookEndpoint):
    @extend_schema(summary="A webhook", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(WebhookSerializer(self.webhook()).data)

    @extend_schema(
        summary="Change a webhook, or switch it on or off",
        tags=TAG,
        request=ChangedWebhookSerializer,
        responses=WebhookSerializer,
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        webhook = self.webhook()
        fields = self.validated(ChangedWebhookSerializer)
        webhooks.change_webhook(webhook=webhook, user=self.caller(), **fields)
        return Response(WebhookSerializer(webhook).data)

    @extend_schema(summary="Delete a webhook", tags=TAG, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        webhooks.delete_webhook(webhook=self.webhook(), user=self.caller())
        return Response(status=status.HTTP_204_NO_CONTENT)


class WebhookSecret(WebhookEndpoint):
    keeps_answers = False

    @extend_schema(
        summary="Renew the secret of a webhook",
        description="For 24 hours notices are signed with the one before as well.",
        tags=TAG,
        request=None,
        responses=IssuedSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        issued = webhooks.renew_secret(webhook=self.webhook(), user=self.caller())
        return _issued(issued, status=status.HTTP_200_OK)


class WebhookTest(WebhookEndpoint):
    serializer_class = DeliverySerializer
    limits = {"POST": COMPUTATIONS}

    @extend_schema(
        summary="Send a test", tags=TAG, request=None, responses={202: DeliverySerializer}
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        delivery = webhooks.send_test(webhook=self.webhook())
        return Response(DeliverySerializer(delivery).data, status=status.HTTP_202_ACCEPTED)


class WebhookDeliveryList(WebhookEndpoint):
    serializer_class = DeliverySerializer
    pagination_class = Endpoint.pagination_class

    @extend_schema(
        summary="What a webhook was told, and what it answered",
        description="The newest first; what happened more than 30 days ago is dropped.",
        tags=TAG,
        responses=DeliverySerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.page_of(deliveries_of(self.webhook()), DeliverySerializer)


class WebhookResend(WebhookEndpoint):
    serializer_class = DeliverySerializer
    limits = {"POST": COMPUTATIONS}

    @extend_schema(
        summary="Send a notice again", tags=TAG, request=None, responses={202: DeliverySerializer}
    )
    def post(self, request: Request, slug: str, pk: int, delivery: int) -> Response:
        delivery_row = get_object_or_404(deliveries_of(self.webhook()), pk=delivery)
        webhooks.send_again(delivery=delivery_row)
        return Response(DeliverySerializer(delivery_row).data, status=status.HTTP_202_ACCEPTED)


class MailChoicesSerializer(serializers.Serializer):
    """Events that the caller is mailed of; none unless they chose some."""

    events = serializers.MultipleChoiceField(choices=Event.choices)


class MailChoices(Endpoint):
    serializer_class = MailChoicesSerializer
    pagination_class = None

    @extend_schema(summary="Which mails you get", tags=["account"])
    def get(self, request: Request) -> Response:
        return Response({"events": mails_wanted(self.caller())})

    @extend_schema(
        summary="Choose which mails you get", tags=["account"], request=MailChoicesSerializer
    )
    def put(self, request: Request) -> Response:
        caller = self.caller()
        chosen = self.validated(MailChoicesSerializer)["events"]
        choose_mails(person=caller, events=sorted(chosen))
        return Response({"events": mails_wanted(caller)})


AT = "webhooks/<int:pk>/"
of_benchmark = [
    path("webhooks/", WebhookList.as_view(), name="webhook-list"),
    path(AT, WebhookDetail.as_view(), name="webhook-detail"),
    path(f"{AT}secret/", WebhookSecret.as_view(), name="webhook-secret"),
    path(f"{AT}test/", WebhookTest.as_view(), name="webhook-test"),
    path(f"{AT}deliveries/", WebhookDeliveryList.as_view(), name="webhook-delivery-list"),
    path(f"{AT}deliveries/<int:delivery>/send/", WebhookResend.as_view(), name="webhook-resend"),
]
urlpatterns = [path("me/mails/", MailChoices.as_view(), name="mail-choices")]
