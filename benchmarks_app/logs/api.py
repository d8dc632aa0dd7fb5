"""Endpoints of query logs, and of samples drawn from them."""

from collections.abc import Collection
from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import Count, JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS, UPLOADS
from benchmarks_app.logs import selectors
from benchmarks_app.logs.services import importing_logs, sampling
from benchmarks_app.logs.services.importing_logs import Reading
from benchmarks_app.models import Benchmark, QueryLog, QuerySample, Scope
from benchmarks_app.permissions import Action
from benchwright.errors import BenchmarkError
from benchwright.logs.columns import LABELS, LogColumns
from benchwright.logs.masking import KIND_LABELS, checked_regions
from benchwright.logs.sampling import Design
from benchwright.recipes import sampling as recipe

TAG = ["query logs"]


# What says that nothing is to be masked.
NO_KIND = "none"


def _kinds(kinds: Collection[str] | None) -> tuple[str, ...]:
    """The kinds to mask: all, unless some are named, or none explicitly."""
    if not kinds:
        return tuple(KIND_LABELS)
    return tuple(kind for kind in kinds if kind != NO_KIND)


class LogSerializer(serializers.ModelSerializer):
    """A log: counts, how many searches had something masked by kind, and how it was read."""

    masked = serializers.JSONField(read_only=True)
    facts = serializers.JSONField(read_only=True)

    class Meta:
        model = QueryLog
        fields = [
            "id",
            "name",
            "first_day",
            "last_day",
            "n_rows",
            "n_distinct",
            "n_traffic",
            "masked",
            "facts",
            "sha256",
            "created_at",
        ]


class LogUploadSerializer(serializers.Serializer):
    """A file; without `query` the columns are told by their names."""

    file = serializers.FileField()
    name = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)
    floor = api_field(recipe.FLOOR)
    # A form that leaves them out sends an empty list: then all are masked.
    kinds = serializers.MultipleChoiceField(choices=[*KIND_LABELS, NO_KIND], required=False)
    regions = serializers.CharField(
        max_length=1000,
        required=False,
        default="",
        allow_blank=True,
        help_text="Countries whose telephone numbers and numbers of people are masked: two letters "
        "each, commas between; `none` is none. Left out: those of the site.",
    )
    lenient = serializers.BooleanField(required=False, default=False)
    keep_raw = serializers.BooleanField(required=False, default=False)

    def get_fields(self) -> dict[str, serializers.Field]:
        columns = {
            role: serializers.CharField(
                required=False, default="", allow_blank=True, help_text=f"Column: {label}."
            )
            for role, label in LABELS.items()
        }
        return {**super().get_fields(), **columns}


class SampleSerializer(serializers.ModelSerializer):
    """A sample that was drawn; `parameters` hold its design and strata."""

    log = serializers.SlugRelatedField(slug_field="name", read_only=True)
    parameters = serializers.JSONField(read_only=True)

    class Meta:
        model = QuerySample
        fields = ["id", "log", "seed", "parameters", "n_families", "n_queries", "created_at"]


class DesignSerializer(serializers.Serializer):
    """How a sample is to be drawn; docs/query-logs.md says what each does."""

    n_families = api_field(recipe.N_FAMILIES)
    by = api_field(recipe.BY)
    allocation = api_field(recipe.ALLOCATION)
    given = serializers.DictField(child=Count(min_value=0), required=False, default=dict)
    weighting = api_field(recipe.WEIGHTING)
    wordings = api_field(recipe.WORDINGS)
    head_share = api_field(recipe.HEAD_SHARE)
    tail_share = api_field(recipe.TAIL_SHARE)
    seed = api_field(recipe.SEED)


def design_of(fields: dict[str, Any]) -> Design:
    """The design that was sent; what it does not say is as the page has it."""
    return Design.of({**Design().as_json(), **fields})


class LogList(Endpoint):
    limits = {"POST": UPLOADS}
    serializer_class = LogSerializer
    parser_classes = [MultiPartParser]

    @extend_schema(
        summary="Query logs of a benchmark, newest first",
        tags=TAG,
        responses=LogSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.page_of(selectors.logs_of(self.benchmark_for(Action.EDIT)), LogSerializer)

    @extend_schema(
        summary="Upload a query log; a job masks and counts it, and the file is deleted",
        tags=TAG,
        request={"multipart/form-data": LogUploadSerializer},
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(LogUploadSerializer)
        named = {role: fields[role] for role in LABELS if fields[role]}
        reading = Reading(
            name=fields["name"],
            columns=LogColumns.of(named) if named else None,
            kinds=_kinds(fields.get("kinds")),
            regions=checked_regions(fields["regions"]) if fields["regions"] else None,
            floor=fields["floor"],
            is_lenient=fields["lenient"],
            keeps_raw=fields["keep_raw"],
        )
        pending = importing_logs.receive_log(
            benchmark=benchmark, user=request.user, file=fields["file"]
        )
        try:
            job = importing_logs.start_log(pending=pending, user=request.user, reading=reading)
        except BenchmarkError:
            # Nobody would come back to it: the next call sends the file again.
            importing_logs.discard_pending(pending=pending, user=request.user)
            raise
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class LogDetail(Endpoint):
    serializer_class = LogSerializer
    pagination_class = None

    @extend_schema(summary="A query log", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(LogSerializer(_log(self.benchmark_for(Action.EDIT), pk)).data)


class LogSamples(Endpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = SampleSerializer

    @extend_schema(
        summary="Samples drawn from a log, newest first",
        tags=TAG,
        responses=SampleSerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        log = _log(benchmark, pk)
        return self.page_of(selectors.samples_of(benchmark).filter(log=log), SampleSerializer)

    @extend_schema(
        summary="Draw a sample; a job makes its queries",
        tags=TAG,
        request=DesignSerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        log = _log(self.benchmark_for(Action.EDIT), pk)
        fields = self.validated(DesignSerializer)
        job = sampling.start_sample(
            log=log, user=request.user, design=design_of(fields), seed=fields["seed"]
        )
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class LogSamplePreview(Endpoint):
    limits = {"POST": COMPUTATIONS}
    scopes = {"POST": Scope.READ}
    serializer_class = DesignSerializer
    pagination_class = None

    @extend_schema(
        summary="What a sample would be, stratum by stratum; nothing is drawn",
        tags=TAG,
        request=DesignSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        log = _log(self.benchmark_for(Action.EDIT), pk)
        design = design_of(self.validated(DesignSerializer))
        return Response(sampling.plan_of(log, design).as_json())


def _log(benchmark: Benchmark, pk: int) -> QueryLog:
    return get_object_or_404(selectors.logs_of(benchmark), pk=pk)


of_benchmark = [
    path("logs/", LogList.as_view(), name="log-list"),
    path("logs/<int:pk>/", LogDetail.as_view(), name="log-detail"),
    path("logs/<int:pk>/samples/", LogSamples.as_view(), name="log-samples"),
    path("logs/<int:pk>/samples/preview/", LogSamplePreview.as_view(), name="log-sample-preview"),
]
