"""Endpoints of agreement: how far people agree, what is to be settled, and by which rule."""

from typing import Any

from django.db import transaction
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.forms import NO_GRADE, AdjudicationForm
from annotation.agreement.selectors.adjudication import CaseDetail as Disputed
from annotation.agreement.selectors.adjudication import inbox_of
from annotation.agreement.selectors.agreement import Filters, agreement_report, is_quick
from annotation.agreement.selectors.by_slice import slice_coverage
from annotation.agreement.services.adjudicating import adjudicate, case_to_settle
from annotation.agreement.services.measuring_agreement import JOB_KIND, measuring_arguments
from annotation.common.forms import PolicyForm
from annotation.common.selectors.ledger import last_event_of
from annotation.common.selectors.policies import policy_of
from annotation.common.serializers import AgreementQuerySerializer, AgreementSerializer
from annotation.common.services.policies import set_policy
from annotation.judging.protocol.errors import NothingJudgedError
from annotation.models import AggregationPolicy
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import GradeValue, JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.common.services import audit
from benchmarks_app.common.services.exposure import is_withheld
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, Query, Scope
from benchmarks_app.models.collection import MAX_ID_BYTES
from benchmarks_app.permissions import Action
from benchwright.qrels.errors import NotMeasuredError
from benchwright.qrels.rules import RULES

JOBS_LOOKED_AT = 20


class AgreementDetail(Endpoint):
    refusals = {"GET": (409, 422), "POST": (409,)}
    limits = {"POST": COMPUTATIONS}
    serializer_class = AgreementSerializer
    pagination_class = None

    @extend_schema(
        summary="How far people agree, over all labels or those of a pool",
        tags=["judgments"],
        parameters=[AgreementQuerySerializer],
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.ADJUDICATE)
        serializer = AgreementQuerySerializer(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        report = _report(benchmark, Filters(pool=serializer.validated_data["pool"]))
        return Response(AgreementSerializer(report).data)

    @extend_schema(
        summary="Measure agreement anew, as a job, where there is too much to wait for",
        tags=["judgments"],
        request=AgreementQuerySerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.ADJUDICATE)
        filters = Filters(pool=self.validated(AgreementQuerySerializer)["pool"])
        with transaction.atomic():
            arguments = measuring_arguments(benchmark=benchmark, filters=filters)
            job = jobs.start(benchmark=benchmark, user=request.user, **arguments)
        return Response(JobSerializer(job).data, status=202)


def _report(benchmark: Benchmark, filters: Filters) -> dict[str, Any]:
    """Measured now where that is quick, or else the newest that a job has measured.

    Raises
    ------
    NothingJudgedError
        If there is no judgment.
    NotMeasuredError
        If there are too many to wait for, and no job has measured them.
    """
    last = last_event_of(benchmark)
    if not last:
        raise NothingJudgedError
    if is_quick(benchmark, filters):
        return agreement_report(benchmark, filters, last)
    done = Job.objects.filter(benchmark=benchmark, kind=JOB_KIND, state=Job.State.DONE)
    for job in done.order_by("-pk")[:JOBS_LOOKED_AT]:
        if job.parameters == filters.as_json():
            return job.result["report"]
    raise NotMeasuredError


# --- settling ----------------------------------------------------------------------------------


class CaseSerializer(serializers.Serializer):
    """A document whose labels lie apart; `effect` is what it could do to a difference of runs."""

    query = serializers.CharField(source="qid")
    document = serializers.CharField(source="docid")
    grades = serializers.ListField(child=serializers.IntegerField())
    effect = serializers.FloatField()


class CaseQuerySerializer(serializers.Serializer):
    query = serializers.CharField(max_length=MAX_ID_BYTES)
    document = serializers.CharField(max_length=MAX_ID_BYTES)


class CaseWordSerializer(serializers.Serializer):
    """What one rater said; `letter` tells raters apart here alone."""

    letter = serializers.CharField()
    grade = serializers.IntegerField(source="event.grade", allow_null=True)
    reason = serializers.CharField(source="event.reason")
    note = serializers.CharField(source="event.note")


class CaseDetailSerializer(serializers.Serializer):
    """A case with its texts, and what was said, without who said it."""

    query = serializers.CharField(source="query.qid")
    text = serializers.CharField(source="query.text")
    document = serializers.CharField(source="docid")
    title = serializers.CharField()
    document_text = serializers.CharField(source="text")
    is_open = serializers.BooleanField()
    grades = serializers.ListField(source="pair.grades", child=serializers.IntegerField())
    said = CaseWordSerializer(source="words", many=True)


class SettlingSerializer(CaseQuerySerializer):
    """A grade, or why there is none; a grade that nobody gave needs a reason."""

    client_id = serializers.UUIDField(
        help_text="Yours to choose; one that comes again counts once."
    )
    grade = GradeValue(required=False)
    outcome = serializers.ChoiceField(
        [(outcome.value, outcome.label) for outcome in NO_GRADE], required=False
    )
    reason = serializers.CharField(required=False, allow_blank=True, max_length=4000)


class SettledSerializer(serializers.Serializer):
    outcome = serializers.CharField()
    grade = serializers.IntegerField(allow_null=True)


class CaseList(Endpoint):
    serializer_class = CaseSerializer
    scopes = {"POST": Scope.JUDGE}
    refusals = {"POST": (409,)}

    @extend_schema(
        operation_id="adjudication_list",
        summary="Documents whose labels lie apart, the most consequential first",
        tags=["judgments"],
        responses=CaseSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        inbox = inbox_of(self.benchmark_for(Action.ADJUDICATE), request.user)
        return self.page_of(inbox.cases, CaseSerializer)

    @extend_schema(
        operation_id="adjudication_settle",
        summary="Settle a case: a grade, or why there is none",
        tags=["judgments"],
        request=SettlingSerializer,
        responses={201: SettledSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.ADJUDICATE)
        fields = self.validated(SettlingSerializer)
        case = _case(benchmark, request, fields)
        form = AdjudicationForm(fields, grades=case.pair.grades)
        decision = adjudicate(
            benchmark=benchmark,
            query=case.query,
            docid=case.docid,
            actor=request.user,
            **self.cleaned(form),
        )
        return Response(SettledSerializer(decision).data, status=201)


class CaseDetail(Endpoint):
    serializer_class = CaseDetailSerializer
    pagination_class = None
    refusals = {"GET": (409,)}

    @extend_schema(
        operation_id="adjudication_case",
        summary="A case, with its texts and labels",
        tags=["judgments"],
        parameters=[CaseQuerySerializer],
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.ADJUDICATE)
        serializer = CaseQuerySerializer(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        case = _case(benchmark, request, serializer.validated_data)
        if is_withheld(benchmark, case.query):
            target = f"{case.query.qid} {case.docid}"
            audit.record(
                actor=request.user, action="read-judgments", benchmark=benchmark, target=target
            )
        return Response(CaseDetailSerializer(case).data)


def _case(benchmark: Benchmark, request: Request, fields: dict[str, Any]) -> Disputed:
    queries = Query.objects.committed().select_related("family").filter(benchmark=benchmark)
    query = get_object_or_404(queries, qid=fields["query"])
    case = case_to_settle(benchmark, query, fields["document"], request.user)
    if case is None:
        raise Http404
    return case


class PolicySerializer(serializers.Serializer):
    """The rule by which grades follow from labels."""

    rule = serializers.ChoiceField([rule.name for rule in RULES])
    adjudicate_from = serializers.IntegerField(
        required=False, min_value=1, max_value=10, help_text="Labels so far apart stay open."
    )
    unresolved = serializers.ChoiceField(AggregationPolicy.Unresolved.choices, required=False)
    smoothing = serializers.FloatField(
        required=False, min_value=0.001, max_value=10, help_text="Of Dawid-Skene."
    )


class PolicyDetail(Endpoint):
    serializer_class = PolicySerializer
    pagination_class = None

    @extend_schema(
        operation_id="policy_detail",
        summary="The rule that the next qrels and the list of cases follow",
        tags=["qrels"],
    )
    def get(self, request: Request, slug: str) -> Response:
        return self._answer(self.benchmark_for(Action.EDIT))

    @extend_schema(operation_id="policy_set", summary="Choose the rule", tags=["qrels"])
    def put(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        form = PolicyForm(self.validated(PolicySerializer), benchmark=benchmark)
        self.cleaned(form)
        set_policy(benchmark=benchmark, actor=request.user, **form.arguments())
        return self._answer(benchmark)

    def _answer(self, benchmark: Benchmark) -> Response:
        policy = policy_of(benchmark)
        return Response({"rule": policy.rule.name, **policy.settings.as_json()})


class CoverageSerializer(serializers.Serializer):
    """How far the queries of a slice are judged, over all pools."""

    slice = serializers.CharField(source="name")
    n_queries = serializers.IntegerField()
    n_pooled = serializers.IntegerField()
    n_wanted = serializers.IntegerField()
    n_done = serializers.IntegerField()


class SliceCoverage(Endpoint):
    serializer_class = CoverageSerializer

    @extend_schema(
        operation_id="pools_slices",
        summary="How far each slice is judged",
        tags=["pools"],
        responses=CoverageSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = slice_coverage(self.benchmark_for(Action.SEE_POOLS))
        return self.page_of(rows, CoverageSerializer)


of_benchmark = [
    path("agreement/", AgreementDetail.as_view(), name="agreement-detail"),
    path("adjudication/", CaseList.as_view(), name="case-list"),
    path("adjudication/case/", CaseDetail.as_view(), name="case-detail"),
    path("qrels/policy/", PolicyDetail.as_view(), name="policy-detail"),
    path("pools/slices/", SliceCoverage.as_view(), name="slice-coverage"),
]
