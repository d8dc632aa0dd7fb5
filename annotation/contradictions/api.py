"""Endpoints of contradictions and of examples of grades."""

from typing import Any
from uuid import uuid4

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.services.adjudicating import adjudicate
from annotation.campaigns.selectors import campaigns_of
from annotation.contradictions.forms import OUTCOMES
from annotation.contradictions.selectors import (
    Direction,
    State,
    contradictions_of,
    examples_of,
    shown,
)
from annotation.contradictions.services import make_example, record_read, withdraw_example
from annotation.models import Campaign, CampaignPair, GradeExample, Judgment
from benchmarks_app.api.base import Endpoint
from benchmarks_app.models import Query
from benchmarks_app.permissions import Action

TAG = ["machine judges"]


class ContradictionQuerySerializer(serializers.Serializer):
    state = serializers.ChoiceField(
        choices=[State.OPEN.value, State.DECIDED.value, State.ALL.value], default=State.OPEN.value
    )
    direction = serializers.ChoiceField(
        choices=[Direction.HIGHER.value, Direction.LOWER.value],
        required=False,
        default="",
        help_text="Where the machine's grade is higher, or lower, than people's.",
    )


class ContradictionSerializer(serializers.Serializer):
    """A pair that people and the machine grade far apart; `outcome` is what became of it."""

    query = serializers.CharField(source="pair.query.qid")
    document = serializers.CharField(source="pair.docid")
    title = serializers.CharField(allow_blank=True)
    people = serializers.IntegerField(source="label.grade", help_text="The first person's.")
    others = serializers.ListField(child=serializers.IntegerField(), help_text="Of further people.")
    note = serializers.CharField(source="label.note", allow_blank=True)
    evidence = serializers.SerializerMethodField()
    machine = serializers.IntegerField(source="machine.grade")
    machine_reason = serializers.CharField(source="machine.note", allow_blank=True)
    outcome = serializers.CharField(source="decision.outcome", default="", allow_blank=True)
    settled_as = serializers.IntegerField(source="decision.grade", default=None, allow_null=True)
    is_example = serializers.SerializerMethodField()

    def get_evidence(self, row: Any) -> list[str]:
        return [span["text"] for span in row.label.evidence]

    def get_is_example(self, row: Any) -> bool:
        return row.example is not None


class LookAgainSerializer(serializers.Serializer):
    """What is to become of a contradiction; the same `client_id` again changes nothing."""

    query = serializers.CharField(help_text="Its id.")
    document = serializers.CharField(help_text="Its id.")
    outcome = serializers.ChoiceField(choices=[outcome.value for outcome in OUTCOMES])
    reason = serializers.CharField(max_length=4000, required=False, allow_blank=True, default="")
    client_id = serializers.UUIDField(required=False)


class DecisionSerializer(serializers.ModelSerializer):
    query = serializers.CharField(source="query.qid")
    document = serializers.CharField(source="docid")

    class Meta:
        model = Judgment
        fields = ("id", "query", "document", "outcome", "reason", "created_at")


class GradeExampleSerializer(serializers.ModelSerializer):
    """An example; `n_prompts` counts the versions of the prompt that hold it.

    The next one has it unless it was withdrawn, or its pair has another `grade_now`.
    """

    query = serializers.CharField(source="judgment.query.qid")
    document = serializers.CharField(source="judgment.docid")
    grade = serializers.IntegerField(source="judgment.grade")
    grade_now = serializers.IntegerField(allow_null=True)
    n_prompts = serializers.IntegerField()

    class Meta:
        model = GradeExample
        fields = (
            *("id", "query", "document", "grade", "grade_now", "text", "n_prompts"),
            *("created_at", "withdrawn_at"),
        )


class NewExampleSerializer(serializers.Serializer):
    query = serializers.CharField(help_text="Its id.")
    document = serializers.CharField(help_text="Its id.")
    text = serializers.CharField(
        max_length=GradeExample.MOST_CHARACTERS, help_text="What the next prompt says of it."
    )


class ContradictionList(Endpoint):
    refusals = {"POST": (409, 422)}
    serializer_class = ContradictionSerializer

    def campaign(self) -> Campaign:
        rows = campaigns_of(self.benchmark_for(Action.EDIT))
        return get_object_or_404(rows, pk=self.kwargs["pk"])

    @extend_schema(
        summary="Pairs that a campaign and people grade far apart, the furthest first",
        tags=TAG,
        parameters=[ContradictionQuerySerializer],
        responses=ContradictionSerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        campaign = self.campaign()
        serializer = ContradictionQuerySerializer(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        record_read(campaign.benchmark, request.user, f"contradictions of {campaign.name}")
        page = self.paginate_queryset(contradictions_of(campaign, **serializer.validated_data))
        rows = shown(campaign, page, request.user)
        return self.get_paginated_response(ContradictionSerializer(rows, many=True).data)

    @extend_schema(
        summary="Have a contradiction looked at again, or note that the guideline is unclear",
        tags=TAG,
        request=LookAgainSerializer,
        responses={201: DecisionSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        campaign = self.campaign()
        fields = self.validated(LookAgainSerializer)
        graded: QuerySet[CampaignPair] = campaign.pairs.filter(
            state=CampaignPair.State.GRADED, query__qid=fields["query"], docid=fields["document"]
        )
        pair = get_object_or_404(graded.select_related("query"))
        decision = adjudicate(
            benchmark=campaign.benchmark,
            query=pair.query,
            docid=pair.docid,
            actor=request.user,
            outcome=fields["outcome"],
            reason=fields["reason"],
            client_id=fields.get("client_id") or uuid4(),
        )
        return Response(DecisionSerializer(decision).data, status=status.HTTP_201_CREATED)


class ExampleList(Endpoint):
    refusals = {"POST": (409, 422)}
    serializer_class = GradeExampleSerializer

    @extend_schema(
        summary="Examples of grades, those that stand first",
        tags=TAG,
        responses=GradeExampleSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        record_read(benchmark, request.user, "examples")
        return self.page_of(examples_of(benchmark), GradeExampleSerializer)

    @extend_schema(
        summary="Make an example of what people say of a pair",
        description="Its grade is how the pair was settled, else the first person's.",
        tags=TAG,
        request=NewExampleSerializer,
        responses={201: GradeExampleSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(NewExampleSerializer)
        queries = Query.objects.committed().filter(benchmark=benchmark)
        example = make_example(
            benchmark=benchmark,
            query=get_object_or_404(queries, qid=fields["query"]),
            docid=fields["document"],
            text=fields["text"],
            actor=request.user,
        )
        row = examples_of(benchmark).get(pk=example.pk)
        return Response(GradeExampleSerializer(row).data, status=status.HTTP_201_CREATED)


class ExampleDetail(Endpoint):
    serializer_class = GradeExampleSerializer
    pagination_class = None

    def example(self) -> GradeExample:
        rows = examples_of(self.benchmark_for(Action.EDIT))
        return get_object_or_404(rows, pk=self.kwargs["pk"])

    @extend_schema(summary="An example of a grade", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        example = self.example()
        record_read(example.benchmark, request.user, "examples")
        return Response(GradeExampleSerializer(example).data)

    @extend_schema(
        summary="Withdraw an example from further prompts", tags=TAG, responses={204: None}
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        withdraw_example(example=self.example(), actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


of_benchmark = [
    path(
        "campaigns/<int:pk>/contradictions/", ContradictionList.as_view(), name="contradiction-list"
    ),
    path("grade-examples/", ExampleList.as_view(), name="example-list"),
    path("grade-examples/<int:pk>/", ExampleDetail.as_view(), name="example-detail"),
]
