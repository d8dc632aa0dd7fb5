"""Endpoints of case sets: their import, their cases, their images."""

from typing import Any

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import Id
from benchmarks_app.api.throttling import UPLOADS
from benchmarks_app.collections.services import uploading
from benchmarks_app.judges.selectors import judges_of
from benchmarks_app.permissions import Action
from benchwright.recipes import contextual
from scoring.contextual.selectors import case_sets_of, freshness_of
from scoring.contextual.services.estimates import estimate
from scoring.contextual.services.images import image_response, receive_images
from scoring.contextual.services.importing import delete_case_set, start_import
from scoring.contextual.services.people import ask_people
from scoring.models import CaseImage, CaseSet, CaseSource, ContextualCase

TAG = ["contextual precision"]


class CaseSourceSerializer(serializers.ModelSerializer):
    """The run that cases were made of, and how; `seed` draws the sample again."""

    run_name = serializers.CharField(source="run.name")
    corpus_version = serializers.IntegerField(source="corpus_version.number")
    corpus_sha256 = serializers.CharField(source="corpus_version.sha256")
    slice = serializers.CharField(source="slice_name")

    class Meta:
        model = CaseSource
        fields = (
            *("run", "run_name", "run_sha256", "corpus_version", "corpus_sha256", "depth"),
            *("slice", "n_sample", "seed", "expected", "n_without"),
        )
        read_only_fields = fields


class CaseSetSerializer(serializers.ModelSerializer):
    source = CaseSourceSerializer(read_only=True, allow_null=True)
    is_fresh = serializers.SerializerMethodField()
    n_evaluations = serializers.IntegerField(read_only=True)
    slices = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    notes = serializers.ListField(child=serializers.CharField(), read_only=True)

    def get_is_fresh(self, case_set: CaseSet) -> bool | None:
        """Whether run and corpus are what they were; null for a set of a file."""
        freshness = freshness_of(case_set)
        return freshness.is_fresh if freshness else None

    class Meta:
        model = CaseSet
        fields = [
            "id",
            "name",
            "file_name",
            "sha256",
            "n_cases",
            "n_nodes",
            "n_images",
            "slices",
            "notes",
            "source",
            "is_fresh",
            "n_evaluations",
            "created_at",
        ]


class CaseImageSerializer(serializers.ModelSerializer):
    """An image; `name` is what cases call it."""

    class Meta:
        model = CaseImage
        fields = ["id", "name", "media_type", "width", "height", "size", "sha256"]


class CaseSetDetailSerializer(CaseSetSerializer):
    images = CaseImageSerializer(many=True)

    class Meta:
        model = CaseSet
        fields = [*CaseSetSerializer.Meta.fields, "images"]


class NewCaseSetSerializer(serializers.Serializer):
    """A file of cases, with its images or one zip of them."""

    cases = serializers.FileField()
    images = serializers.ListField(child=serializers.FileField(), required=False)
    name = serializers.CharField(max_length=120, required=False, allow_blank=True)


class AskingSerializer(serializers.Serializer):
    asks_people = serializers.BooleanField()


class StartedJobSerializer(serializers.Serializer):
    """A job; its state is at `jobs/{id}/`."""

    job = serializers.IntegerField(source="pk")
    state = serializers.CharField()


class ContextualCaseSerializer(serializers.ModelSerializer):
    content = serializers.JSONField()
    slices = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = ContextualCase
        fields = ["number", "case_id", "content", "slices", "n_nodes", "n_images"]


class JudgingEstimateSerializer(serializers.Serializer):
    """What judging would take, roughly; `cost` is null where the judge has no prices."""

    n_cases = serializers.IntegerField()
    n_calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)


class JudgingEstimateAskedSerializer(serializers.Serializer):
    judge = Id(required=False)
    slice = serializers.CharField(required=False, default="")
    first = api_field(contextual.FIRST, required=False)
    reasons = serializers.BooleanField(required=False, default=True)


class ContextualSetList(Endpoint):
    serializer_class = CaseSetSerializer
    parser_classes = [MultiPartParser]
    limits = {"POST": UPLOADS}
    refusals = {"POST": (413,)}

    @extend_schema(summary="Case sets", tags=TAG, responses=CaseSetSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        sets = case_sets_of(self.benchmark_for(Action.SEE_RESULTS), request.user)
        return self.page_of(sets, CaseSetSerializer)

    @extend_schema(
        summary="Import a case set, with images or one zip of them",
        tags=TAG,
        request={"multipart/form-data": NewCaseSetSerializer},
        responses={202: StartedJobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields: dict[str, Any] = self.validated(NewCaseSetSerializer)
        user = request.user
        images = receive_images(benchmark=benchmark, owner=user, images=fields.get("images", []))
        cases = uploading.receive_upload(benchmark=benchmark, owner=user, file=fields["cases"])
        name = fields.get("name", "")
        job = start_import(benchmark=benchmark, user=user, name=name, cases=cases, images=images)
        return Response(StartedJobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class OfSet(Endpoint):
    def case_set(self, action: Action = Action.SEE_RESULTS) -> CaseSet:
        sets = case_sets_of(self.benchmark_for(action), self.request.user)
        return get_object_or_404(sets, pk=self.kwargs["pk"])


class ContextualSetDetail(OfSet):
    serializer_class = CaseSetDetailSerializer
    pagination_class = None

    @extend_schema(summary="A case set", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(CaseSetDetailSerializer(self.case_set()).data)

    @extend_schema(
        summary="Ask people for verdicts on a case set, or no longer",
        tags=TAG,
        request=AskingSerializer,
        responses=CaseSetDetailSerializer,
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        case_set = self.case_set(Action.EDIT)
        is_asked = self.validated(AskingSerializer)["asks_people"]
        ask_people(case_set=case_set, user=request.user, is_asked=is_asked)
        return Response(CaseSetDetailSerializer(self.case_set()).data)

    @extend_schema(
        summary="Delete a case set with its images and evaluations",
        tags=TAG,
        responses={204: None},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        delete_case_set(case_set=self.case_set(Action.EDIT), user=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ContextualSetCases(OfSet):
    serializer_class = ContextualCaseSerializer

    @extend_schema(
        summary="The cases of a set", tags=TAG, responses=ContextualCaseSerializer(many=True)
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        cases = self.case_set().cases.order_by("number")
        return self.page_of(cases, ContextualCaseSerializer)


class ContextualSetImage(OfSet):
    pagination_class = None

    @extend_schema(
        summary="An image of a case",
        tags=TAG,
        responses={(200, "image/*"): bytes},
    )
    def get(self, request: Request, slug: str, pk: int, image: int) -> HttpResponseBase:
        images = CaseImage.objects.filter(case_set=self.case_set())
        return image_response(get_object_or_404(images, pk=image))


class ContextualSetEstimate(OfSet):
    serializer_class = JudgingEstimateSerializer
    pagination_class = None
    refusals = {"GET": (422,)}

    @extend_schema(
        summary="What judging a set would take",
        tags=TAG,
        parameters=[JudgingEstimateAskedSerializer],
        responses=JudgingEstimateSerializer,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        case_set = self.case_set(Action.EDIT)
        serializer = JudgingEstimateAskedSerializer(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        fields = serializer.validated_data
        judges = judges_of(case_set.benchmark)
        costs = estimate(
            case_set,
            get_object_or_404(judges, pk=fields["judge"]) if "judge" in fields else None,
            has_reasons=fields["reasons"],
            only_slice=fields["slice"],
            only_first=fields.get("first"),
        )
        return Response(JudgingEstimateSerializer(costs).data)


of_benchmark = [
    path("contextual/sets/", ContextualSetList.as_view(), name="contextual-set-list"),
    path("contextual/sets/<int:pk>/", ContextualSetDetail.as_view(), name="contextual-set-detail"),
    path(
        "contextual/sets/<int:pk>/cases/",
        ContextualSetCases.as_view(),
        name="contextual-set-cases",
    ),
    path(
        "contextual/sets/<int:pk>/images/<int:image>/",
        ContextualSetImage.as_view(),
        name="contextual-set-image",
    ),
    path(
        "contextual/sets/<int:pk>/estimate/",
        ContextualSetEstimate.as_view(),
        name="contextual-set-estimate",
    ),
]
