"""Endpoints of qrels: the sets there are, and deriving one."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.common.serializers import NewQrelsSerializer
from annotation.labels.services.publishing import publishing_arguments
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import JobSerializer, QrelSetSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import QrelSet
from benchmarks_app.permissions import Action


class QrelsList(Endpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = QrelSetSerializer

    @extend_schema(
        summary="The sets of qrels of a benchmark, the newest first",
        tags=["qrels"],
        responses=QrelSetSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        sets = QrelSet.objects.ready().filter(benchmark=benchmark).order_by("-pk")
        return self.page_of(sets, QrelSetSerializer)

    @extend_schema(
        summary="Derive a set of qrels from the judgments",
        tags=["qrels"],
        request=NewQrelsSerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        settings = self.validated(NewQrelsSerializer)
        with transaction.atomic():
            arguments = publishing_arguments(benchmark=benchmark, **settings)
            job = jobs.start(benchmark=benchmark, user=request.user, **arguments)
        return Response(JobSerializer(job).data, status=202)
