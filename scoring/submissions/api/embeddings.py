"""The endpoint of submitted embeddings; what becomes of one is asked as of any submission."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.parameters import api_field
from benchmarks_app.permissions import Action
from benchwright.recipes import submissions
from benchwright.retrieval.dense.bundles import Settings
from benchwright.retrieval.dense.embeddings import SIMILARITIES
from benchwright.runs.facts import checked
from scoring.scores.services.errors import SubmittedBeforeError
from scoring.submissions.api.submissions import (
    TAG,
    SubmissionCreateSerializer,
    SubmissionDetailSerializer,
    SubmissionList,
    team_named,
)
from scoring.submissions.services import submitting
from scoring.submissions.services.embedding_submitting import EmbeddingFiles, submit_embeddings

FILES = ("query_embeddings", "document_embeddings", "query_ids", "document_ids")


class EmbeddingCreateSerializer(SubmissionCreateSerializer):
    """Vectors of queries and documents, how they are searched, and what is said of the system.

    A file of vectors is .npy (then its ids are a file too, one a line), .npz with `ids` and
    `vectors`, or Parquet with `id` and `vector`. `approximate` is the run of an approximate index
    with the same vectors: a submission of its own. The rest is as for a run.
    """

    file = None
    query_embeddings = serializers.FileField(allow_empty_file=True)
    document_embeddings = serializers.FileField(allow_empty_file=True)
    query_ids = serializers.FileField(required=False, allow_empty_file=True, default=None)
    document_ids = serializers.FileField(required=False, allow_empty_file=True, default=None)
    approximate = serializers.FileField(required=False, allow_empty_file=True, default=None)
    similarity = serializers.ChoiceField(
        choices=[(name, name) for name in SIMILARITIES], required=False, default="cosine"
    )
    depth = api_field(submissions.DEPTH)


class SubmissionEmbeddings(SubmissionList):
    http_method_names = ["post", "options"]
    serializer_class = SubmissionDetailSerializer

    @extend_schema(
        summary="Submit embeddings, which are searched exactly; the same again changes nothing",
        tags=TAG,
        request={"multipart/form-data": EmbeddingCreateSerializer},
        responses={201: SubmissionDetailSerializer, 200: SubmissionDetailSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SUBMIT)
        fields = self.validated(EmbeddingCreateSerializer)
        phase = submitting.phase_open_in(benchmark, fields.pop("phase"))
        try:
            submission = submit_embeddings(
                phase=phase, user=request.user, **_arguments(fields, request)
            )
        except SubmittedBeforeError as error:
            return self.told(self.again(error.submission.pk))
        return self.told(submission, status.HTTP_201_CREATED)


def _arguments(fields: dict[str, Any], request: Request) -> dict[str, Any]:
    files = EmbeddingFiles(**{name: fields.pop(name) for name in FILES})
    how = Settings(fields.pop("similarity"), fields.pop("depth"))
    fields["team"] = team_named(request.user, fields["team"])
    fields["metadata"] = checked(fields["metadata"])
    return {**fields, "files": files, "how": how}


of_benchmark = [
    path("submissions/embeddings/", SubmissionEmbeddings.as_view(), name="submission-embeddings"),
]
