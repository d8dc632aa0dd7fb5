"""Endpoints of one's own judgments, hours and questions."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.common.selectors.questions import questions_of
from annotation.common.serializers import QuestionSerializer
from annotation.judging.forms import JudgmentChangeForm, OwnJudgmentFilterForm
from annotation.judging.selectors import own_work
from annotation.judging.services.judging import change_own_judgment
from annotation.models import Judgment
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import GradeValue
from benchmarks_app.models import Scope

TAG = ["judging"]


class OwnJudgmentSerializer(serializers.ModelSerializer):
    """A label of yours that stands; `grade` is null where you could not judge, with a `reason`."""

    benchmark = serializers.CharField(source="pool.benchmark.slug")
    query = serializers.CharField(source="query.text")
    title = serializers.SerializerMethodField()

    class Meta:
        model = Judgment
        fields = [
            *("id", "benchmark", "pool", "query", "title", "grade", "reason", "note"),
            *("confidence", "created_at"),
        ]

    def get_title(self, judgment: Judgment) -> str:
        slot, titles = judgment.slot, self.context["titles"]
        title: str = titles.get((slot.entry.document_id, judgment.content_hash), "") if slot else ""
        return title


class ChangedJudgmentSerializer(serializers.Serializer):
    """Another grade, or the reason why the document cannot be judged after all."""

    client_id = serializers.UUIDField()
    grade = GradeValue(required=False)
    reason = serializers.CharField(required=False)
    note = serializers.CharField(required=False, allow_blank=True, max_length=10_000)


class WorkDaySerializer(serializers.Serializer):
    """Your work in one pool on one day (UTC)."""

    day = serializers.DateField()
    benchmark = serializers.SlugField(source="pool.benchmark.slug")
    pool = serializers.CharField(source="pool.name")
    active_minutes = serializers.FloatField(source="minutes")
    grades = serializers.IntegerField(source="n_grades")
    cant_judge = serializers.IntegerField(source="n_cant_judge")
    extra_labels = serializers.IntegerField(source="n_extra")
    practice = serializers.IntegerField(source="n_practice")


class OwnJudgments(Endpoint):
    serializer_class = OwnJudgmentSerializer

    @extend_schema(
        operation_id="me_judgments_list",
        summary="Your judgments that stand, the newest first",
        tags=TAG,
        parameters=[
            OpenApiParameter("q", description="With these words in query, document or note."),
            OpenApiParameter("grade", description="Of this grade; `cant-judge` for none."),
            OpenApiParameter("pool", int, description="Of this pool."),
        ],
        responses=OwnJudgmentSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        caller = self.caller()
        form = OwnJudgmentFilterForm(request.query_params, pools=own_work.pools_judged_by(caller))
        self.cleaned(form)
        rows = own_work.searched(own_work.own_judgments(caller), **form.asked)
        page = list(self.paginate_queryset(rows) or ())
        return self.get_paginated_response(_told(page))


class OwnJudgment(Endpoint):
    serializer_class = OwnJudgmentSerializer
    pagination_class = None
    scopes = {"PATCH": Scope.JUDGE}
    refusals = {"PATCH": (409,)}

    def judgment(self) -> Judgment:
        return get_object_or_404(own_work.own_judgments(self.caller()), pk=self.kwargs["pk"])

    @extend_schema(operation_id="me_judgments_detail", summary="A judgment of yours", tags=TAG)
    def get(self, request: Request, pk: int) -> Response:
        return Response(_told([self.judgment()])[0])

    @extend_schema(
        operation_id="me_judgments_change",
        summary="Judge the document anew, while its pool is open; the one before stays on record",
        tags=TAG,
        request=ChangedJudgmentSerializer,
        responses=OwnJudgmentSerializer,
    )
    def patch(self, request: Request, pk: int) -> Response:
        judgment = self.judgment()
        change = {"note": judgment.note, **self.validated(ChangedJudgmentSerializer)}
        cleaned = self.cleaned(JudgmentChangeForm(change))
        changed = change_own_judgment(judgment=judgment, actor=self.caller(), **cleaned)
        return Response(_told([changed])[0])


def _told(judgments: list[Judgment]) -> Any:
    context = {"titles": own_work.titles_as_judged(judgments)}
    return OwnJudgmentSerializer(judgments, many=True, context=context).data


class OwnHours(Endpoint):
    serializer_class = WorkDaySerializer

    @extend_schema(
        operation_id="me_hours",
        summary="Your active time and labels, by day and pool, the newest first",
        tags=TAG,
        responses=WorkDaySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return self.page_of(own_work.hours_of(self.caller()).days, WorkDaySerializer)


class OwnQuestions(Endpoint):
    serializer_class = QuestionSerializer

    @extend_schema(
        operation_id="me_questions",
        summary="What you asked, open questions first",
        tags=TAG,
        responses=QuestionSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return self.page_of(questions_of(self.caller()), QuestionSerializer)


urlpatterns = [
    path("me/judgments/", OwnJudgments.as_view(), name="own-judgments"),
    path("me/judgments/<int:pk>/", OwnJudgment.as_view(), name="own-judgment"),
    path("me/hours/", OwnHours.as_view(), name="own-hours"),
    path("me/questions/", OwnQuestions.as_view(), name="own-questions"),
]
