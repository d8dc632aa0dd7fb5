"""The endpoint that grades a log of clicks."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.api.throttling import UPLOADS
from benchmarks_app.clicks.services import Asked, forget_logs, receive_logs, start_grading
from benchmarks_app.permissions import Action
from benchwright.clicks.columns import parts_of, read_columns
from benchwright.errors import BenchmarkError
from benchwright.recipes import clicks as recipe


class LogSerializer(serializers.Serializer):
    """A log, or UBI's queries with its events, and what its columns are called."""

    log = serializers.FileField()
    events = serializers.FileField(required=False)
    columns = serializers.CharField(
        max_length=1000,
        required=False,
        default="",
        allow_blank=True,
        help_text="Where names do not tell: role=name, commas between.",
    )
    actions = serializers.CharField(
        max_length=500,
        required=False,
        default="",
        allow_blank=True,
        help_text="Which actions of UBI's events are clicks, commas between.",
    )

    def validate_columns(self, text: str) -> dict[str, str]:
        return dict(_read(lambda text: read_columns(parts_of(text)), text))

    def validate_actions(self, text: str) -> tuple[str, ...]:
        return parts_of(text)


class ClickLogSerializer(LogSerializer):
    """A log to be graded; docs/clicks.md says what each field does."""

    name = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)
    model = api_field(recipe.MODEL)
    least = api_field(recipe.LEAST)
    cuts = serializers.CharField(
        max_length=200,
        required=False,
        default="",
        allow_blank=True,
        help_text="From which value on the next grade begins, such as 0.5,1,2.",
    )

    def validate_cuts(self, text: str) -> tuple[float, ...]:
        from benchwright.clicks.grading import read_cuts

        return _read(read_cuts, text) if text.strip() else ()


def _read(reader: Any, text: str) -> Any:
    try:
        return reader(text)
    except BenchmarkError as error:
        raise serializers.ValidationError(str(error)) from error


def logs_of(fields: dict[str, Any]) -> list[Any]:
    """The files of a log, taken out of what was sent."""
    return [fields.pop(name) for name in ("log", "events") if name in fields]


class ClickQrels(Endpoint):
    limits = {"POST": UPLOADS}
    serializer_class = ClickLogSerializer
    parser_classes = [MultiPartParser]
    pagination_class = None

    @extend_schema(
        summary="Grade a log of clicks; a job makes a set of qrels, and the log is forgotten",
        tags=["qrels"],
        request={"multipart/form-data": ClickLogSerializer},
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(ClickLogSerializer)
        uploads = receive_logs(benchmark=benchmark, user=request.user, logs=logs_of(fields))
        try:
            job = start_grading(
                benchmark=benchmark, user=request.user, uploads=uploads, options=Asked(**fields)
            )
        except BenchmarkError:
            forget_logs(uploads)
            raise
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


of_benchmark = [path("qrels/clicks/", ClickQrels.as_view(), name="click-qrels")]
