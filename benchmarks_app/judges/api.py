"""Endpoints of judges; their keys are taken and never given."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.judges.selectors import judges_of
from benchmarks_app.judges.services.judges import (
    change_judge,
    delete_judge,
    make_judge,
    start_trial,
)
from benchmarks_app.models import Benchmark, JudgeEndpoint
from benchmarks_app.permissions import Action
from benchwright.recipes import contextual

TAG = ["judges"]


def judge_asked(benchmark: Benchmark, name: str) -> JudgeEndpoint:
    """The judge that is named; 400 where there is none."""
    judges = {judge.name: judge for judge in judges_of(benchmark)}
    if name in judges:
        return judges[name]
    there = ", ".join(judges) or "none yet"
    message = f"There is no judge '{name}'; the benchmark has {there}."
    raise serializers.ValidationError({"judge": [message]})


class JudgeSerializer(serializers.ModelSerializer):
    """A judge, without its key; `trial` is what came back when it was tried last."""

    has_stored_key = serializers.SerializerMethodField()
    trial = serializers.JSONField(read_only=True)
    is_being_tried = serializers.SerializerMethodField()

    class Meta:
        model = JudgeEndpoint
        fields = [
            "id",
            "name",
            "base_url",
            "model",
            "key_variable",
            "has_stored_key",
            "price_in",
            "price_out",
            "concurrency",
            "requests_per_minute",
            "timeout_seconds",
            "max_attempts",
            "answer_format",
            "trial",
            "is_being_tried",
            "created_at",
        ]

    def get_has_stored_key(self, judge: JudgeEndpoint) -> bool:
        return bool(judge.key_sealed)

    def get_is_being_tried(self, judge: JudgeEndpoint) -> bool:
        return bool(judge.trial_job and not judge.trial_job.is_finished)


class NewJudgeSerializer(serializers.Serializer):
    """A judge to make; `key` is stored encrypted, or `key_variable` names one that is allowed."""

    name = serializers.CharField(max_length=120)
    base_url = serializers.CharField(max_length=500)
    model = serializers.CharField(max_length=200)
    key_variable = serializers.CharField(max_length=120, required=False, allow_blank=True)
    key = serializers.RegexField(
        r"^[!-~]*$", max_length=1000, required=False, allow_blank=True, write_only=True
    )
    price_in = api_field(contextual.PRICE_IN, required=False, allow_null=True)
    price_out = api_field(contextual.PRICE_OUT, required=False, allow_null=True)
    concurrency = api_field(contextual.CONCURRENCY, required=False)
    requests_per_minute = api_field(contextual.REQUESTS_PER_MINUTE, required=False, allow_null=True)
    timeout_seconds = api_field(contextual.TIMEOUT_SECONDS, required=False)
    max_attempts = api_field(contextual.MAX_ATTEMPTS, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("key") and attrs.get("key_variable"):
            reason = "Send a key or the variable it is in, not both."
            raise serializers.ValidationError({"key": reason})
        return attrs


def _refuse_half_price(price_in: float | None, price_out: float | None) -> None:
    """With one of them no cost is known, as with none."""
    if (price_in is None) != (price_out is None):
        reason = "Send both prices, or neither."
        raise serializers.ValidationError({"price_out": [reason]})


class ChangedJudgeSerializer(NewJudgeSerializer):
    """What is to be changed of a judge; without `key` the stored one stays."""

    forget_key = serializers.BooleanField(required=False)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "partial": True})


class JudgeList(Endpoint):
    serializer_class = JudgeSerializer

    @extend_schema(summary="Judges", tags=TAG, responses=JudgeSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.page_of(judges_of(self.benchmark_for(Action.EDIT)), JudgeSerializer)

    @extend_schema(
        summary="Set up a judge",
        tags=TAG,
        request=NewJudgeSerializer,
        responses={201: JudgeSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(NewJudgeSerializer)
        _refuse_half_price(fields.get("price_in"), fields.get("price_out"))
        judge = make_judge(benchmark=benchmark, user=request.user, **fields)
        return Response(JudgeSerializer(judge).data, status=status.HTTP_201_CREATED)


class JudgeDetail(Endpoint):
    serializer_class = JudgeSerializer
    pagination_class = None

    def _judge(self) -> JudgeEndpoint:
        benchmark = self.benchmark_for(Action.EDIT)
        return get_object_or_404(judges_of(benchmark), pk=self.kwargs["pk"])

    @extend_schema(summary="A judge", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(JudgeSerializer(self._judge()).data)

    @extend_schema(
        summary="Change a judge",
        tags=TAG,
        request=ChangedJudgeSerializer,
        responses=JudgeSerializer,
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        judge = self._judge()
        fields = dict(self.validated(ChangedJudgeSerializer))
        _refuse_half_price(
            fields.get("price_in", judge.price_in), fields.get("price_out", judge.price_out)
        )
        is_forgotten = fields.pop("forget_key", False)
        change_judge(judge=judge, user=request.user, is_key_forgotten=is_forgotten, **fields)
        return Response(JudgeSerializer(judge).data)

    @extend_schema(summary="Delete a judge and its key", tags=TAG, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        delete_judge(judge=self._judge(), user=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class JudgeTry(Endpoint):
    serializer_class = JudgeSerializer
    pagination_class = None
    limits = {"POST": COMPUTATIONS}

    @extend_schema(
        summary="Ask a judge about one tiny case",
        description="The answer is the judge's `trial`, once `is_being_tried` is false.",
        tags=TAG,
        request=None,
        responses={202: JudgeSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        judge = get_object_or_404(judges_of(benchmark), pk=pk)
        start_trial(judge=judge, user=request.user)
        return Response(JudgeSerializer(judge).data, status=status.HTTP_202_ACCEPTED)


of_benchmark = [
    path("contextual/judges/", JudgeList.as_view(), name="judge-list"),
    path(
        "contextual/judges/<int:pk>/",
        JudgeDetail.as_view(),
        name="judge-detail",
    ),
    path("contextual/judges/<int:pk>/try/", JudgeTry.as_view(), name="judge-try"),
]
