"""Endpoints of releases: drafts, what was found in them, publishing, reading, deprecating."""

from typing import Any

from django.http import Http404, HttpResponseBase
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint, qrels_asked
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.models import Benchmark, Release
from benchmarks_app.permissions import Action, may
from benchmarks_app.releases.downloads import KINDS, TSV, file_response, published_release
from benchmarks_app.releases.services.drafting import (
    change_draft,
    create_draft,
    delete_draft,
    draft_options,
    publish_draft,
    start_check,
)
from benchmarks_app.releases.services.releasing import deprecate_release
from benchwright.exports import EXPORTERS
from benchwright.releases.options import ReleaseOptions
from benchwright.releases.source import public_manifest


class FindingSerializer(serializers.Serializer):
    """One thing found: an error stops publishing, a warning has to be accepted, a note is said."""

    code = serializers.CharField()
    severity = serializers.ChoiceField(["error", "warning", "note"])
    target = serializers.CharField()
    where = serializers.CharField()
    message = serializers.CharField()
    advice = serializers.CharField()
    n = serializers.IntegerField()


class ReleaseSummarySerializer(serializers.ModelSerializer):
    version = serializers.CharField(read_only=True)
    qrels = serializers.CharField(source="qrel_set.name", read_only=True)
    successor = serializers.CharField(source="successor.version", read_only=True, allow_null=True)

    class Meta:
        model = Release
        fields = [
            "id",
            "version",
            "state",
            "qrels",
            "notes",
            "content_sha256",
            "published_at",
            "deprecated_at",
            "deprecated_reason",
            "successor",
        ]


class ReleaseDetailSerializer(ReleaseSummarySerializer):
    """A release with its manifest; of hidden splits nothing but their queries is in it."""

    parent = serializers.CharField(source="parent.version", read_only=True, allow_null=True)
    findings = FindingSerializer(many=True, read_only=True)
    label_diff = serializers.JSONField(read_only=True)
    manifest = serializers.SerializerMethodField()
    options = serializers.SerializerMethodField()
    hidden_splits = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta(ReleaseSummarySerializer.Meta):
        fields = [
            *ReleaseSummarySerializer.Meta.fields,
            "parent",
            "step",
            "hidden_splits",
            "options",
            "findings",
            "label_diff",
            "manifest",
        ]

    def get_manifest(self, release: Release) -> dict[str, Any]:
        return public_manifest(release.manifest)

    def get_options(self, release: Release) -> dict[str, Any]:
        return ReleaseOptions.from_json(release.options).as_json()


class DraftSerializer(serializers.Serializer):
    """What a draft is to become; what is left out stays, in a new one as in the newest release."""

    qrels = serializers.CharField(help_text="Name of a set of qrels.")
    version = serializers.CharField(
        required=False, allow_blank=True, help_text="Empty: it follows from what changed."
    )
    notes = serializers.CharField(required=False, allow_blank=True)
    description = serializers.CharField(required=False, allow_blank=True)
    licence = serializers.CharField(required=False, allow_blank=True, max_length=120)
    citation = serializers.CharField(required=False, allow_blank=True)
    threshold = serializers.IntegerField(
        min_value=-(2**15), max_value=2**15 - 1, required=False, allow_null=True
    )
    drops_all_zero = serializers.BooleanField(required=False)
    passes_on_texts = serializers.BooleanField(required=False)
    left_out = serializers.MultipleChoiceField(
        choices=list(EXPORTERS), required=False, help_text="Formats that it is not given in."
    )
    measures = serializers.ListField(
        child=serializers.CharField(max_length=80),
        required=False,
        max_length=40,
        help_text="Measures whose means all see of hidden splits; none: those of every board.",
    )
    machine_labels = serializers.ListField(
        child=serializers.CharField(max_length=120),
        required=False,
        max_length=20,
        help_text="Sets of kind `machine` that lie beside the grades, in machine_labels.tsv.",
    )


class AcceptedSerializer(serializers.Serializer):
    accepted = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Codes of the warnings that were read; each there is must be among them.",
    )


class DeprecationSerializer(serializers.Serializer):
    reason = serializers.CharField()
    successor = serializers.CharField(required=False, help_text="A version to use instead.")


def _arguments(
    benchmark: Benchmark, fields: dict[str, Any], draft: Release | None
) -> dict[str, Any]:
    """What `create_draft` and `change_draft` take, of what was sent."""
    before = ReleaseOptions.from_json(draft.options) if draft else draft_options(benchmark)
    known_options = before.as_json()
    options = {**known_options, **{name: fields[name] for name in known_options if name in fields}}
    default = draft.qrel_set.name if draft else ""
    version = draft.version if draft and not before.is_version_proposed else ""
    return {
        "qrel_set": qrels_asked(benchmark, fields.get("qrels", default)),
        "version": fields.get("version", version).strip(),
        "notes": fields.get("notes", draft.notes if draft else ""),
        "options": ReleaseOptions.from_json({**options, "left_out": sorted(options["left_out"])}),
    }


class ReleaseList(Endpoint):
    serializer_class = DraftSerializer

    @extend_schema(
        summary="Releases, the newest first; drafts for those who keep the benchmark",
        tags=["releases"],
        responses=ReleaseSummarySerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        rows = benchmark.releases.select_related("qrel_set", "successor").newest_first()
        if not may(request.user, Action.EDIT, benchmark):
            rows = rows.published()
        return self.page_of(rows, ReleaseSummarySerializer)

    @extend_schema(
        summary="Draft a release; a job looks it over",
        tags=["releases"],
        request=DraftSerializer,
        responses={201: ReleaseDetailSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(DraftSerializer)
        draft = create_draft(user=request.user, **_arguments(benchmark, fields, None))
        return Response(ReleaseDetailSerializer(draft).data, status=201)


class ReleaseDetail(Endpoint):
    serializer_class = ReleaseDetailSerializer
    pagination_class = None

    @extend_schema(summary="A published release", tags=["releases"])
    def get(self, request: Request, slug: str, version: str) -> Response:
        release = published_release(self.benchmark_for(Action.SEE_RESULTS), version)
        return Response(ReleaseDetailSerializer(release).data)


class ReleaseFile(Endpoint):
    refusals = {"GET": (416,)}
    pagination_class = None

    @extend_schema(
        summary="One of a release's files, as its manifest names it",
        description=(
            "A download that broke off goes on with `Range: bytes=N-` and the `ETag` as `If-Range`."
        ),
        tags=["releases"],
        responses={
            (status, kind.partition(";")[0]): OpenApiResponse(OpenApiTypes.BINARY)
            for status in (200, 206)
            for kind in (*KINDS.values(), TSV)
        },
    )
    def get(self, request: Request, slug: str, version: str, name: str) -> HttpResponseBase:
        release = published_release(self.benchmark_for(Action.SEE_RESULTS), version)
        return file_response(request, release, name)


class ReleaseDeprecate(Endpoint):
    serializer_class = DeprecationSerializer
    pagination_class = None

    @extend_schema(
        summary="Deprecate a release", tags=["releases"], responses=ReleaseDetailSerializer
    )
    def post(self, request: Request, slug: str, version: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        release = published_release(benchmark, version)
        fields = self.validated(DeprecationSerializer)
        successor = fields.get("successor")
        changed = deprecate_release(
            user=request.user,
            release=release,
            reason=fields["reason"],
            successor=published_release(benchmark, successor) if successor else None,
        )
        return Response(ReleaseDetailSerializer(changed).data)


class DraftEndpoint(Endpoint):
    pagination_class = None

    def draft_of(self, pk: int) -> Release:
        drafts = self.benchmark_for(Action.EDIT).releases.drafts()
        draft = drafts.select_related("qrel_set", "parent", "successor").filter(pk=pk).first()
        if draft is None:
            raise Http404
        return draft


class ReleaseDraft(DraftEndpoint):
    serializer_class = DraftSerializer

    @extend_schema(
        summary="A draft, with what was found when it was last looked over",
        tags=["releases"],
        responses=ReleaseDetailSerializer,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(ReleaseDetailSerializer(self.draft_of(pk)).data)

    @extend_schema(
        summary="Change a draft; a job looks it over again",
        tags=["releases"],
        request=DraftSerializer,
        responses=ReleaseDetailSerializer,
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        draft = self.draft_of(pk)
        serializer = DraftSerializer(data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        arguments = _arguments(draft.benchmark, serializer.validated_data, draft)
        changed = change_draft(user=request.user, draft=draft, **arguments)
        return Response(ReleaseDetailSerializer(changed).data)

    @extend_schema(summary="Throw a draft away", tags=["releases"], responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        delete_draft(user=request.user, draft=self.draft_of(pk))
        return Response(status=204)


class ReleaseDraftCheck(DraftEndpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = JobSerializer

    @extend_schema(
        summary="Look a draft over again",
        tags=["releases"],
        request=None,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        job = start_check(draft=self.draft_of(pk), user=request.user)
        return Response(JobSerializer(job).data, status=202)


class ReleaseDraftPublish(DraftEndpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = AcceptedSerializer

    @extend_schema(
        summary="Publish a draft",
        description="409 release-refused with errors, release-warnings with those not accepted.",
        tags=["releases"],
        request=AcceptedSerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        draft = self.draft_of(pk)
        accepted = self.validated(AcceptedSerializer).get("accepted", [])
        job = publish_draft(user=request.user, draft=draft, accepted=accepted)
        return Response(JobSerializer(job).data, status=202)


of_benchmark = [
    path("releases/", ReleaseList.as_view(), name="release-list"),
    path("releases/drafts/<int:pk>/", ReleaseDraft.as_view(), name="release-draft"),
    path(
        "releases/drafts/<int:pk>/check/", ReleaseDraftCheck.as_view(), name="release-draft-check"
    ),
    path(
        "releases/drafts/<int:pk>/publish/",
        ReleaseDraftPublish.as_view(),
        name="release-draft-publish",
    ),
    path("releases/<str:version>/", ReleaseDetail.as_view(), name="release-detail"),
    path("releases/<str:version>/files/<path:name>", ReleaseFile.as_view(), name="release-file"),
    path("releases/<str:version>/deprecate/", ReleaseDeprecate.as_view(), name="release-deprecate"),
]
