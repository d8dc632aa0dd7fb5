"""Endpoints of slices."""

from typing import Any

from django.db import transaction
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS, UPLOADS
from benchmarks_app.collections.services import uploading
from benchmarks_app.models import Benchmark, Job, Scope, Slice, SliceMember
from benchmarks_app.permissions import Action, may
from benchmarks_app.slices import selectors
from benchmarks_app.slices.services import changes, importing_slices, members, rules, slicing
from benchwright.recipes import collections as recipe

TAG = ["slices"]


class ReachSerializer(serializers.Serializer):
    """What so many queries can show; `detectable` is the smallest visible difference."""

    n = serializers.IntegerField()
    n_families = serializers.IntegerField()
    n_effective = serializers.FloatField()
    sigma = serializers.FloatField()
    is_assumed = serializers.BooleanField()
    detectable = serializers.FloatField(allow_null=True)
    powers = serializers.DictField(child=serializers.FloatField())
    n_for_hundredth = serializers.IntegerField()
    n_for_gate = serializers.IntegerField()


class SliceSerializer(serializers.ModelSerializer):
    """A slice with its size; `reach` is null for an empty one."""

    rule = serializers.JSONField(read_only=True)
    n_members = serializers.IntegerField(read_only=True)
    n_suggested = serializers.IntegerField(read_only=True)
    reach = ReachSerializer(read_only=True, allow_null=True)

    class Meta:
        model = Slice
        fields = [
            "name",
            "kind",
            "description",
            "rule",
            "minimum",
            "is_registered",
            "registered_at",
            "members_sha256",
            "n_results_before",
            "n_members",
            "n_suggested",
            "reach",
        ]


class NewSliceSerializer(serializers.Serializer):
    """A slice by a `rule`, or by hand of the queries that `qids` names."""

    name = serializers.CharField(max_length=120)
    description = serializers.CharField(required=False, default="", allow_blank=True)
    minimum = api_field(recipe.MINIMUM)
    rule = serializers.DictField(required=False)
    qids = serializers.ListField(child=serializers.CharField(), required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("rule" in attrs) == ("qids" in attrs):
            why = "Give a rule, or query ids: one of the two."
            raise serializers.ValidationError(why)
        return attrs


class SliceChangeSerializer(serializers.Serializer):
    """What is left out stays; a new `rule` is applied at once."""

    name = serializers.CharField(max_length=120, required=False)
    description = serializers.CharField(required=False, allow_blank=True)
    minimum = api_field(recipe.MINIMUM, required=False)
    rule = serializers.DictField(required=False)


class RuleSerializer(serializers.Serializer):
    rule = serializers.DictField()


class PreviewRowSerializer(serializers.Serializer):
    query = serializers.CharField()
    text = serializers.CharField()
    reason = serializers.CharField()


class SlicePreviewSerializer(serializers.Serializer):
    """What a rule would take, with some of the queries."""

    n_taken = serializers.IntegerField()
    n_looked_at = serializers.IntegerField()
    n_queries = serializers.IntegerField()
    is_suggestion = serializers.BooleanField()
    notes = serializers.ListField(child=serializers.CharField())
    rows = PreviewRowSerializer(many=True)


class SliceMemberSerializer(serializers.ModelSerializer):
    """A query of a slice; `reason` is empty for who may not know what was graded."""

    query = serializers.CharField(source="query.qid", read_only=True)
    reason = serializers.SerializerMethodField()

    class Meta:
        model = SliceMember
        fields = ["query", "source", "state", "reason"]

    def get_reason(self, member: SliceMember) -> str:
        return member.reason if self.context.get("has_reasons") else ""


class SliceDecisionSerializer(serializers.Serializer):
    """`confirm` or `reject` the queries named, or every suggestion where none are."""

    verdict = serializers.ChoiceField([members.CONFIRM, members.REJECT])
    queries = serializers.ListField(child=serializers.CharField(), required=False)


class QueryIdsSerializer(serializers.Serializer):
    queries = serializers.ListField(child=serializers.CharField(), allow_empty=False)


class CountSerializer(serializers.Serializer):
    n = serializers.IntegerField()


class SliceFileSerializer(serializers.Serializer):
    file = serializers.FileField()


def _slice(benchmark: Benchmark, name: str) -> Slice:
    row = get_object_or_404(Slice, benchmark=benchmark, name=name)
    row.benchmark = benchmark
    return row


def _shown(of: Slice) -> dict[str, Any]:
    row = selectors.slice_rows(of.benchmark, has_density=False, only=of)[0]
    return SliceSerializer(_with_reach(row)).data


def _with_reach(row: selectors.SliceRow) -> Slice:
    vars(row.slice).update(reach=row.reach)
    return row.slice


def _answer(outcome: Slice | Job, created: int = status.HTTP_201_CREATED) -> Response:
    """A slice as it is now, or the job that makes it."""
    if isinstance(outcome, Job):
        return Response(JobSerializer(outcome).data, status=status.HTTP_202_ACCEPTED)
    return Response(_shown(outcome), status=created)


class SliceList(Endpoint):
    serializer_class = SliceSerializer

    @extend_schema(
        summary="The slices of a benchmark", tags=TAG, responses=SliceSerializer(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        rows = selectors.slice_rows(benchmark, has_density=False)
        return self.page_of([_with_reach(row) for row in rows], SliceSerializer)

    @extend_schema(
        summary="Make a slice, by a rule or by hand",
        tags=TAG,
        request=NewSliceSerializer,
        responses={201: SliceSerializer, 202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        data = self.validated(NewSliceSerializer)
        shared = {"description": data["description"], "minimum": data["minimum"]}
        if "qids" in data:
            outcome: Slice | Job = members.make_hand_slice(
                benchmark=benchmark,
                name=data["name"],
                qids=data["qids"],
                actor=request.user,
                **shared,
            )
        else:
            wanted = slicing.Wanted(data["name"], data["rule"], **shared)
            outcome = slicing.start_slice(benchmark=benchmark, wanted=wanted, actor=request.user)
        return _answer(outcome)


class SlicePreview(Endpoint):
    limits = {"POST": COMPUTATIONS}
    scopes = {"POST": Scope.READ}
    serializer_class = SlicePreviewSerializer
    pagination_class = None

    @extend_schema(
        summary="What a rule would take",
        tags=TAG,
        request=RuleSerializer,
        responses=SlicePreviewSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        preview = rules.preview_rule(benchmark, self.validated(RuleSerializer)["rule"])
        rows = [
            {"query": query.qid, "text": query.text, "reason": str(reason)}
            for query, reason in preview.rows
        ]
        body = {
            "n_taken": preview.n_taken,
            "n_looked_at": preview.n_looked_at,
            "n_queries": preview.n_queries,
            "is_suggestion": preview.is_suggestion,
            "notes": preview.notes,
            "rows": rows,
        }
        return Response(SlicePreviewSerializer(body).data)


class SliceImport(Endpoint):
    limits = {"POST": UPLOADS}
    serializer_class = SliceFileSerializer
    pagination_class = None
    parser_classes = [MultiPartParser]

    @extend_schema(
        summary="Import a file of slices: query-id, tab, slice",
        tags=TAG,
        request={"multipart/form-data": SliceFileSerializer},
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        file = self.validated(SliceFileSerializer)["file"]
        upload = uploading.receive_upload(benchmark=benchmark, owner=request.user, file=file)
        job = importing_slices.start_import(benchmark=benchmark, user=request.user, upload=upload)
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class SliceDetail(Endpoint):
    serializer_class = SliceSerializer
    pagination_class = None

    @extend_schema(summary="A slice, its size and what it can show", tags=TAG)
    def get(self, request: Request, slug: str, slice_name: str) -> Response:
        return Response(_shown(_slice(self.benchmark_for(Action.VIEW), slice_name)))

    @extend_schema(
        summary="Change a slice's name, description, minimum or rule",
        tags=TAG,
        request=SliceChangeSerializer,
        responses={200: SliceSerializer, 202: JobSerializer},
    )
    def patch(self, request: Request, slug: str, slice_name: str) -> Response:
        row = _slice(self.benchmark_for(Action.EDIT), slice_name)
        data = self.validated(SliceChangeSerializer)
        with transaction.atomic():
            changed = changes.change_slice(
                of=row,
                actor=request.user,
                name=data.get("name", row.name),
                description=data.get("description", row.description),
                minimum=data.get("minimum", row.minimum),
            )
            job = None
            if "rule" in data:
                job = slicing.start_refresh(of=changed, actor=request.user, rule=data["rule"])
        return _answer(job or changed, status.HTTP_200_OK)

    @extend_schema(summary="Delete a slice; its queries stay", tags=TAG, responses={204: None})
    def delete(self, request: Request, slug: str, slice_name: str) -> Response:
        row = _slice(self.benchmark_for(Action.EDIT), slice_name)
        changes.delete_slice(of=row, actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SliceMembers(Endpoint):
    serializer_class = SliceMemberSerializer

    @extend_schema(
        summary="The queries of a slice; suggestions and rejected ones for who keeps it",
        tags=TAG,
        parameters=[OpenApiParameter("state", enum=SliceMember.State.values, default="member")],
        responses=SliceMemberSerializer(many=True),
    )
    def get(self, request: Request, slug: str, slice_name: str) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        may_edit = may(request.user, Action.EDIT, benchmark)
        state_asked = self.choice("state", SliceMember.State.values, default="member")
        state = state_asked if may_edit else "member"
        rows = selectors.member_rows(_slice(benchmark, slice_name), state)
        page = self.paginate_queryset(rows)
        members = SliceMemberSerializer(page, many=True, context={"has_reasons": may_edit}).data
        return self.get_paginated_response(members)

    @extend_schema(
        summary="Put queries into a slice by hand",
        tags=TAG,
        request=QueryIdsSerializer,
        responses=CountSerializer,
    )
    def post(self, request: Request, slug: str, slice_name: str) -> Response:
        row = _slice(self.benchmark_for(Action.EDIT), slice_name)
        qids = self.validated(QueryIdsSerializer)["queries"]
        n = members.add_queries(to=row, qids=qids, actor=request.user)
        return Response({"n": n})


class SliceDecide(Endpoint):
    serializer_class = SliceDecisionSerializer
    pagination_class = None

    @extend_schema(
        summary="Confirm or reject suggestions, or take members out",
        tags=TAG,
        request=SliceDecisionSerializer,
        responses=CountSerializer,
    )
    def post(self, request: Request, slug: str, slice_name: str) -> Response:
        row = _slice(self.benchmark_for(Action.EDIT), slice_name)
        data = self.validated(SliceDecisionSerializer)
        keys = None
        if "queries" in data:
            chosen_members = row.members.filter(query__qid__in=data["queries"])
            keys = list(chosen_members.values_list("pk", flat=True))
        n = members.decide_members(
            of=row, actor=request.user, verdict=data["verdict"], members=keys
        )
        return Response({"n": n})


class SliceRegister(Endpoint):
    serializer_class = SliceSerializer
    pagination_class = None

    @extend_schema(
        summary="Register a slice: its members, rule and name stay", tags=TAG, request=None
    )
    def post(self, request: Request, slug: str, slice_name: str) -> Response:
        row = _slice(self.benchmark_for(Action.EDIT), slice_name)
        return Response(_shown(changes.register_slice(of=row, actor=request.user)))


class SliceRefresh(Endpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = SliceSerializer
    pagination_class = None

    @extend_schema(
        summary="Apply a slice's rule again",
        tags=TAG,
        request=None,
        responses={200: SliceSerializer, 202: JobSerializer},
    )
    def post(self, request: Request, slug: str, slice_name: str) -> Response:
        row = _slice(self.benchmark_for(Action.EDIT), slice_name)
        return _answer(slicing.start_refresh(of=row, actor=request.user), status.HTTP_200_OK)


of_benchmark = [
    path("slices/", SliceList.as_view(), name="slice-list"),
    path("slices/preview/", SlicePreview.as_view(), name="slice-preview"),
    path("slices/import/", SliceImport.as_view(), name="slice-import"),
    path("slices/<str:slice_name>/", SliceDetail.as_view(), name="slice-detail"),
    path("slices/<str:slice_name>/queries/", SliceMembers.as_view(), name="slice-members"),
    path("slices/<str:slice_name>/decide/", SliceDecide.as_view(), name="slice-decide"),
    path("slices/<str:slice_name>/register/", SliceRegister.as_view(), name="slice-register"),
    path("slices/<str:slice_name>/refresh/", SliceRefresh.as_view(), name="slice-refresh"),
]
