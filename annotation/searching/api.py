"""Endpoints of searching the corpus beside a query, and of grades of what is found."""

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.searching import selectors
from annotation.searching.forms import LAST_PAGE
from annotation.searching.services import grade_found, start_indexing
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import GradeValue, JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.common.services.exposure import is_withheld, record_read
from benchmarks_app.models import Query, Scope
from benchmarks_app.models.collection import MAX_ID_BYTES
from benchmarks_app.permissions import Action, may

TAG = ["judging"]


class AskedSerializer(serializers.Serializer):
    q = serializers.CharField(
        required=False, max_length=500, default="", help_text="Words; those of the query if none."
    )
    unjudged = serializers.BooleanField(required=False, default=False)
    number = serializers.IntegerField(
        required=False, default=1, min_value=1, max_value=LAST_PAGE, help_text="Which ten."
    )


class FoundSerializer(serializers.Serializer):
    """A document with the words; `grade` as far as you may know it, null where there is none."""

    document = serializers.CharField(source="docid")
    title = serializers.CharField()
    excerpt = serializers.SerializerMethodField()
    grade = serializers.IntegerField(source="grades.value", allow_null=True)

    def get_excerpt(self, row: selectors.DocumentBeside) -> str:
        return "".join(text for text, _ in row.pieces)


class FoundPageSerializer(serializers.Serializer):
    results = FoundSerializer(many=True)
    has_next = serializers.BooleanField()


class FoundGradeSerializer(serializers.Serializer):
    document = serializers.CharField(max_length=MAX_ID_BYTES, trim_whitespace=False)
    grade = GradeValue()
    client_id = serializers.UUIDField(
        help_text="Yours to choose; one that comes again counts once."
    )


class SavedGradeSerializer(serializers.Serializer):
    document = serializers.CharField()
    grade = serializers.IntegerField()


class QuerySearch(Endpoint):
    serializer_class = FoundPageSerializer
    pagination_class = None
    scopes = {"POST": Scope.JUDGE}
    refusals = {"GET": (409,), "POST": (409,)}

    def query(self) -> Query:
        """The query, if the caller may search beside it."""
        benchmark = self.benchmark_for(Action.JUDGE)
        queries = benchmark.queries.committed().select_related("family")
        query: Query = get_object_or_404(queries, pk=self.kwargs["pk"])
        query.benchmark = benchmark
        user = self.request.user
        if not may(user, Action.ADJUDICATE, benchmark) and not selectors.is_permitted(query, user):
            raise PermissionDenied
        return query

    @extend_schema(
        operation_id="queries_search",
        summary="Documents of the corpus with words, beside a query",
        tags=TAG,
        parameters=[AskedSerializer],
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        query = self.query()
        serializer = AskedSerializer(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        sees_others = may(request.user, Action.EDIT, query.benchmark)
        if sees_others and is_withheld(query.benchmark, query):
            record_read(actor=request.user, benchmark=query.benchmark, what=f"query {query.qid}")
        grades = selectors.grades_as_known(query, request.user, sees_others=sees_others)
        words = serializer.validated_data["q"] or query.text
        docids, has_next = selectors.found_documents(
            query.benchmark,
            words,
            but=set(grades) if serializer.validated_data["unjudged"] else set(),
            number=serializer.validated_data["number"],
        )
        rows = selectors.documents_beside(
            query, request.user, docids=docids, grades=grades, words=words
        )
        return Response(FoundPageSerializer({"results": rows, "has_next": has_next}).data)

    @extend_schema(
        operation_id="queries_search_grade",
        summary="Grade a document that was found beside a query",
        tags=TAG,
        request=FoundGradeSerializer,
        responses={201: SavedGradeSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        query, fields = self.query(), self.validated(FoundGradeSerializer)
        grade_found(
            query=query,
            docid=fields["document"],
            actor=request.user,
            grade=fields["grade"],
            client_id=fields["client_id"],
            joins_pool=may(request.user, Action.ADJUDICATE, query.benchmark),
        )
        return Response({"document": fields["document"], "grade": fields["grade"]}, status=201)


class WordsIndex(Endpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = JobSerializer
    pagination_class = None

    @extend_schema(
        operation_id="corpus_searchable",
        summary="Make the corpus searchable by words, as a job",
        tags=["corpus"],
        request=None,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.ADJUDICATE)
        job = start_indexing(benchmark=benchmark, user=request.user)
        return Response(JobSerializer(job).data, status=202)


of_benchmark = [
    path("queries/<int:pk>/search/", QuerySearch.as_view(), name="query-search"),
    path("corpus/searchable/", WordsIndex.as_view(), name="words-index"),
]
