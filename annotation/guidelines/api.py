"""Endpoints of the guideline and of what annotators ask about it."""

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.common.selectors.questions import questions_in
from annotation.common.serializers import QuestionSerializer
from annotation.guidelines.forms import AnswerForm
from annotation.guidelines.services import answer_question, save_guideline
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import Count, Whole
from benchmarks_app.models import Guideline
from benchmarks_app.permissions import Action

TAG = ["judging"]


class GuidelineSerializer(serializers.ModelSerializer):
    """A version of the guideline, in Markdown."""

    class Meta:
        model = Guideline
        fields = ["version", "text", "created_at"]


class NewGuidelineSerializer(serializers.Serializer):
    text = serializers.CharField(max_length=Guideline.MOST_CHARACTERS)
    written_upon = Whole(
        required=False,
        allow_null=True,
        default=None,
        help_text="The version that you changed; refused where it is not the newest any more.",
    )
    anchors = serializers.DictField(
        child=serializers.CharField(max_length=200, allow_blank=True),
        required=False,
        help_text="What each grade means, by its number; what is left out stays.",
    )

    def validate_anchors(self, anchors: dict[str, str]) -> dict[int, str]:
        try:
            return {int(value): text for value, text in anchors.items()}
        except ValueError:
            message = "Expected the numbers of grades."
            raise serializers.ValidationError(message) from None


class AnswerSerializer(serializers.Serializer):
    answer = serializers.CharField(max_length=10_000)
    guideline_line = serializers.CharField(
        max_length=1000,
        required=False,
        allow_blank=True,
        default="",
        help_text="Makes a new version of the guideline with this line at its end.",
    )


class GuidelineDetail(Endpoint):
    serializer_class = GuidelineSerializer
    refusals = {"POST": (409,)}

    @extend_schema(
        operation_id="guideline_versions",
        summary="The guideline, its newest version first",
        tags=TAG,
        parameters=[OpenApiParameter("version", int, description="This version alone.")],
        responses=GuidelineSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        versions = self.benchmark_for(Action.VIEW).guidelines.order_by("-version")
        if version := self.parameter("version", Count()):
            versions = versions.filter(version=version)
        return self.page_of(versions, GuidelineSerializer)

    @extend_schema(
        operation_id="guideline_write",
        summary="Write the next version of the guideline",
        tags=TAG,
        request=NewGuidelineSerializer,
        responses={201: GuidelineSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(NewGuidelineSerializer)
        guideline = save_guideline(benchmark=benchmark, actor=request.user, **fields)
        return Response(GuidelineSerializer(guideline).data, status=201)


class QuestionList(Endpoint):
    serializer_class = QuestionSerializer

    @extend_schema(
        operation_id="questions_list",
        summary="What annotators asked, open questions first",
        tags=TAG,
        responses=QuestionSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.page_of(questions_in(self.benchmark_for(Action.EDIT)), QuestionSerializer)


class QuestionAnswer(Endpoint):
    serializer_class = AnswerSerializer
    pagination_class = None
    refusals = {"POST": (409,)}

    @extend_schema(
        operation_id="questions_answer",
        summary="Answer a question; its document goes back to who asked",
        tags=TAG,
        responses=QuestionSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        question = get_object_or_404(questions_in(self.benchmark_for(Action.EDIT)), pk=pk)
        fields = self.cleaned(AnswerForm(self.validated(AnswerSerializer)))
        answered = answer_question(question=question, actor=request.user, **fields)
        return Response(QuestionSerializer(answered).data)


of_benchmark = [
    path("guideline/", GuidelineDetail.as_view(), name="guideline-detail"),
    path("questions/", QuestionList.as_view(), name="question-list"),
    path("questions/<int:pk>/answer/", QuestionAnswer.as_view(), name="question-answer"),
]
