"""Endpoints of policies and gates."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS, UPLOADS
from benchmarks_app.clicks.api import LogSerializer, logs_of
from benchmarks_app.clicks.services import forget_logs, receive_logs
from benchmarks_app.models import Benchmark, Release, Run, Scope, Upload
from benchmarks_app.permissions import Action
from benchwright.errors import BenchmarkError
from benchwright.formats.numbers import row_key
from benchwright.gates.policy import DEFAULTS
from benchwright.gates.rehearsal.rehearsing import MOST_RUNS
from benchwright.gates.reports import written
from benchwright.recipes import clicks as recipes_of_clicks
from benchwright.recipes.splits import SEED
from scoring.gates.selectors import (
    gates_seen_by,
    policies_seen_by,
    policy_named,
    rehearsals_seen_by,
)
from scoring.gates.services.gating import start_gate, told
from scoring.gates.services.online import came_true, record_online_result
from scoring.gates.services.online_logs import LogAsked, start_reading
from scoring.gates.services.policies import make_policy, may_retire, retire_policy
from scoring.gates.services.rehearsing import rehearsal_seen, start_rehearsal
from scoring.models import GatePolicy, GateRehearsal, GateResult, OnlineResult
from scoring.scores.selectors.rankings import runs_named
from scoring.scores.selectors.releases import newest_release, release_of_version

TAG = ["gates"]
FAILED = "failed"
FORMATS = {
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
    "xml": "application/xml; charset=utf-8",
}


class GatePolicySerializer(serializers.ModelSerializer):
    """A policy; `digest` is the SHA-256 of `content` as canonical JSON."""

    baseline = serializers.CharField(source="baseline.name", read_only=True)
    content = serializers.DictField(read_only=True)
    rehearsal = serializers.SerializerMethodField()
    url = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = GatePolicy
        fields = ["id", "name", "version", "baseline", "content", "digest", "created_at"]
        fields += ["retired_at", "rehearsal", "url"]

    def get_rehearsal(self, policy: GatePolicy) -> dict[str, Any]:
        return rehearsal_seen(self.context["user"], policy.benchmark, policy.rehearsal)


class NewGatePolicySerializer(serializers.Serializer):
    """Runs by number or name; `content` is a policy (docs/gate.md), the usual one if left out."""

    name = serializers.CharField(max_length=120)
    baseline = serializers.CharField(max_length=120)
    lexical = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    content = serializers.DictField(required=False, default=DEFAULTS.as_dict)


class NewGateRehearsalSerializer(NewGatePolicySerializer):
    """A draft of a policy, and 1 to 10 runs by number or name, never the candidate."""

    runs = serializers.ListField(child=serializers.CharField(max_length=120), max_length=MOST_RUNS)
    release = serializers.CharField(max_length=32, required=False, allow_blank=True, default="")
    seed = api_field(SEED)


class GateRehearsalSerializer(serializers.ModelSerializer):
    """How often a draft is right: `result` is empty until it is done."""

    baseline = serializers.CharField(source="baseline.name", read_only=True)
    release = serializers.CharField(source="release.version", read_only=True)
    content = serializers.DictField(read_only=True)
    result = serializers.SerializerMethodField()
    url = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = GateRehearsal
        fields = ["id", "name", "baseline", "release", "content", "digest", "seed", "state"]
        fields += ["result", "error", "created_at", "url"]

    def get_result(self, rehearsal: GateRehearsal) -> dict[str, Any]:
        return rehearsal_seen(self.context["user"], rehearsal.benchmark, rehearsal.result)


class NewGateSerializer(serializers.Serializer):
    """A policy by number or name (its newest version in use), a run, and a release's version."""

    policy = serializers.CharField(max_length=120)
    candidate = serializers.CharField(max_length=120)
    release = serializers.CharField(max_length=32, required=False, allow_blank=True, default="")


class GateSerializer(serializers.ModelSerializer):
    """A gate; `verdict` is empty until it is decided, and `failed` where it could not be.

    One that `is_public` is decided on the queries of public splits alone.
    """

    policy = serializers.CharField(source="policy.name", read_only=True)
    policy_version = serializers.IntegerField(source="policy.version", read_only=True)
    release = serializers.CharField(source="release.version", read_only=True)
    candidate = serializers.CharField(source="candidate.name", read_only=True)
    verdict = serializers.SerializerMethodField()
    sentence = serializers.SerializerMethodField()
    resumes = serializers.IntegerField(source="resumes_id", read_only=True, allow_null=True)
    url = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = GateResult
        fields = ["id", "policy", "policy_version", "release", "candidate", "is_public", "state"]
        fields += ["verdict", "sentence", "error", "n_waiting", "resumes", "url"]
        fields += ["created_at", "decided_at"]

    def get_verdict(self, gate: GateResult) -> str:
        return FAILED if gate.state == GateResult.State.FAILED else gate.verdict

    def get_sentence(self, gate: GateResult) -> str:
        return gate.report.get("sentence", "")


class WholeGateSerializer(GateSerializer):
    """A gate with everything that was found, as the JSON report has it."""

    report = serializers.SerializerMethodField()

    class Meta(GateSerializer.Meta):
        fields = [*GateSerializer.Meta.fields, "report"]

    def get_report(self, gate: GateResult) -> dict[str, Any]:
        return told(gate, self.context["user"])


class OnlineResultSerializer(serializers.ModelSerializer):
    """Difference, low and high, or `has_no_interval` where the test gave none."""

    has_no_interval = serializers.BooleanField(required=False, default=False, write_only=True)

    class Meta:
        model = OnlineResult
        fields = ["outcome", "metric", "difference", "low", "high", "has_no_interval", "note"]
        fields += ["from_log", "created_at"]
        read_only_fields = ["from_log", "created_at"]


class OnlineLogSerializer(LogSerializer):
    """The log of an A/B test; the arms are called as the gate's runs unless told."""

    baseline_arm = serializers.CharField(
        max_length=200, required=False, default="", allow_blank=True
    )
    candidate_arm = serializers.CharField(
        max_length=200, required=False, default="", allow_blank=True
    )
    metric = api_field(recipes_of_clicks.OUTCOME)
    cutoff = api_field(recipes_of_clicks.CUTOFF)
    note = serializers.CharField(max_length=2000, required=False, default="", allow_blank=True)


class OutcomeShareSerializer(serializers.Serializer):
    """How many A/B tests came out so, with the 95 % Wilson interval of the share."""

    outcome = serializers.CharField()
    n = serializers.IntegerField()
    share = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class CameTrueSerializer(serializers.Serializer):
    verdict = serializers.CharField()
    n = serializers.IntegerField()
    outcomes = OutcomeShareSerializer(many=True)


class GateEndpoint(Endpoint):
    """What policies and gates share: runs by name, and who asks."""

    def run_of(self, benchmark: Benchmark, name: str, field: str) -> Run:
        """The run of a name or number that the caller sees; 400 with the field elsewhere."""
        runs = runs_named(benchmark, self.request.user, [name])
        if len(runs) != 1:
            raise exceptions.ValidationError({field: [f"There is no run '{name}' here."]})
        return runs[0]

    def release_of(self, benchmark: Benchmark, version: str) -> Release:
        release = release_of_version(benchmark, version) if version else newest_release(benchmark)
        if release is None:
            why = f"There is no release {version}." if version else "There is no release yet."
            raise exceptions.ValidationError({"release": [why]})
        return release

    def rehearsal_told(self, rehearsal: GateRehearsal) -> dict[str, Any]:
        return GateRehearsalSerializer(rehearsal, context={"user": self.request.user}).data

    def policy_told(self, policy: GatePolicy) -> dict[str, Any]:
        return GatePolicySerializer(policy, context={"user": self.request.user}).data

    def told_of(self, gate: GateResult) -> dict[str, Any]:
        return WholeGateSerializer(gate, context={"user": self.request.user}).data

    def gate(self, action: Action) -> GateResult:
        benchmark = self.benchmark_for(action)
        return get_object_or_404(gates_seen_by(self.request.user, benchmark), pk=self.kwargs["pk"])


class GatePolicyList(GateEndpoint):
    @extend_schema(
        operation_id="gate_policies_list", tags=TAG, responses=GatePolicySerializer(many=True)
    )
    def get(self, request: Request, **where: Any) -> Response:
        """Policies whose baseline the caller sees, newest versions first."""
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        page = self.paginate_queryset(policies_seen_by(request.user, benchmark))
        return self.get_paginated_response([self.policy_told(policy) for policy in page])

    @extend_schema(
        operation_id="gate_policies_create",
        tags=TAG,
        request=NewGatePolicySerializer,
        responses={201: GatePolicySerializer},
    )
    def post(self, request: Request, **where: Any) -> Response:
        """Freeze a policy, before the candidate is uploaded; a name in use gets a new version."""
        benchmark = self.benchmark_for(Action.SUBMIT)
        fields = self.validated(NewGatePolicySerializer)
        lexical = fields["lexical"] and self.run_of(benchmark, fields["lexical"], "lexical")
        policy = make_policy(
            benchmark=benchmark,
            name=fields["name"],
            baseline=self.run_of(benchmark, fields["baseline"], "baseline"),
            lexical=lexical or None,
            content=fields["content"],
            user=request.user,
        )
        return Response(self.policy_told(policy), status=status.HTTP_201_CREATED)


class PolicyEndpoint(GateEndpoint):
    def policy(self, action: Action) -> GatePolicy:
        policies = policies_seen_by(self.request.user, self.benchmark_for(action))
        return get_object_or_404(policies, pk=self.kwargs["pk"])


class GatePolicyDetail(PolicyEndpoint):
    @extend_schema(operation_id="gate_policy", tags=TAG, responses=GatePolicySerializer)
    def get(self, request: Request, **where: Any) -> Response:
        """One policy."""
        return Response(self.policy_told(self.policy(Action.SEE_RESULTS)))


class GatePolicyRetire(PolicyEndpoint):
    @extend_schema(
        operation_id="gate_policy_retire", tags=TAG, request=None, responses=GatePolicySerializer
    )
    def post(self, request: Request, **where: Any) -> Response:
        """Let a policy decide no more gates; its maker and the benchmark's keepers may."""
        policy = self.policy(Action.SUBMIT)
        if not may_retire(request.user, policy):
            raise PermissionDenied
        return Response(self.policy_told(retire_policy(policy=policy, user=request.user)))


class GateRehearsalList(GateEndpoint):
    limits = {"POST": COMPUTATIONS}

    @extend_schema(
        operation_id="gate_rehearsals_create",
        tags=TAG,
        request=NewGateRehearsalSerializer,
        responses={202: GateRehearsalSerializer},
    )
    def post(self, request: Request, **where: Any) -> Response:
        """Ask how often a draft is right on runs that are there, before it is frozen."""
        benchmark = self.benchmark_for(Action.SUBMIT)
        fields = self.validated(NewGateRehearsalSerializer)
        lexical = fields["lexical"] and self.run_of(benchmark, fields["lexical"], "lexical")
        rehearsal = start_rehearsal(
            benchmark=benchmark,
            release=self.release_of(benchmark, fields["release"]),
            name=fields["name"],
            baseline=self.run_of(benchmark, fields["baseline"], "baseline"),
            lexical=lexical or None,
            runs=[self.run_of(benchmark, name, "runs") for name in dict.fromkeys(fields["runs"])],
            content=fields["content"],
            seed=fields["seed"],
            user=request.user,
        )
        return Response(self.rehearsal_told(rehearsal), status=status.HTTP_202_ACCEPTED)


class GateRehearsalDetail(GateEndpoint):
    @extend_schema(operation_id="gate_rehearsal", tags=TAG, responses=GateRehearsalSerializer)
    def get(self, request: Request, **where: Any) -> Response:
        """One's own rehearsal, with the rates once it is done; keepers see all."""
        rehearsals = rehearsals_seen_by(request.user, self.benchmark_for(Action.SUBMIT))
        return Response(self.rehearsal_told(get_object_or_404(rehearsals, pk=self.kwargs["pk"])))


class GateList(GateEndpoint):
    limits = {"POST": COMPUTATIONS}
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(
        operation_id="gates_list",
        tags=TAG,
        parameters=[
            OpenApiParameter("verdict", enum=GateResult.Verdict.values),
            OpenApiParameter("policy", description="A policy's name."),
        ],
        responses=GateSerializer(many=True),
    )
    def get(self, request: Request, **where: Any) -> Response:
        """Gates of whose both runs the caller sees, the newest first."""
        gates = self._filtered(gates_seen_by(request.user, self.benchmark_for(Action.SEE_RESULTS)))
        page = self.paginate_queryset(gates)
        serializer = GateSerializer(page, many=True, context={"user": request.user})
        return self.get_paginated_response(serializer.data)

    def _filtered(self, gates: QuerySet[GateResult]) -> QuerySet[GateResult]:
        if verdict := self.choice("verdict", GateResult.Verdict.values):
            gates = gates.filter(verdict=verdict)
        if policy := self.request.query_params.get("policy"):
            gates = gates.filter(policy__name=policy)
        return gates

    @extend_schema(
        operation_id="gates_create",
        tags=TAG,
        request=NewGateSerializer,
        responses={202: WholeGateSerializer, 200: WholeGateSerializer},
    )
    def post(self, request: Request, **where: Any) -> Response:
        """Ask for a verdict; asked for before, the same one comes back (200)."""
        benchmark = self.benchmark_for(Action.SUBMIT)
        fields = self.validated(NewGateSerializer)
        gate = start_gate(
            policy=self._policy(benchmark, fields["policy"]),
            candidate=self.run_of(benchmark, fields["candidate"], "candidate"),
            release=self.release_of(benchmark, fields["release"]),
            user=request.user,
        )
        is_new = gate.state == GateResult.State.QUEUED
        code = status.HTTP_202_ACCEPTED if is_new else status.HTTP_200_OK
        return Response(self.told_of(gate), status=code)

    def _policy(self, benchmark: Benchmark, name: str) -> GatePolicy:
        user = self.request.user
        policy = policy_named(user, benchmark, name)
        key = row_key(name)
        if policy is None and key is not None:
            policy = policies_seen_by(user, benchmark).filter(pk=key).first()
        if policy is None:
            told_why = f"There is no policy '{name}' in use here."
            raise exceptions.ValidationError({"policy": [told_why]})
        return policy


class GateDetail(GateEndpoint):
    @extend_schema(operation_id="gate", tags=TAG, responses=WholeGateSerializer)
    def get(self, request: Request, **where: Any) -> Response:
        """One gate, with its report once it is decided."""
        return Response(self.told_of(self.gate(Action.SEE_RESULTS)))


class GateReport(GateEndpoint):
    @extend_schema(
        operation_id="gate_report",
        tags=TAG,
        parameters=[OpenApiParameter("kind", location="path", enum=list(FORMATS))],
        responses={(200, kind.partition(";")[0]): OpenApiTypes.STR for kind in FORMATS.values()},
    )
    def get(self, request: Request, **where: Any) -> HttpResponse:
        """The report: `md` (Markdown), `json` or `xml` (JUnit); 404 until it is decided."""
        report = told(self.gate(Action.SEE_RESULTS), request.user)
        kind = self.kwargs["kind"]
        if kind not in FORMATS or not report:
            raise Http404
        return HttpResponse(written(report, f".{kind}"), content_type=FORMATS[kind])


class GateOnline(GateEndpoint):
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(
        operation_id="gate_online_list", tags=TAG, responses=OnlineResultSerializer(many=True)
    )
    def get(self, request: Request, **where: Any) -> Response:
        """What A/B tests said of the candidate."""
        results = self.gate(Action.SEE_RESULTS).online_results.order_by("pk")
        return self.page_of(results, OnlineResultSerializer)

    @extend_schema(
        operation_id="gate_online_create",
        tags=TAG,
        request=OnlineResultSerializer,
        responses={201: OnlineResultSerializer},
    )
    def post(self, request: Request, **where: Any) -> Response:
        """Record what an A/B test said."""
        gate = self.gate(Action.SUBMIT)
        fields = self.validated(OnlineResultSerializer)
        online = record_online_result(gate=gate, user=request.user, **fields)
        return Response(OnlineResultSerializer(online).data, status=status.HTTP_201_CREATED)


class GateOnlineLog(GateEndpoint):
    limits = {"POST": UPLOADS}
    scopes = {"POST": Scope.SUBMIT}
    parser_classes = [MultiPartParser]
    pagination_class = None

    @extend_schema(
        operation_id="gate_online_log",
        summary="Read the log of an A/B test; a job records what it says of the candidate",
        tags=TAG,
        request={"multipart/form-data": OnlineLogSerializer},
        responses={202: JobSerializer},
    )
    def post(self, request: Request, **where: Any) -> Response:
        gate = self.gate(Action.SUBMIT)
        fields = self.validated(OnlineLogSerializer)
        benchmark, logs = gate.policy.benchmark, logs_of(fields)
        uploads: list[Upload] = []
        try:
            uploads = receive_logs(benchmark=benchmark, user=request.user, logs=logs)
            options = LogAsked(**fields)
            job = start_reading(gate=gate, user=request.user, uploads=uploads, options=options)
        except BenchmarkError:
            forget_logs(uploads)
            raise
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class GateCameTrue(GateEndpoint):
    @extend_schema(
        operation_id="gates_came_true", tags=TAG, responses=CameTrueSerializer(many=True)
    )
    def get(self, request: Request, **where: Any) -> Response:
        """How often gates came true: of each verdict what A/B tests said afterwards."""
        names = ("outcome", "n", "share", "low", "high")
        rows = [
            {
                "verdict": row.verdict.value,
                "n": row.n,
                "outcomes": [dict(zip(names, cell, strict=True)) for cell in row.cells],
            }
            for row in came_true(request.user, self.benchmark_for(Action.SEE_RESULTS))
        ]
        return self.page_of(rows, CameTrueSerializer)


of_benchmark = [
    path("gates/policies/", GatePolicyList.as_view(), name="gate-policy-list"),
    path("gates/policies/<int:pk>/", GatePolicyDetail.as_view(), name="gate-policy-detail"),
    path("gates/policies/<int:pk>/retire/", GatePolicyRetire.as_view(), name="gate-policy-retire"),
    path("gates/rehearsals/", GateRehearsalList.as_view(), name="gate-rehearsal-list"),
    path("gates/rehearsals/<int:pk>/", GateRehearsalDetail.as_view(), name="gate-rehearsal-detail"),
    path("gates/", GateList.as_view(), name="gate-list"),
    path("gates/came-true/", GateCameTrue.as_view(), name="gate-came-true"),
    path("gates/<int:pk>/", GateDetail.as_view(), name="gate-detail"),
    path("gates/<int:pk>/report.<slug:kind>", GateReport.as_view(), name="gate-report"),
    path("gates/<int:pk>/online/", GateOnline.as_view(), name="gate-online"),
    path("gates/<int:pk>/online/log/", GateOnlineLog.as_view(), name="gate-online-log"),
]
