"""Endpoints of contextual precision: evaluations here; sets in a module of their own."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.judges.api import judge_asked
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, may
from benchwright.formats.numbers import row_key
from scoring.contextual.api import runs, sets, verdicts
from scoring.contextual.api.shapes import (
    CaseOutcomeSerializer,
    ComparedSerializer,
    ContextualEvaluationDetailSerializer,
    ContextualEvaluationSerializer,
    ContextualMeanSerializer,
    NewCapSerializer,
    NewContextualEvaluationSerializer,
    PeopleAgreementSerializer,
)
from scoring.contextual.selectors import case_sets_of, counts_of, evaluations_of
from scoring.contextual.services.evaluating import (
    cancel_evaluation,
    delete_evaluation,
    retry_evaluation,
    start_evaluation,
)
from scoring.contextual.services.people import agreement_with_people
from scoring.contextual.services.results import compare, results_of
from scoring.models import CaseOutcome, ContextualEvaluation

TAG = ["contextual precision"]


class ContextualEvaluationList(Endpoint):
    serializer_class = ContextualEvaluationSerializer
    limits = {"POST": COMPUTATIONS}

    @extend_schema(
        summary="Evaluations of case sets",
        tags=TAG,
        parameters=[OpenApiParameter("case_set", type=int, description="Of this set only.")],
        responses=ContextualEvaluationSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = evaluations_of(self.benchmark_for(Action.SEE_RESULTS), request.user)
        key = request.query_params.get("case_set")
        if key is not None:
            rows = rows.filter(case_set=_number(key, "case_set"))
        return self.page_of(rows, ContextualEvaluationSerializer)

    @extend_schema(
        summary="Have the cases of a set judged",
        tags=TAG,
        request=NewContextualEvaluationSerializer,
        responses={202: ContextualEvaluationSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(NewContextualEvaluationSerializer)
        case_sets = case_sets_of(benchmark, request.user)
        started = start_evaluation(
            case_set=get_object_or_404(case_sets, pk=fields["case_set"]),
            judge=judge_asked(benchmark, fields["judge"]),
            user=request.user,
            threshold=fields["threshold"],
            is_strict=fields["strict"],
            has_reasons=fields["reasons"],
            only_slice=fields["slice"],
            only_first=fields.get("first"),
            cost_cap=fields.get("cost_cap"),
        )
        return Response(
            ContextualEvaluationSerializer(started).data, status=status.HTTP_202_ACCEPTED
        )


def _number(text: str, name: str) -> int:
    number = row_key(text)
    if number is None:
        raise ValidationError({name: [f"{text[:40]!r} is the number of none."]})
    return number


class OfEvaluation(Endpoint):
    pagination_class = None

    def evaluation(self, action: Action = Action.SEE_RESULTS) -> ContextualEvaluation:
        rows = evaluations_of(self.benchmark_for(action), self.request.user)
        return get_object_or_404(rows, pk=self.kwargs["pk"])

    def told(self, pk: int) -> Response:
        evaluation = ContextualEvaluation.objects.get(pk=pk)
        return Response(
            ContextualEvaluationSerializer(evaluation).data, status=status.HTTP_202_ACCEPTED
        )


class ContextualEvaluationDetail(OfEvaluation):
    serializer_class = ContextualEvaluationDetailSerializer

    @extend_schema(summary="An evaluation with its means", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        evaluation = self.evaluation()
        of = evaluation.case_set.benchmark
        facts = _facts(evaluation, of, request.user)
        return Response({**ContextualEvaluationSerializer(evaluation).data, **facts})

    @extend_schema(summary="Delete an evaluation", tags=TAG, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        delete_evaluation(evaluation=self.evaluation(Action.EDIT), user=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _facts(evaluation: ContextualEvaluation, of: Benchmark, user: Any) -> dict[str, Any]:
    counts, results = counts_of(evaluation), results_of(evaluation)
    names = ("n_scored", "n_failed", "n_waiting", "n_success", "mean", "tokens_in", "tokens_out")
    facts = {name: getattr(counts, name) for name in names}
    if may(user, Action.EDIT, of):
        facts |= {"cost": counts.cost, "cost_cap": evaluation.cost_cap}
    means = ContextualMeanSerializer([results.overall, *results.slices], many=True).data
    agreement = agreement_with_people(evaluation)
    people = PeopleAgreementSerializer(agreement).data if agreement else None
    return {**facts, "overall": means[0], "slices": means[1:], "people": people}


class ContextualEvaluationCases(OfEvaluation):
    serializer_class = CaseOutcomeSerializer
    pagination_class = Endpoint.pagination_class

    @extend_schema(
        summary="What became of each case", tags=TAG, responses=CaseOutcomeSerializer(many=True)
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.page_of(self._rows(), CaseOutcomeSerializer)

    def _rows(self) -> QuerySet[CaseOutcome]:
        rows = self.evaluation().outcomes.select_related("case")
        return rows.defer("answers", "case__content").order_by("case__number")


class ContextualEvaluationCancel(OfEvaluation):
    serializer_class = ContextualEvaluationSerializer

    @extend_schema(
        summary="Cancel an evaluation; what is judged stays",
        tags=TAG,
        request=None,
        responses={202: ContextualEvaluationSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        cancel_evaluation(evaluation=self.evaluation(Action.EDIT), user=request.user)
        return self.told(pk)


class ContextualEvaluationRetry(OfEvaluation):
    serializer_class = ContextualEvaluationSerializer
    limits = {"POST": COMPUTATIONS}

    @extend_schema(
        summary="Ask again about failed cases, and go on with those that are left",
        tags=TAG,
        request=NewCapSerializer,
        responses={202: ContextualEvaluationSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        evaluation = self.evaluation(Action.EDIT)
        cap = self.validated(NewCapSerializer).get("cost_cap")
        retry_evaluation(evaluation=evaluation, user=request.user, cost_cap=cap)
        return self.told(pk)


class ContextualComparison(Endpoint):
    serializer_class = ComparedSerializer
    pagination_class = None

    @extend_schema(
        summary="Two evaluations of one set, case by case",
        tags=TAG,
        parameters=[
            OpenApiParameter("before", type=int, required=True),
            OpenApiParameter("after", type=int, required=True),
        ],
        responses=ComparedSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = evaluations_of(self.benchmark_for(Action.SEE_RESULTS), request.user)
        params = request.query_params
        before, after = (
            get_object_or_404(rows, pk=_number(params.get(name, ""), name))
            for name in ("before", "after")
        )
        return Response(ComparedSerializer(compare(before, after)).data)


EVALUATION = "contextual/evaluations/<int:pk>/"
of_benchmark = [
    *sets.of_benchmark,
    *runs.of_benchmark,
    *verdicts.of_benchmark,
    path(
        "contextual/evaluations/",
        ContextualEvaluationList.as_view(),
        name="contextual-evaluation-list",
    ),
    path(EVALUATION, ContextualEvaluationDetail.as_view(), name="contextual-evaluation-detail"),
    path(
        f"{EVALUATION}cases/",
        ContextualEvaluationCases.as_view(),
        name="contextual-evaluation-cases",
    ),
    path(
        f"{EVALUATION}cancel/",
        ContextualEvaluationCancel.as_view(),
        name="contextual-evaluation-cancel",
    ),
    path(
        f"{EVALUATION}retry/",
        ContextualEvaluationRetry.as_view(),
        name="contextual-evaluation-retry",
    ),
    path("contextual/comparison/", ContextualComparison.as_view(), name="contextual-comparison"),
]
