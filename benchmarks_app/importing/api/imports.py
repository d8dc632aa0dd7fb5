"""Endpoints of imports: files put down, looked at, imported."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import Id, JobSerializer, ProblemSerializer
from benchmarks_app.api.throttling import COMPUTATIONS, UPLOADS
from benchmarks_app.collections.selectors import waiting_uploads
from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.services.importing import LEAVE_OUT, start_import
from benchmarks_app.importing.services.previewing_uploads import (
    Preview,
    lacking,
    preview,
    unknown_ids,
)
from benchmarks_app.importing.services.reading_uploads import begin_reading, is_read_at_once
from benchmarks_app.models import Benchmark, QrelSet, Upload
from benchmarks_app.permissions import Action
from benchwright.corpora.cuts import LARGEST_SEED
from benchwright.corpora.units import Parents
from benchwright.detection import FileKind, Part
from benchwright.formats.mapping import EVERY_ROW
from benchwright.formats.numbers import LONGEST_LANGUAGE, words_sentence
from benchwright.recipes import collections
from benchwright.runs.aggregation import DEFAULT
from benchwright.uploads import Look

KINDS = [kind.value for kind in FileKind]
# What is said of the corpus in it.
OF_CORPUS = ("max_docs", "seed", "take", "snapshot_date", "parents")


class UploadSerializer(serializers.ModelSerializer):
    """A file that waits to be imported."""

    class Meta:
        model = Upload
        fields = ["id", "name", "size", "sha256", "created_at"]


class UploadCreateSerializer(serializers.Serializer):
    file = serializers.FileField()


class LookSerializer(serializers.Serializer):
    """One file of an upload as it would be read: its kind, its columns, its first rows."""

    name = serializers.CharField()
    kind = serializers.CharField(source="part.kind", allow_null=True)
    mapping = serializers.DictField(source="part.mapping", child=serializers.CharField())
    split = serializers.CharField(source="part.split")
    lang = serializers.CharField(source="part.lang")
    note = serializers.CharField(source="part.note")
    columns = serializers.ListField(child=serializers.CharField())
    headings = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    grades = serializers.SerializerMethodField()
    problems = ProblemSerializer(many=True)
    n_bad = serializers.IntegerField(help_text="How many records cannot be taken.")
    error = serializers.CharField()
    is_ready = serializers.BooleanField()

    def get_grades(self, look: Look) -> dict[str, int]:
        return {str(grade): n for grade, n in look.grades_in_order}


class UploadPreviewSerializer(serializers.Serializer):
    """An upload as it would be imported; `error` is what keeps it from being read."""

    upload = UploadSerializer()
    is_collection = serializers.BooleanField()
    is_ready = serializers.BooleanField(help_text="Read to its end, with nothing wrong in it.")
    bad_records = ProblemSerializer(
        many=True, help_text="What reading it to its end has found, the first of each file."
    )
    error = serializers.CharField()
    n_graded = serializers.IntegerField(source="relevance.n_graded")
    n_relevant = serializers.IntegerField(
        source="relevance.n_relevant",
        help_text="Grades that count as relevant on the benchmark's scale as they are: of none, "
        "every score would be 0. Map them by `grade_map`.",
    )
    warnings = serializers.SerializerMethodField()
    files = LookSerializer(source="looks", many=True)

    def get_warnings(self, preview: Preview) -> list[str]:
        upload = preview.upload
        of_grades = [preview.relevance.sentence] if preview.relevance.is_none else []
        of_grades += [words_sentence(preview.words)] if preview.words else []
        return [*of_grades, *unknown_ids(upload, lacking(upload.benchmark, [upload]))]


class ImportPartSerializer(serializers.Serializer):
    """What one file of a collection is; `kind` null leaves it out."""

    member = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS, allow_null=True)
    mapping = serializers.DictField(child=serializers.CharField(), required=False)
    split = serializers.CharField(required=False, allow_blank=True)
    lang = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_LANGUAGE)
    header = serializers.BooleanField(required=False, allow_null=True)


class ImportStartSerializer(serializers.Serializer):
    """What is said of the file; all that is left out, its content tells."""

    kind = serializers.ChoiceField(choices=["auto", *KINDS], default="auto")
    mapping = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="Field to column. Where qrels have no grades: "
        f'{{"grade": "{EVERY_ROW}"}} gives each row the grade 1.',
    )
    header = serializers.BooleanField(required=False, allow_null=True, default=None)
    lang = serializers.CharField(
        required=False, allow_blank=True, max_length=LONGEST_LANGUAGE, default=""
    )
    split = serializers.CharField(required=False, allow_blank=True, default="")
    name = serializers.CharField(required=False, allow_blank=True, max_length=120, default="")
    grade_map = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text="What the grades of the file are here, such as 1=2, 0=0. Grades that are words "
        "must be mapped: E=3, S=2, C=1, I=0.",
    )
    leave_out = serializers.ChoiceField(
        choices=LEAVE_OUT,
        required=False,
        allow_blank=True,
        default="",
        help_text="What of a bad file is left out, named and counted: nothing, bad records, files.",
    )
    n_agreed = api_field(collections.AGREED)
    shown_metadata = serializers.ListField(
        child=serializers.CharField(max_length=120), required=False
    )
    max_docs = Id(required=False, allow_null=True, default=None)
    seed = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="Of the draw of documents that `max_docs` leaves room for.",
    )
    take = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Take a corpus that differs from the one there is at once, without a look at it.",
    )
    snapshot_date = serializers.DateField(
        required=False, allow_null=True, default=None, help_text="As of when the corpus is."
    )
    parents = serializers.ChoiceField(
        choices=[parent.value for parent in Parents],
        required=False,
        default=Parents.STATED.value,
        help_text="Where passages say their document: stated in a column, or ids such as X#Y.",
    )
    aggregation = serializers.CharField(required=False, default=DEFAULT)
    unlisted = serializers.ChoiceField(
        choices=QrelSet.Unlisted.choices,
        required=False,
        help_text="What documents are that the qrels do not list; left out, what an export of ours "
        "says, or unknown.",
    )
    machine = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Whether a machine gave the grades; left out: if the set has a model's name.",
    )
    parts = ImportPartSerializer(many=True, required=False, allow_empty=False)


def waiting_upload(benchmark: Benchmark, pk: Any) -> Upload:
    rows = benchmark.uploads.filter(is_waiting=True).select_related("benchmark__corpus")
    return get_object_or_404(rows, pk=pk)


class UploadList(Endpoint):
    limits = {"POST": UPLOADS}
    serializer_class = UploadSerializer
    parser_classes = [MultiPartParser]

    @extend_schema(
        summary="Files that wait to be imported",
        tags=["imports"],
        responses=UploadSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        return self.page_of(waiting_uploads(benchmark), UploadSerializer)

    @extend_schema(
        summary="Put a file down, to be looked at and imported",
        tags=["imports"],
        request={"multipart/form-data": UploadCreateSerializer},
        responses={201: UploadSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        file = self.validated(UploadCreateSerializer)["file"]
        (upload,) = uploading.put_down(benchmark=benchmark, owner=request.user, files=[file])
        begin_reading(upload, request.user)
        return Response(UploadSerializer(upload).data, status=status.HTTP_201_CREATED)


class UploadDetail(Endpoint):
    serializer_class = UploadPreviewSerializer
    pagination_class = None

    @extend_schema(
        summary="What a file is, and its first rows",
        tags=["imports"],
        parameters=[OpenApiParameter("kind", str, enum=KINDS, description="Read it as this kind.")],
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        upload = waiting_upload(self.benchmark_for(Action.EDIT), pk)
        kind = self.choice("kind", KINDS)
        parts = [Part("", FileKind(kind))] if kind else None
        upload_preview = preview(upload, parts, is_whole=is_read_at_once(upload))
        return Response(UploadPreviewSerializer(upload_preview).data)

    @extend_schema(summary="Take a waiting file away", tags=["imports"], responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        uploading.take_away(waiting_upload(self.benchmark_for(Action.EDIT), pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class UploadImport(Endpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = ImportStartSerializer
    pagination_class = None

    @extend_schema(
        summary="Import a waiting file, as a job",
        tags=["imports"],
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        upload = waiting_upload(benchmark, pk)
        data = self.validated(ImportStartSerializer)
        parts = data.pop("parts", None)
        job = start_import(
            benchmark=benchmark,
            user=request.user,
            upload=upload,
            has_header=data.pop("header"),
            corpus={name: data.pop(name) for name in OF_CORPUS},
            parts=None if parts is None else [Part.of_json(part) for part in parts],
            **data,
        )
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


of_benchmark = [
    path("uploads/", UploadList.as_view(), name="upload-list"),
    path("uploads/<int:pk>/", UploadDetail.as_view(), name="upload-detail"),
    path("uploads/<int:pk>/import/", UploadImport.as_view(), name="upload-import"),
]
