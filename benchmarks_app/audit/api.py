"""Endpoints of the audit log: a benchmark's, and the site's; and its export."""

from typing import Any

from django.http import StreamingHttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.common.selectors.audit import (
    KIND_LABELS,
    PAGE_SIZE,
    Asked,
    Events,
    Key,
    as_object,
    events_asked_for,
    page_before,
    people_named,
)
from benchmarks_app.common.services.audit import CONTENT_TYPES, FORMATS, export_events
from benchmarks_app.models import Benchmark, Scope
from benchmarks_app.permissions import Action

TAG = ["audit"]


class EventPages(BasePagination):
    """By time: a page costs the same however many events come before it."""

    def paginate_queryset(self, events: Events, request: Request, view: Any = None) -> list:
        key = Key.read(request.query_params.get("before", ""))
        page = page_before(events, key, PAGE_SIZE)
        self.next_url = page.next_key and replace_query_param(
            request.build_absolute_uri(), "before", str(page.next_key)
        )
        return page.events

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self.next_url, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        next_url = {"type": "string", "nullable": True, "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {"next": next_url, "results": schema},
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        text = "Where the page before ended: `next` has it"
        schema = {"type": "string"}
        return [
            {
                "name": "before",
                "in": "query",
                "required": False,
                "description": text,
                "schema": schema,
            }
        ]


class EventQuerySerializer(serializers.Serializer):
    """Which events; without any of these all, the newest first. Days are whole, in UTC."""

    kind = serializers.ChoiceField(choices=list(KIND_LABELS), required=False, default="")
    person = serializers.CharField(required=False, default="", max_length=150)
    since = serializers.DateField(required=False, default=None)
    until = serializers.DateField(required=False, default=None)
    text = serializers.CharField(required=False, default="", max_length=200)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if problem := Asked(since=attrs["since"], until=attrs["until"]).problem:
            raise serializers.ValidationError({"until": problem})
        return attrs


class EventExportQuerySerializer(EventQuerySerializer):
    form = serializers.ChoiceField(choices=sorted(FORMATS), default="jsonl")


class EventSerializer(serializers.Serializer):
    """`by` is who did it, null for the site itself; `about` whom it was done to."""

    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(choices=list(KIND_LABELS))
    action = serializers.CharField()
    by = serializers.CharField(allow_null=True)
    benchmark = serializers.CharField(allow_null=True)
    target = serializers.CharField()
    about = serializers.CharField(allow_null=True)
    detail = serializers.DictField()


class OfEvents(Endpoint):
    """What the lists and exports share."""

    pagination_class: Any = EventPages
    serializer_class = EventSerializer

    def asked(self, serializer: type[serializers.Serializer]) -> dict[str, Any]:
        bound_serializer = serializer(data=self.request.query_params)
        bound_serializer.is_valid(raise_exception=True)
        return dict(bound_serializer.validated_data)

    def listed(self, benchmark: Benchmark | None) -> Response:
        filters = Asked(**self.asked(EventQuerySerializer))
        events = self.paginate_queryset(events_asked_for(benchmark, filters))
        people = people_named(events)
        return self.get_paginated_response([as_object(event, people) for event in events])

    def exported(self, benchmark: Benchmark | None) -> StreamingHttpResponse:
        fields = self.asked(EventExportQuerySerializer)
        form = fields.pop("form")
        pieces = export_events(
            benchmark=benchmark, filters=Asked(**fields), actor=self.request.user, form=form
        )
        return StreamingHttpResponse(pieces, content_type=CONTENT_TYPES[form])


EXPORTED = {
    (200, "application/x-ndjson"): EventSerializer,
    (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR),
}


class EventList(OfEvents):
    @extend_schema(
        summary="The audit log of a benchmark, the newest first",
        tags=TAG,
        parameters=[EventQuerySerializer],
        responses=EventSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.listed(self.benchmark_for(Action.EDIT))


class EventExport(OfEvents):
    pagination_class = None
    limits = {"GET": COMPUTATIONS}

    @extend_schema(
        summary="The audit log of a benchmark as a file, streamed",
        tags=TAG,
        parameters=[EventExportQuerySerializer],
        responses=EXPORTED,
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        return self.exported(self.benchmark_for(Action.EDIT))


class SiteEvents(OfEvents):
    scopes = {"GET": Scope.MANAGE}

    @extend_schema(
        summary="The audit log of the site, for its managers",
        tags=TAG,
        parameters=[EventQuerySerializer],
        responses=EventSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        self.manager()
        return self.listed(None)


class SiteEventExport(OfEvents):
    pagination_class = None
    limits = {"GET": COMPUTATIONS}
    scopes = {"GET": Scope.MANAGE}

    @extend_schema(
        summary="The audit log of the site as a file, streamed",
        tags=TAG,
        parameters=[EventExportQuerySerializer],
        responses=EXPORTED,
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        self.manager()
        return self.exported(None)


of_benchmark = [
    path("audit/", EventList.as_view(), name="event-list"),
    path("audit/export/", EventExport.as_view(), name="event-export"),
]
urlpatterns = [
    path("audit/", SiteEvents.as_view(), name="site-events"),
    path("audit/export/", SiteEventExport.as_view(), name="site-event-export"),
]
