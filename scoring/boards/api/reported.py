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
        visible = self.context["seen_runs"]
        return score.run_id if score.run_id in visible else None


class _OfReleaseSerializer(serializers.Serializer):
    """What both ways to report share."""

    release = serializers.CharField(
        required=False, allow_null=True, help_text="Its version, if it is known."
    )

    def validate_release(self, version: str | None) -> Release | None:
        if version is None:
            return None
        release = release_of_version(self.context["benchmark"], version)
        if release is None:
            message = f"This benchmark has no published release {version!r}."
            raise serializers.ValidationError(message)
        return release


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
        run = self.context["runs"].filter(pk=key).first()
        if run is None:
            message = f"This benchmark has no run {key}."
            raise serializers.ValidationError(message)
        return run


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
    rows = list(scores)
    runs = Run.objects.visible_to(endpoint.request.user)
    visible = runs.filter(pk__in=[row.run_id for row in rows if row.run_id])
    context = {"seen_runs": set(visible.values_list("pk", flat=True))}
    return list(ReportedScoreSerializer(rows, many=True, context=context).data)


def _sent(
    endpoint: Endpoint,
    serializer: type[serializers.Serializer],
    benchmark: Benchmark,
    *,
    partial: bool = False,
) -> dict[str, Any]:
    runs = Run.objects.visible_to(endpoint.request.user).filter(benchmark=benchmark)
    context = {"benchmark": benchmark, "runs": runs}
    sent = serializer(data=endpoint.request.data, context=context, partial=partial)
    sent.is_valid(raise_exception=True)
    return dict(sent.validated_data)


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
        imported = self._file(benchmark) if "file" in request.data else self._value(benchmark)
        answer = ReportedImportSerializer(imported).data
        return Response(answer, status=status.HTTP_201_CREATED)

    def _file(self, benchmark: Benchmark) -> dict[str, Any]:
        fields = _sent(self, NewReportedFileSerializer, benchmark)
        file = fields.pop("file")
        imported = reported.import_mteb(
            benchmark=benchmark,
            user=self.request.user,
            content=file.read(reported.LARGEST_FILE + 1),
            file=file.name,
            **fields,
        )
        return {"n_new": imported.n_new, "n_known": imported.n_known, "systems": imported.systems}

    def _value(self, benchmark: Benchmark) -> dict[str, Any]:
        fields = _sent(self, NewReportedValueSerializer, benchmark)
        is_new = reported.enter_reported(benchmark=benchmark, user=self.request.user, **fields)
        return {"n_new": int(is_new), "n_known": int(not is_new), "systems": [fields["system"]]}


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
        score = self._own(benchmark, pk)
        fields = _sent(self, NewReportedValueSerializer, benchmark, partial=True)
        changed = reported.change_reported(score=score, actor=request.user, **fields)
        return Response(_told([changed], self)[0])

    @extend_schema(summary="Take away a value one reported", tags=TAG, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.SUBMIT)
        reported.remove_reported(scores=[self._own(benchmark, pk)], actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _own(self, benchmark: Benchmark, pk: int) -> ReportedScore:
        """The value, if the caller may change it."""
        score = get_object_or_404(ReportedScore, benchmark=benchmark, pk=pk)
        keeps = may(self.request.user, Action.EDIT, benchmark)
        if not may_change_reported(self.request.user, score, keeps=keeps):
            raise PermissionDenied
        return score


of_benchmark = [
    path("reported/", ReportedList.as_view(), name="reported-list"),
    path("reported/<int:pk>/", ReportedDetail.as_view(), name="reported-detail"),
]
