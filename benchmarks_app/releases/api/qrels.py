"""Endpoints of sets of qrels."""

from typing import Any

from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import QrelMapSerializer, QrelSetSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, QrelSet
from benchmarks_app.permissions import Action
from benchmarks_app.releases.downloads import qrels_response
from benchmarks_app.releases.services.qrel_sets import delete_qrels, map_qrels


class QrelsDetail(Endpoint):
    serializer_class = QrelSetSerializer
    pagination_class = None

    @extend_schema(summary="A set of qrels", tags=["qrels"])
    def get(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        return Response(QrelSetSerializer(ready_set(benchmark, pk)).data)

    @extend_schema(
        summary="Delete a set of qrels that no release uses", tags=["qrels"], responses={204: None}
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        delete_qrels(qrel_set=ready_set(benchmark, pk), actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class QrelsMap(Endpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = QrelMapSerializer
    pagination_class = None

    @extend_schema(
        summary="Map an imported set to other grades, as a new set",
        tags=["qrels"],
        responses={201: QrelSetSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        qrel_set = ready_set(benchmark, pk)
        data = self.validated(QrelMapSerializer)
        mapped = map_qrels(qrel_set=qrel_set, actor=request.user, **data)
        return Response(QrelSetSerializer(mapped).data, status=status.HTTP_201_CREATED)


class QrelsDownload(Endpoint):
    refusals = {"GET": (416,)}
    pagination_class = None

    @extend_schema(
        summary="The grades of a set as TREC qrels",
        tags=["qrels"],
        responses={
            (status, "text/plain"): OpenApiResponse(OpenApiTypes.STR) for status in (200, 206)
        },
    )
    def get(self, request: Request, slug: str, pk: int) -> HttpResponseBase:
        benchmark = self.benchmark_for(Action.EDIT)
        qrel_set = ready_set(benchmark, pk)
        audit.record(
            actor=request.user, action="download-qrels", benchmark=benchmark, target=qrel_set.name
        )
        return qrels_response(request, qrel_set)


def ready_set(benchmark: Benchmark, pk: Any) -> QrelSet:
    return get_object_or_404(QrelSet.objects.ready(), benchmark=benchmark, pk=pk)
