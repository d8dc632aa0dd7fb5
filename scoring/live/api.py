"""Endpoints of live systems: described, tried, and asked for runs."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.models import QueryFamily, Run
from benchmarks_app.permissions import Action, may
from benchwright.live.templates import LARGEST
from benchwright.recipes import systems
from scoring.live.selectors import live_runs_of, live_systems_of
from scoring.live.services.asking import free_run_name, start_asking
from scoring.live.services.systems import (
    change_live_system,
    delete_live_system,
    make_live_system,
)
from scoring.live.services.trying import Trial, try_system
from scoring.models import LiveRun, LiveSystem
from scoring.scores.selectors.releases import release_of_version

TAG = ["live systems"]


class LiveSettingsSerializer(serializers.ModelSerializer):
    """How an endpoint is asked, and what its answer looks like."""

    headers = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=10_000,
        help_text="A line each, as `Authorization: ApiKey $SEARCH_KEY`: variables, no values.",
    )
    url = serializers.CharField(max_length=500)
    template = serializers.CharField(max_length=LARGEST, trim_whitespace=False)
    results_path = serializers.CharField(max_length=200)
    id_path = serializers.CharField(max_length=200)
    score_path = serializers.CharField(max_length=200, required=False, allow_blank=True)
    requests_per_second = api_field(systems.REQUESTS_PER_SECOND, required=False)
    concurrency = api_field(systems.CONCURRENCY, required=False)
    timeout_seconds = api_field(systems.TIMEOUT_SECONDS, required=False)
    retries = api_field(systems.RETRIES, required=False)

    class Meta:
        model = LiveSystem
        fields = [
            *("url", "method", "template", "headers", "results_path", "id_path", "score_path"),
            *("requests_per_second", "concurrency", "timeout_seconds", "retries"),
        ]


class LiveSystemSerializer(serializers.ModelSerializer):
    """A live system; its `settings` are told to who keeps the benchmark, and null to others."""

    host = serializers.CharField(read_only=True)
    n_runs = serializers.IntegerField(read_only=True)
    last_run_at = serializers.DateTimeField(read_only=True, allow_null=True)
    settings = serializers.SerializerMethodField()

    class Meta:
        model = LiveSystem
        fields = [
            *("id", "name", "description", "kind", "host", "k", "n_runs", "last_run_at"),
            *("tried_at", "tried_well", "settings"),
        ]

    @extend_schema_field(LiveSettingsSerializer(allow_null=True))
    def get_settings(self, system: LiveSystem) -> dict[str, Any] | None:
        if not self.context["is_keeper"]:
            return None
        return dict(LiveSettingsSerializer(system).data)


class NewLiveSystemSerializer(LiveSettingsSerializer):
    """A live system to be made; what is left out has the page's value."""

    name = serializers.CharField(max_length=120)
    description = serializers.CharField(required=False, allow_blank=True, max_length=4000)
    k = api_field(systems.K, required=False)

    class Meta(LiveSettingsSerializer.Meta):
        fields = ["name", "description", "kind", "k", *LiveSettingsSerializer.Meta.fields]


class LiveRunSerializer(serializers.ModelSerializer):
    """A run made of a system's answers; times in milliseconds."""

    run = serializers.IntegerField(source="run_id")
    name = serializers.CharField(source="run.name")
    p50 = serializers.FloatField(source="run.latencies.p50", default=None, allow_null=True)
    p95 = serializers.FloatField(source="run.latencies.p95", default=None, allow_null=True)

    class Meta:
        model = LiveRun
        fields = [
            *("run", "name", "n_asked", "n_failed", "n_empty", "n_repeated", "n_unknown"),
            *("p50", "p95", "created_at"),
        ]


class LiveSystemDetailSerializer(LiveSystemSerializer):
    """As in the list, with the newest runs that the caller may see."""

    runs = LiveRunSerializer(many=True)

    class Meta(LiveSystemSerializer.Meta):
        fields = [*LiveSystemSerializer.Meta.fields, "runs"]


class LiveTrySerializer(serializers.Serializer):
    query = serializers.CharField(max_length=2000)


class TriedResultSerializer(serializers.Serializer):
    rank = serializers.IntegerField()
    docid = serializers.CharField()
    score = serializers.FloatField()
    is_known = serializers.BooleanField(help_text="Whether the corpus has it.")
    title = serializers.CharField()


class LiveTrialSerializer(serializers.Serializer):
    """What one query gave; `why` says what is wrong, and is empty where nothing is."""

    query = serializers.CharField()
    method = serializers.CharField()
    address = serializers.CharField()
    body = serializers.CharField()
    headers = serializers.SerializerMethodField()
    why = serializers.CharField()
    status = serializers.IntegerField(help_text="Of HTTP; 0 where no answer came.")
    milliseconds = serializers.FloatField(allow_null=True)
    n_results = serializers.IntegerField()
    n_repeated = serializers.IntegerField()
    n_beyond = serializers.IntegerField()
    n_unknown = serializers.IntegerField()
    is_unordered = serializers.BooleanField()
    results = TriedResultSerializer(many=True)

    def get_headers(self, trial: Trial) -> dict[str, str]:
        """As they were written: names of variables, never their values."""
        return {header.name: header.value for header in trial.headers}


class LiveAskSerializer(serializers.Serializer):
    """Which queries to ask, and what the run is called."""

    run = serializers.CharField(
        required=False, max_length=Run._meta.get_field("name").max_length, help_text="Its name."
    )
    split = serializers.ChoiceField(
        [value for value in QueryFamily.Split.values if value], required=False
    )
    release = serializers.CharField(required=False, max_length=40, help_text="A version.")
    may_fail = api_field(systems.MAY_FAIL, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "split" in attrs and "release" in attrs:
            reason = "Name a split or a release, not both."
            raise serializers.ValidationError({"release": [reason]})
        version = attrs.get("release")
        if version and release_of_version(self.context["benchmark"], version) is None:
            reason = "No published release has this version."
            raise serializers.ValidationError({"release": [reason]})
        return attrs


class LiveEndpoint(Endpoint):
    serializer_class = LiveSystemDetailSerializer
    pagination_class = None

    def found(self, action: Action) -> LiveSystem:
        return get_object_or_404(live_systems_of(self.benchmark_for(action)), pk=self.kwargs["pk"])

    def told(self, pk: int, code: int = status.HTTP_200_OK) -> Response:
        system = live_systems_of(self.benchmark_for(Action.SEE_RESULTS)).get(pk=pk)
        user = self.request.user
        context = {"is_keeper": may(user, Action.EDIT, system.benchmark)}
        shape = LiveSystemSerializer(system, context=context).data
        runs = LiveRunSerializer(live_runs_of(system, user), many=True, context=context).data
        return Response({**shape, "runs": runs}, status=code)


class LiveList(LiveEndpoint):
    serializer_class = LiveSystemSerializer
    pagination_class = Endpoint.pagination_class

    @extend_schema(
        summary="Live systems of a benchmark", tags=TAG, responses=LiveSystemSerializer(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        page = self.paginate_queryset(live_systems_of(benchmark))
        context = {"is_keeper": may(request.user, Action.EDIT, benchmark)}
        systems = LiveSystemSerializer(page, many=True, context=context).data
        return self.get_paginated_response(systems)

    @extend_schema(
        summary="Describe a live system",
        tags=TAG,
        request=NewLiveSystemSerializer,
        responses={201: LiveSystemDetailSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(NewLiveSystemSerializer)
        system = make_live_system(benchmark=benchmark, user=request.user, **fields)
        return self.told(system.pk, status.HTTP_201_CREATED)


class LiveDetail(LiveEndpoint):
    @extend_schema(summary="A live system, with its runs", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.told(self.found(Action.SEE_RESULTS).pk)

    @extend_schema(
        summary="Change a live system",
        tags=TAG,
        request=NewLiveSystemSerializer(partial=True),
        responses=LiveSystemDetailSerializer,
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        system = self.found(Action.EDIT)
        serializer = NewLiveSystemSerializer(data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        change_live_system(system=system, user=request.user, **serializer.validated_data)
        return self.told(pk)

    @extend_schema(summary="Remove a live system; its runs stay", tags=TAG, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        delete_live_system(system=self.found(Action.EDIT), user=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class LiveTry(LiveEndpoint):
    serializer_class = LiveTrialSerializer
    limits = {"POST": COMPUTATIONS}

    @extend_schema(
        summary="Ask a live system one query, while you wait",
        tags=TAG,
        request=LiveTrySerializer,
        responses=LiveTrialSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        system = self.found(Action.EDIT)
        fields = self.validated(LiveTrySerializer)
        trial = try_system(system=system, query=fields["query"])
        return Response(LiveTrialSerializer(trial).data)


class LiveAsk(LiveEndpoint):
    serializer_class = JobSerializer
    limits = {"POST": COMPUTATIONS}

    @extend_schema(
        summary="Ask a live system every query, as a job that makes a run",
        tags=TAG,
        request=LiveAskSerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        system = self.found(Action.EDIT)
        serializer = LiveAskSerializer(data=request.data, context={"benchmark": system.benchmark})
        serializer.is_valid(raise_exception=True)
        fields = {"run": free_run_name(system), **serializer.validated_data}
        job = start_asking(system=system, user=request.user, **fields)
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


of_benchmark = [
    path("live/", LiveList.as_view(), name="live-list"),
    path("live/<int:pk>/", LiveDetail.as_view(), name="live-detail"),
    path("live/<int:pk>/try/", LiveTry.as_view(), name="live-try"),
    path("live/<int:pk>/ask/", LiveAsk.as_view(), name="live-ask"),
]
