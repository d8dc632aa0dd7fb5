"""Endpoints of a pool's stale labels and known grades, for those who keep it."""

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.common.selectors.stale import stale_labels, stale_rows
from annotation.judging.services.rejudging import offer_rejudging
from annotation.labels.selectors.known_grades import (
    known_grades_of,
    settled_pairs,
    settled_rows,
)
from annotation.labels.services.known_grades import add_known_grades, remove_known_grade
from annotation.models import Judgment, KnownGrade, Pool
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import GradeValue
from benchmarks_app.common.services.exposure import record_read
from benchmarks_app.models.collection import MAX_ID_BYTES
from benchmarks_app.permissions import Action
from benchwright.qrels.known_grades import Known

TAG = ["pools"]
MOST_KNOWN = 1000
PURPOSES = KnownGrade.Purpose


class StaleSerializer(serializers.ModelSerializer):
    """A label for a text that has changed; `is_offered` where it waits to be given again."""

    query = serializers.CharField(source="query.qid")
    document = serializers.CharField(source="docid")
    is_offered = serializers.BooleanField()

    class Meta:
        model = Judgment
        fields = ["query", "document", "grade", "is_offered", "created_at"]


class OfferedSerializer(serializers.Serializer):
    n = serializers.IntegerField()


class KnownGradeSerializer(serializers.ModelSerializer):
    """A known grade; of `n_given` gradings as a check or for practice, `n_right` were this one."""

    query = serializers.CharField(source="entry.query.qid")
    document = serializers.CharField(source="entry.document.docid")
    n_given = serializers.IntegerField()
    n_right = serializers.IntegerField()

    class Meta:
        model = KnownGrade
        fields = [
            *("id", "query", "document", "purpose", "grade", "explanation"),
            *("n_given", "n_right"),
        ]


class NewKnownGradeSerializer(serializers.Serializer):
    query = serializers.CharField(max_length=MAX_ID_BYTES)
    document = serializers.CharField(max_length=MAX_ID_BYTES)
    grade = GradeValue()
    purpose = serializers.ChoiceField(PURPOSES.choices, default=PURPOSES.GOLD)
    explanation = serializers.CharField(required=False, allow_blank=True, default="")


class NewKnownGradesSerializer(serializers.Serializer):
    grades = NewKnownGradeSerializer(many=True, allow_empty=False, max_length=MOST_KNOWN)


class SettledPairSerializer(serializers.Serializer):
    """A pair on which people agree, or an adjudicator decided."""

    query = serializers.CharField(source="query.qid")
    document = serializers.CharField(source="docid")
    grade = serializers.IntegerField()


class OfPool(Endpoint):
    """An endpoint of a pool, for those who keep its benchmark."""

    def pool(self) -> Pool:
        benchmark = self.benchmark_for(Action.EDIT)
        pools = Pool.objects.built().filter(benchmark=benchmark)
        return get_object_or_404(pools.select_related("benchmark__corpus"), pk=self.kwargs["pk"])

    def read(self, pool: Pool, what: str) -> None:
        """Labels of test queries may have to stay hidden: who looks at them is recorded."""
        target = f"{what} of {pool.name}"
        record_read(actor=self.request.user, benchmark=pool.benchmark, what=target)


class StaleList(OfPool):
    serializer_class = StaleSerializer
    refusals = {"POST": (409,)}

    @extend_schema(
        summary="Labels of a pool for texts that have changed since",
        tags=TAG,
        responses=StaleSerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        pool = self.pool()
        self.read(pool, "stale labels")
        return self.page_of(stale_rows(stale_labels(pool)), StaleSerializer)

    @extend_schema(
        summary="Have stale labels given again, after what is in the queue now",
        tags=TAG,
        request=None,
        responses=OfferedSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        return Response({"n": offer_rejudging(pool=self.pool(), actor=request.user)})


class KnownGradeList(OfPool):
    serializer_class = KnownGradeSerializer

    @extend_schema(
        operation_id="pools_known_list",
        summary="Known grades of a pool: hidden checks, and practice",
        tags=TAG,
        parameters=[OpenApiParameter("purpose", enum=PURPOSES.values)],
        responses=KnownGradeSerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        pool = self.pool()
        self.read(pool, "known grades")
        rows = known_grades_of(pool, self.choice("purpose", PURPOSES.values))
        return self.page_of(rows, KnownGradeSerializer)

    @extend_schema(
        operation_id="pools_known_add",
        summary="Set known grades, all or none",
        tags=TAG,
        request=NewKnownGradesSerializer,
        responses={201: OfferedSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        pool, fields = self.pool(), self.validated(NewKnownGradesSerializer)
        known_grades = [
            Known(row["query"], row["document"], row["grade"], row["purpose"], row["explanation"])
            for row in fields["grades"]
        ]
        rows = add_known_grades(pool=pool, known_grades=known_grades, actor=request.user)
        return Response({"n": len(rows)}, status=201)


class KnownGradeDetail(OfPool):
    serializer_class = KnownGradeSerializer
    pagination_class = None

    @extend_schema(operation_id="pools_known_detail", summary="A known grade of a pool", tags=TAG)
    def get(self, request: Request, slug: str, pk: int, known: int) -> Response:
        pool = self.pool()
        self.read(pool, "known grades")
        row = get_object_or_404(known_grades_of(pool), pk=known)
        return Response(KnownGradeSerializer(row).data)

    @extend_schema(
        operation_id="pools_known_remove",
        summary="Forget a known grade; what was judged because of it stays on record",
        tags=TAG,
        responses={204: None},
    )
    def delete(self, request: Request, slug: str, pk: int, known: int) -> Response:
        rows = KnownGrade.objects.select_related("entry__pool__benchmark", "entry__query")
        row = get_object_or_404(rows, pk=known, entry__pool=self.pool())
        remove_known_grade(known_grade=row, actor=request.user)
        return Response(status=204)


class KnownGradeSettled(OfPool):
    serializer_class = SettledPairSerializer

    @extend_schema(
        operation_id="pools_known_settled",
        summary="Pairs that could become known grades: people agree, or an adjudicator decided",
        tags=TAG,
        responses=SettledPairSerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        pool = self.pool()
        self.read(pool, "settled pairs")
        page = self.paginate_queryset(settled_rows(pool)) or ()
        rows = SettledPairSerializer(list(settled_pairs(page)), many=True).data
        return self.get_paginated_response(rows)


of_benchmark = [
    path("pools/<int:pk>/stale/", StaleList.as_view(), name="stale-list"),
    path("pools/<int:pk>/known/", KnownGradeList.as_view(), name="known-grade-list"),
    path("pools/<int:pk>/known/settled/", KnownGradeSettled.as_view(), name="known-grade-settled"),
    path(
        "pools/<int:pk>/known/<int:known>/",
        KnownGradeDetail.as_view(),
        name="known-grade-detail",
    ),
]
