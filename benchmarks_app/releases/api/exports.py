"""Endpoints of exports: the formats of a release, and their files."""

from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.models import Run
from benchmarks_app.permissions import Action
from benchmarks_app.releases.downloads import export_response, published_release, run_response
from benchmarks_app.releases.services import exporting
from benchwright.exports import exporter_of

ZIP = {(status, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY) for status in (200, 206)}


class ExportFormatSerializer(serializers.Serializer):
    """A format of a release: what it is, what of the release it cannot carry."""

    name = serializers.CharField(source="exporter.name")
    label = serializers.CharField(source="exporter.label")
    about = serializers.CharField(source="exporter.about")
    loses = serializers.ListField(child=serializers.CharField())
    is_possible = serializers.BooleanField()
    is_ready = serializers.SerializerMethodField(
        help_text="Whether it can be downloaded now; if not, POST to its address makes it."
    )
    file = serializers.SerializerMethodField()

    def get_is_ready(self, offer: exporting.Offer) -> bool:
        return offer.is_possible and not offer.needs_preparing

    def get_file(self, offer: exporting.Offer) -> str:
        return f"{offer.stem}.zip"


class ExportList(Endpoint):
    serializer_class = ExportFormatSerializer
    pagination_class = None

    @extend_schema(
        summary="The formats of a release, and what each loses",
        tags=["releases"],
        responses=ExportFormatSerializer(many=True),
    )
    def get(self, request: Request, slug: str, version: str) -> Response:
        release = published_release(self.benchmark_for(Action.SEE_RESULTS), version)
        return Response(ExportFormatSerializer(exporting.offers(release), many=True).data)


class ExportDetail(Endpoint):
    limits = {"POST": COMPUTATIONS}
    refusals = {"GET": (409, 416, 422)}
    serializer_class = JobSerializer
    pagination_class = None

    @extend_schema(
        summary="A release as a zip of one format",
        description=(
            "409 export-not-ready where the release is so large that it is made in the background."
        ),
        tags=["releases"],
        responses=ZIP,
    )
    def get(self, request: Request, slug: str, version: str, export: str) -> HttpResponseBase:
        release = published_release(self.benchmark_for(Action.SEE_RESULTS), version)
        return export_response(request, release, exporter_of(export))

    @extend_schema(
        summary="Make an export in the background",
        tags=["releases"],
        request=None,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str, version: str, export: str) -> Response:
        release = published_release(self.benchmark_for(Action.EDIT), version)
        job = exporting.start_export(user=request.user, release=release, format=export)
        return Response(JobSerializer(job).data, status=202)


class RunExport(Endpoint):
    refusals = {"GET": (416,)}
    pagination_class = None

    @extend_schema(
        summary="A run in TREC's form, with what is known of the system",
        tags=["runs"],
        responses=ZIP,
    )
    def get(self, request: Request, slug: str, pk: int) -> HttpResponseBase:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        run = get_object_or_404(Run.objects.visible_to(request.user), benchmark=benchmark, pk=pk)
        return run_response(request, run)


of_benchmark = [
    path("releases/<str:version>/exports/", ExportList.as_view(), name="export-list"),
    path(
        "releases/<str:version>/exports/<slug:export>/",
        ExportDetail.as_view(),
        name="export-detail",
    ),
    path("runs/<int:pk>/export/", RunExport.as_view(), name="run-export"),
]
