"""Endpoint of people's verdicts: the next case of a set, and what somebody says of it."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import Id
from benchmarks_app.models import Scope
from benchmarks_app.permissions import Action
from scoring.contextual.selectors import next_case, nodes_asked, open_sets_for
from scoring.contextual.services.errors import VerdictsError
from scoring.contextual.services.people import Said, record_verdicts
from scoring.models import CaseSet, ContextualCase

TAG = ["contextual precision"]


class AskedNodeSerializer(serializers.Serializer):
    """A node in no order; `node` is what verdicts name it by."""

    node = serializers.IntegerField()
    content = serializers.JSONField()


class AskedCaseSerializer(serializers.Serializer):
    """The next case; `case` is null where all are judged. Nothing of a judge's is told."""

    n_asked = serializers.IntegerField()
    n_judged = serializers.IntegerField()
    case = serializers.IntegerField(allow_null=True)
    input = serializers.JSONField(required=False)
    expected_output = serializers.JSONField(required=False)
    nodes = AskedNodeSerializer(many=True)


class SaidSerializer(serializers.Serializer):
    node = Id()
    is_relevant = serializers.BooleanField()
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=2000)


class NewVerdictsSerializer(serializers.Serializer):
    """A verdict on every node of the case that one is asked about."""

    case = Id(help_text="Its number.")
    verdicts = SaidSerializer(many=True)


class ContextualVerdicts(Endpoint):
    serializer_class = AskedCaseSerializer
    pagination_class = None
    scopes = {"POST": Scope.JUDGE}

    def case_set(self) -> CaseSet:
        sets = open_sets_for(self.benchmark_for(Action.JUDGE), self.request.user)
        return get_object_or_404(sets, pk=self.kwargs["pk"])

    def told(self, case_set: CaseSet, case: ContextualCase | None) -> dict[str, Any]:
        counts = {name: vars(case_set)[name] for name in ("n_asked", "n_judged")}
        if case is None:
            return {**counts, "case": None, "nodes": []}
        content = case.content
        return {
            **counts,
            "case": case.number,
            "input": content["input"],
            "expected_output": content["expected_output"],
            "nodes": [
                {"node": rank, "content": content["retrieval_context"][rank - 1]}
                for rank in nodes_asked(case, self.request.user)
            ],
        }

    @extend_schema(
        operation_id="contextual_verdicts_next",
        summary="The case that one is asked about next",
        tags=TAG,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        case_set = self.case_set()
        return Response(self.told(case_set, next_case(case_set, request.user)))

    @extend_schema(
        operation_id="contextual_verdicts_give",
        summary="Say of each node of that case whether it helps",
        tags=TAG,
        request=NewVerdictsSerializer,
        responses={201: AskedCaseSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        case = next_case(self.case_set(), request.user)
        fields = self.validated(NewVerdictsSerializer)
        if case is None or case.number != fields["case"]:
            raise VerdictsError(reason="That is not the case that you are asked about. Get it.")
        verdicts = {
            verdict["node"]: Said(verdict["is_relevant"], verdict["reason"])
            for verdict in fields["verdicts"]
        }
        record_verdicts(case=case, person=request.user, verdicts=verdicts)
        following = self.told(self.case_set(), next_case(case.case_set, request.user))
        return Response(following, status=status.HTTP_201_CREATED)


of_benchmark = [
    path(
        "contextual/sets/<int:pk>/verdicts/",
        ContextualVerdicts.as_view(),
        name="contextual-verdicts",
    ),
]
