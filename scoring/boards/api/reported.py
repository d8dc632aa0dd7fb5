"""Endpoints of values reported from elsewhere."""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parsing import BoundedJSONParser
from benchmarks_app.api.serializers import Id
from benchmarks_app.models import Benchmark, Release, Run, Scope
from benchmarks_app.permissions import Action, may
from scoring.boards.selectors.reported import may_change_reported, reported_on
from scoring.boards.services import reported
from scoring.models import ReportedScore
from scoring.scores.selectors.releases import release_of_version

TAG = ["leaderboard"]


class ReportedScoreSerializer(serializers.ModelSerializer):
    """A value somebody reports; nobody here has verified it."""

    release = serializers.CharField(source="release.version", allow_null=True, default=None)
    run = serializers.SerializerMethodField(
        help_text="A run of the same system, for whom it is visible."
    )
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
            "note",
            "run",
            "sha256",
            "metadata",
            "reported_by",
            "created_at",
        ]

    def get_run(self, score: ReportedScore) -> int | None:
        seen = self.context["seen_runs"]
        return score.run_id if score.run_id in seen else None


class _OfReleaseSerializer(serializers.Serializer):
    """What both ways to report share."""

    release = serializers.CharField(required=False, help_text="Its version, if it is known.")

    def validate_release(self, version: str) -> Release:
        found = release_of_version(self.context["benchmark"], version)
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
    note = serializers.CharField(max_length=500, required=False, allow_blank=True)
    run = Id(required=False, allow_null=True, help_text="A run of the same system, by its id.")

    def validate_run(self, key: int | None) -> Run | None:
        if key is None:
            return None
        found = self.context["runs"].filter(pk=key).first()
        if found is None:
            told = f"This benchmark has no run {key}."
            raise serializers.ValidationError(told)
        return found


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


def _told(scores: Iterable[ReportedScore], endpoint: Endpoint) -> list[dict[str, Any]]:
    """The values, without runs that the caller may not see."""
    found = list(scores)
    runs = Run.objects.visible_to(endpoint.request.user)
    seen = runs.filter(pk__in=[one.run_id for one in found if one.run_id])
    context = {"seen_runs": set(seen.values_list("pk", flat=True))}
    return list(ReportedScoreSerializer(found, many=True, context=context).data)


def _sent(
    endpoint: Endpoint,
    serializer: type[serializers.Serializer],
    benchmark: Benchmark,
    *,
    partial: bool = False,
) -> dict[str, Any]:
    runs = Run.objects.visible_to(endpoint.request.user).filter(benchmark=benchmark)
    context = {"benchmark": benchmark, "runs": runs}
    given = serializer(data=endpoint.request.data, context=context, partial=partial)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


class ReportedList(Endpoint):
    scopes = {"POST": Scope.SUBMIT}
    serializer_class = ReportedScoreSerializer
    parser_classes = [BoundedJSONParser, MultiPartParser]

    @extend_schema(
        summary="Values reported from elsewhere, not verified",
        tags=TAG,
        responses=ReportedScoreSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        page = self.paginate_queryset(reported_on(benchmark))
        return self.get_paginated_response(_told(page, self))

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
        told = _sent(self, NewReportedFileSerializer, benchmark)
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
        told = _sent(self, NewReportedValueSerializer, benchmark)
        is_new = reported.enter_reported(benchmark=benchmark, user=self.request.user, **told)
        return {"n_new": int(is_new), "n_known": int(not is_new), "systems": [told["system"]]}


class ReportedDetail(Endpoint):
    scopes = {"PATCH": Scope.SUBMIT, "DELETE": Scope.SUBMIT}
    serializer_class = ReportedScoreSerializer
    pagination_class = None

    @extend_schema(summary="A value reported from elsewhere, not verified", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        return Response(_told([get_object_or_404(reported_on(benchmark), pk=pk)], self)[0])

    @extend_schema(
        summary="Correct a value one reported",
        tags=TAG,
        request=NewReportedValueSerializer,
        responses=ReportedScoreSerializer,
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.SUBMIT)
        found = self._own(benchmark, pk)
        told = _sent(self, NewReportedValueSerializer, benchmark, partial=True)
        changed = reported.change_reported(score=found, actor=request.user, **told)
        return Response(_told([changed], self)[0])

    @extend_schema(summary="Take away a value one reported", tags=TAG, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.SUBMIT)
        reported.remove_reported(scores=[self._own(benchmark, pk)], actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _own(self, benchmark: Benchmark, pk: int) -> ReportedScore:
        """The value, if the caller may change it."""
        found = get_object_or_404(ReportedScore, benchmark=benchmark, pk=pk)
        keeps = may(self.request.user, Action.EDIT, benchmark)
        if not may_change_reported(self.request.user, found, keeps=keeps):
            raise PermissionDenied
        return found


of_benchmark = [
    path("reported/", ReportedList.as_view(), name="reported-list"),
    path("reported/<int:pk>/", ReportedDetail.as_view(), name="reported-detail"),
]
