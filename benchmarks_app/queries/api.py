"""Endpoints of queries, documents, and of draws of families."""

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.common.selectors.reading import benchmark_documents, passages_of
from benchmarks_app.models import Query, QueryDraw
from benchmarks_app.permissions import Action
from benchmarks_app.queries.selectors import queries_in_draw, queries_with
from benchmarks_app.queries.services import draw_families
from benchwright.recipes.sampling import FAMILIES_DRAWN

TAG = ["drawn queries"]


class QueryDrawSerializer(serializers.ModelSerializer):
    """A draw: `families` in their order, each called by its smallest query id.

    Who has the ids of all families draws the same ones from `seed`.
    """

    families = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = QueryDraw
        fields = ("id", "seed", "frame", "n_population", "n_drawn", "families", "created_at")


class NewDrawSerializer(serializers.Serializer):
    n = api_field(FAMILIES_DRAWN, required=True)


class QueryDrawList(Endpoint):
    serializer_class = QueryDrawSerializer

    @extend_schema(
        summary="Families drawn for people to label, the newest first",
        tags=TAG,
        responses=QueryDrawSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = self.benchmark_for(Action.EDIT).query_draws.order_by("-pk")
        return self.page_of(rows, QueryDrawSerializer)

    @extend_schema(
        summary="Draw families, or go on with a draw",
        description="All draws of a benchmark have one seed, so a larger one goes on in order.",
        tags=TAG,
        request=NewDrawSerializer,
        responses={201: QueryDrawSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(NewDrawSerializer)
        draw = draw_families(benchmark=benchmark, user=request.user, **fields)
        return Response(QueryDrawSerializer(draw).data, status=201)


class QuerySerializer(serializers.ModelSerializer):
    """A query; `query` is its id in files, `family` the number of its family."""

    query = serializers.CharField(source="qid")
    split = serializers.CharField(source="family.split", allow_blank=True)

    class Meta:
        model = Query
        fields = [
            *("id", "query", "text", "lang", "description", "narrative", "family", "split"),
            *("frequency", "first_seen_at", "last_seen_at", "inclusion_probability", "weight"),
            "excluded_reason",
        ]


class QueryList(Endpoint):
    serializer_class = QuerySerializer

    @extend_schema(
        operation_id="queries_list",
        summary="The queries of a benchmark, in the order in which they came",
        tags=["queries"],
        parameters=[OpenApiParameter("q", description="With these words, or of this id.")],
        responses=QuerySerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        queries = queries_with(benchmark, request.query_params.get("q", "").strip())
        return self.page_of(queries, QuerySerializer)


class QueryDetail(Endpoint):
    serializer_class = QuerySerializer
    pagination_class = None

    @extend_schema(operation_id="queries_detail", summary="A query", tags=["queries"])
    def get(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        query = get_object_or_404(queries_with(benchmark, ""), pk=pk)
        return Response(QuerySerializer(query).data)


class DocumentSerializer(serializers.Serializer):
    """A document of the newest corpus version; `passages` are the ids of its own."""

    document = serializers.CharField(source="docid")
    title = serializers.CharField()
    text = serializers.CharField()
    parent = serializers.CharField(help_text="The document that a passage is of.")
    metadata = serializers.DictField()
    passages = serializers.ListField(child=serializers.CharField())


class DocumentDetail(Endpoint):
    serializer_class = DocumentSerializer
    pagination_class = None

    @extend_schema(operation_id="documents_detail", summary="A document", tags=["queries"])
    def get(self, request: Request, slug: str, docid: str) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        document = benchmark_documents(benchmark, [docid]).get(docid)
        if document is None:
            raise Http404
        passages = [passage.docid for passage in passages_of(benchmark, docid)]
        answer = {name: getattr(document, name) for name in ("docid", "title", "text", "parent")}
        answer |= {"metadata": document.metadata, "passages": passages}
        return Response(DocumentSerializer(answer).data)


class DrawnQuerySerializer(serializers.Serializer):
    query = serializers.CharField()
    family = serializers.CharField()


class QueryDrawQueries(Endpoint):
    serializer_class = DrawnQuerySerializer

    @extend_schema(
        summary="The queries of a draw as they are now, family by family in the order drawn",
        tags=TAG,
        responses=DrawnQuerySerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        draw = get_object_or_404(self.benchmark_for(Action.EDIT).query_draws, pk=pk)
        page = self.paginate_queryset(queries_in_draw(draw)) or ()
        rows = [{"query": qid, "family": family} for qid, family in page]
        return self.get_paginated_response(rows)


of_benchmark = [
    path("queries/", QueryList.as_view(), name="query-list"),
    path("queries/<int:pk>/", QueryDetail.as_view(), name="query-detail"),
    path("documents/<path:docid>/", DocumentDetail.as_view(), name="document-detail"),
    path("query-draws/", QueryDrawList.as_view(), name="query-draw-list"),
    path("query-draws/<int:pk>/queries/", QueryDrawQueries.as_view(), name="query-draw-queries"),
]
