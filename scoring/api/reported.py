"""Endpoints of values reported from elsewhere."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.models import Benchmark, Release
from benchmarks_app.permissions import Action, may
from scoring import selectors
from scoring.models import ReportedScore
from scoring.selectors.reported import reported_on
from scoring.services import reported

TAG = ["leaderboard"]


class ReportedScoreSerializer(serializers.ModelSerializer):
    """A value somebody reports; nobody here has verified it."""

    release = serializers.CharField(source="release.version", allow_null=True, default=None)
    reported_by = serializers.CharField(source="reported_by.username", read_only=True)
    metadata = serializers.JSONField(read_only=True)

    class Meta:
        model = ReportedScore
        fields = [
            "id",
            "system",
            "measure",
            "value",
            "split",
            "release",
            "kind",
            "source",
            "sha256",
            "metadata",
            "reported_by",
            "created_at",
        ]


class _OfReleaseSerializer(serializers.Serializer):
    """What both ways to report share."""

    release = serializers.CharField(required=False, help_text="Its version, if it is known.")

    def validate_release(self, version: str) -> Release:
        found = selectors.release_of_version(self.context["benchmark"], version)
        if found is None:
            told = f"This benchmark has no published release {version!r}."
            raise serializers.ValidationError(told)
        return found


class NewReportedValueSerializer(_OfReleaseSerializer):
    """One value, with where it is from."""

    system = serializers.CharField(max_length=200)
    measure = serializers.CharField(max_length=120)
    value = serializers.FloatField()
    split = serializers.CharField(max_length=16, required=False, allow_blank=True)
    source = serializers.CharField(max_length=500)


class NewReportedFileSerializer(_OfReleaseSerializer):
    """A result file of MTEB."""

    file = serializers.FileField()
    system = serializers.CharField(max_length=200, required=False, allow_blank=True)
    task = serializers.CharField(max_length=200, required=False, allow_blank=True)
    source = serializers.CharField(max_length=480, required=False, allow_blank=True)


class ReportedImportSerializer(serializers.Serializer):
    """What a report came to."""

    n_new = serializers.IntegerField()
    n_known = serializers.IntegerField(help_text="Values that were there already.")
    systems = serializers.ListField(child=serializers.CharField())


class ReportedList(Endpoint):
    serializer_class = ReportedScoreSerializer
    parser_classes = [JSONParser, MultiPartParser]

    @extend_schema(
        summary="Values reported from elsewhere, not verified",
        tags=TAG,
        responses=ReportedScoreSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        return self.page_of(reported_on(benchmark), ReportedScoreSerializer)

    @extend_schema(
        summary="Report a value (JSON), or a result file of MTEB (multipart)",
        tags=TAG,
        request={
            "application/json": NewReportedValueSerializer,
            "multipart/form-data": NewReportedFileSerializer,
        },
        responses={201: ReportedImportSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SUBMIT)
        found = self._file(benchmark) if "file" in request.data else self._value(benchmark)
        told = ReportedImportSerializer(found).data
        return Response(told, status=status.HTTP_201_CREATED)

    def _file(self, benchmark: Benchmark) -> dict[str, Any]:
        told = self._told(NewReportedFileSerializer, benchmark)
        file = told.pop("file")
        found = reported.import_mteb(
            benchmark=benchmark,
            user=self.request.user,
            content=file.read(reported.LARGEST_FILE + 1),
            file=file.name,
            **told,
        )
        return {"n_new": found.n_new, "n_known": found.n_known, "systems": found.systems}

    def _value(self, benchmark: Benchmark) -> dict[str, Any]:
        told = self._told(NewReportedValueSerializer, benchmark)
        is_new = reported.enter_reported(benchmark=benchmark, user=self.request.user, **told)
        return {"n_new": int(is_new), "n_known": int(not is_new), "systems": [told["system"]]}

    def _told(
        self, serializer: type[serializers.Serializer], benchmark: Benchmark
    ) -> dict[str, Any]:
        given = serializer(data=self.request.data, context={"benchmark": benchmark})
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)


class ReportedDetail(Endpoint):
    serializer_class = ReportedScoreSerializer
    pagination_class = None

    @extend_schema(summary="A value reported from elsewhere, not verified", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        found = get_object_or_404(reported_on(benchmark), pk=pk)
        return Response(ReportedScoreSerializer(found).data)

    @extend_schema(summary="Take away a value one reported", tags=TAG, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.SUBMIT)
        found = get_object_or_404(ReportedScore, benchmark=benchmark, pk=pk)
        if found.reported_by_id != request.user.pk and not may(
            request.user, Action.EDIT, benchmark
        ):
            raise PermissionDenied
        reported.remove_reported(scores=[found], actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


of_benchmark = [
    path("reported/", ReportedList.as_view(), name="reported-list"),
    path("reported/<int:pk>/", ReportedDetail.as_view(), name="reported-detail"),
]
