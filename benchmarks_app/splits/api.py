"""Endpoints of splits: what is in force, preview, apply, the leak report; and contamination."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint, qrels_asked
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS, UPLOADS
from benchmarks_app.collections.services.uploading import receive_upload
from benchmarks_app.common.services.exposure import record_read
from benchmarks_app.models import Benchmark, ContaminatedQuery, ContaminationCheck, Scope
from benchmarks_app.permissions import Action, may
from benchmarks_app.splits import selectors
from benchmarks_app.splits.services import contamination, leak_reports, splitting
from benchwright.leaks import as_markdown
from benchwright.recipes import splits
from benchwright.recipes.splits import Mode
from benchwright.splits import DEFAULT_SHARES, SPLITS, SplitRecipe

MOST_GIVEN = 1_000_000


class RecipeSerializer(serializers.Serializer):
    """How to split; `shares` are parts of 1, `given` is {query id: split or "none"}."""

    mode = api_field(splits.MODE)
    shares = serializers.DictField(
        child=api_field(splits.SHARE, required=True), default=dict(DEFAULT_SHARES)
    )
    seed = api_field(splits.SEED)
    test_from = api_field(splits.TEST_FROM)
    dev_from = api_field(splits.DEV_FROM)
    gap_days = api_field(splits.GAP_DAYS)
    straddling = api_field(splits.STRADDLING)
    slice = serializers.CharField(default="", allow_blank=True)
    given = serializers.DictField(child=serializers.CharField(), allow_null=True, default=None)
    qrels = serializers.CharField(default="", allow_blank=True)
    hidden = serializers.ListField(
        child=serializers.ChoiceField(SPLITS), allow_null=True, default=None
    )
    accept_small = serializers.BooleanField(default=False)
    document_date = serializers.CharField(default="", allow_blank=True)

    def validate_given(self, assignment: dict[str, str] | None) -> dict[str, str] | None:
        if assignment and len(assignment) > MOST_GIVEN:
            why = f"Send at most {MOST_GIVEN:,} queries."
            raise serializers.ValidationError(why)
        return assignment


class HiddenSerializer(serializers.Serializer):
    hidden = serializers.ListField(child=serializers.ChoiceField(SPLITS))


class PlanSerializer(serializers.Serializer):
    """How the split in force was made, its sizes, and whether it is out of date."""

    mode = serializers.CharField(allow_null=True)
    seed = serializers.IntegerField(allow_null=True)
    algorithm = serializers.CharField(allow_null=True)
    parameters = serializers.JSONField()
    inputs_sha256 = serializers.CharField(allow_null=True)
    assignment_sha256 = serializers.CharField(allow_null=True)
    sizes = serializers.DictField(child=serializers.IntegerField())
    n_excluded = serializers.IntegerField()
    n_unsplit = serializers.IntegerField()
    is_outdated = serializers.BooleanField()
    hidden_splits = serializers.ListField(child=serializers.CharField())


class ContaminationSerializer(serializers.ModelSerializer):
    """A check; `slices` counts by slice what was found, `all queries` first."""

    slices = serializers.SerializerMethodField()

    class Meta:
        model = ContaminationCheck
        fields = [
            *("id", "name", "kind", "n_outside", "n_exact", "n_near", "n_possible"),
            *("slices", "created_at"),
        ]

    def get_slices(self, check: ContaminationCheck) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = check.result["slices"]
        if self.context.get("see_documents"):
            return rows
        return [{key: n for key, n in row.items() if key != "n_document"} for row in rows]


class ContaminatedQuerySerializer(serializers.ModelSerializer):
    query = serializers.CharField(source="query.qid")

    class Meta:
        model = ContaminatedQuery
        fields = ["query", "degree", "similarity", "outside_text"]


class ListSerializer(serializers.Serializer):
    file = serializers.FileField()
    name = serializers.CharField(max_length=120, default="", allow_blank=True)
    salt = serializers.CharField(max_length=200, default="", allow_blank=True)


class SplitDetail(Endpoint):
    limits = {"POST": COMPUTATIONS}
    pagination_class = None

    @extend_schema(
        summary="The split in force, and how it was made",
        tags=["splits"],
        responses=PlanSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(_plan(self.benchmark_for(Action.VIEW)))

    @extend_schema(
        summary="Split the queries by their families",
        description="A large benchmark is split by a job: then the answer is 202 and the job.",
        tags=["splits"],
        request=RecipeSerializer,
        responses={200: PlanSerializer, 202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(RecipeSerializer)
        options = {"recipe": _recipe(fields), **_options(benchmark, fields)}
        given_splits = _given(benchmark, fields)
        if given_splits is None and splitting.takes_long(benchmark):
            job = splitting.start_split(benchmark=benchmark, user=request.user, **options)
            return Response(JobSerializer(job).data, status=202)
        splitting.apply_split(
            benchmark=benchmark, user=request.user, given_splits=given_splits, **options
        )
        return Response(_plan(benchmark))


class SplitPreview(Endpoint):
    limits = {"POST": COMPUTATIONS}
    scopes = {"POST": Scope.READ}
    pagination_class = None

    @extend_schema(
        summary="What a split would be like; nothing is stored",
        tags=["splits"],
        request=RecipeSerializer,
        responses={200: OpenApiTypes.OBJECT},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(RecipeSerializer)
        preview = splitting.previewed(
            benchmark=benchmark,
            recipe=_recipe(fields),
            given_splits=_given(benchmark, fields),
            **_options(benchmark, fields),
        )
        return Response(preview)


class SplitHide(Endpoint):
    pagination_class = None

    @extend_schema(
        summary="Choose the splits whose grades are hidden",
        tags=["splits"],
        request=HiddenSerializer,
        responses=PlanSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(HiddenSerializer)
        splitting.choose_hidden(benchmark=benchmark, user=request.user, hidden=fields["hidden"])
        return Response(_plan(benchmark))


class LeakReport(Endpoint):
    pagination_class = None

    @extend_schema(
        summary="What leaks between the splits, with the proof",
        description="Computed when it is asked for; with very many queries that takes minutes, "
        "and the answer is 202 with a job.",
        tags=["splits"],
        responses={200: OpenApiTypes.OBJECT, 202: JobSerializer},
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        see_hidden = may(request.user, Action.EDIT, benchmark)
        report = leak_reports.kept_leak_report(benchmark, see_hidden=see_hidden)
        if report is None and leak_reports.leaks_take_long(benchmark):
            if not see_hidden:
                raise Http404
            job = leak_reports.start_leak_report(benchmark=benchmark, user=request.user)
            return Response(JobSerializer(job).data, status=202)
        if report is None:
            report = leak_reports.current_leak_report(benchmark, see_hidden=see_hidden)
        if see_hidden and benchmark.hidden_splits:
            record_read(actor=request.user, benchmark=benchmark, what="leak report")
        return Response(report)


class LeakReportMarkdown(Endpoint):
    pagination_class = None

    @extend_schema(
        summary="The leak report as everyone may see it, as Markdown",
        tags=["splits"],
        responses={(200, "text/markdown"): OpenApiResponse(OpenApiTypes.STR)},
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        report = leak_reports.kept_leak_report(benchmark)
        if report is None and not leak_reports.leaks_take_long(benchmark):
            report = leak_reports.current_leak_report(benchmark)
        if report is None:
            raise Http404
        return HttpResponse(as_markdown(report), content_type="text/markdown; charset=utf-8")


class ContaminationList(Endpoint):
    limits = {"POST": UPLOADS}
    serializer_class = ContaminationSerializer
    parser_classes = [MultiPartParser]

    @extend_schema(
        summary="Checks against lists from outside, the newest first",
        tags=["splits"],
        responses=ContaminationSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        page = self.paginate_queryset(benchmark.contamination_checks.order_by("-pk"))
        context = {"see_documents": may(request.user, Action.EDIT, benchmark)}
        rows = ContaminationSerializer(page, many=True, context=context).data
        return self.get_paginated_response(rows)

    @extend_schema(
        summary="Check the queries against a list or a sketch",
        tags=["splits"],
        request={"multipart/form-data": ListSerializer},
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(ListSerializer)
        upload = receive_upload(benchmark=benchmark, owner=request.user, file=fields["file"])
        job = contamination.start_check(
            benchmark=benchmark,
            user=request.user,
            upload=upload,
            name=fields["name"],
            salt=fields["salt"],
        )
        return Response(JobSerializer(job).data, status=202)


class ContaminationSaltSerializer(serializers.Serializer):
    salt = serializers.CharField()


class ContaminationSalt(Endpoint):
    serializer_class = ContaminationSaltSerializer
    pagination_class = None

    @extend_schema(
        operation_id="contamination_salt",
        summary="The salt that a list's owner makes a sketch for this benchmark with",
        tags=["splits"],
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response({"salt": contamination.salt_of(self.benchmark_for(Action.EDIT))})


class ContaminationDetail(Endpoint):
    serializer_class = ContaminationSerializer
    pagination_class = None

    @extend_schema(summary="A check, by slice", tags=["splits"])
    def get(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        check = get_object_or_404(benchmark.contamination_checks, pk=pk)
        context = {"see_documents": may(request.user, Action.EDIT, benchmark)}
        return Response(ContaminationSerializer(check, context=context).data)

    @extend_schema(summary="Delete a check", tags=["splits"], responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        check = get_object_or_404(benchmark.contamination_checks, pk=pk)
        contamination.delete_check(check=check, user=request.user)
        return Response(status=204)


class CleanSliceSerializer(serializers.Serializer):
    without_possible = serializers.BooleanField(
        default=False, help_text="Leave out queries that are possibly among the outside ones, too."
    )


class CleanQuerySerializer(serializers.Serializer):
    """A query that nothing of the list is like."""

    query = serializers.CharField(source="*")


class MadeSliceSerializer(serializers.Serializer):
    name = serializers.CharField()


class ContaminationClean(Endpoint):
    serializer_class = CleanQuerySerializer

    @extend_schema(
        operation_id="contamination_clean",
        summary="The clean queries of a check",
        tags=["splits"],
        responses=CleanQuerySerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        check = get_object_or_404(self.benchmark_for(Action.VIEW).contamination_checks, pk=pk)
        return self.page_of(contamination.clean_qids(check), CleanQuerySerializer)

    @extend_schema(
        operation_id="contamination_clean_slice",
        summary="Make a slice of the clean queries of a check",
        tags=["splits"],
        request=CleanSliceSerializer,
        responses={201: MadeSliceSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        check = get_object_or_404(self.benchmark_for(Action.EDIT).contamination_checks, pk=pk)
        fields = self.validated(CleanSliceSerializer)
        query_slice = contamination.make_clean_slice(check=check, user=request.user, **fields)
        return Response({"name": query_slice.name}, status=201)


class SplitQuerySerializer(serializers.Serializer):
    query = serializers.CharField()
    split = serializers.CharField()


class SplitQueries(Endpoint):
    serializer_class = SplitQuerySerializer

    @extend_schema(
        operation_id="splits_queries",
        summary="Which query is in which split",
        tags=["splits"],
        responses=SplitQuerySerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = list(selectors.assignment_rows(self.benchmark_for(Action.VIEW)))
        page = self.paginate_queryset(rows) or ()
        return self.get_paginated_response([{"query": qid, "split": split} for qid, split in page])


class ContaminationMatches(Endpoint):
    serializer_class = ContaminatedQuerySerializer

    @extend_schema(
        summary="The queries that a check found, the nearest first",
        tags=["splits"],
        responses=ContaminatedQuerySerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        check = get_object_or_404(benchmark.contamination_checks, pk=pk)
        rows = check.matches.select_related("query").order_by("-similarity", "pk")
        if not may(request.user, Action.EDIT, benchmark):
            # Which documents are relevant to a query may be hidden.
            rows = rows.exclude(degree=ContaminatedQuery.Degree.DOCUMENT)
        return self.page_of(rows, ContaminatedQuerySerializer)


# --- what was sent, and what is said -------------------------------------------------------


def _recipe(fields: dict[str, Any]) -> SplitRecipe:
    return SplitRecipe(
        mode=fields["mode"],
        shares={split: share for split, share in fields["shares"].items() if share},
        seed=fields["seed"],
        test_from=fields["test_from"],
        dev_from=fields["dev_from"],
        gap_days=fields["gap_days"],
        straddling=fields["straddling"],
        slice_name=fields["slice"],
    )


def _options(benchmark: Benchmark, fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "qrel_set": qrels_asked(benchmark, fields["qrels"]) if fields["qrels"] else None,
        "hidden": fields["hidden"],
        "accept_small": fields["accept_small"],
        "document_date": fields["document_date"],
    }


def _given(benchmark: Benchmark, fields: dict[str, Any]) -> dict[str, str] | None:
    if fields["mode"] != Mode.GIVEN:
        return None
    rows = fields["given"] or {}
    lines = (f"{qid}\t{split}\n".encode() for qid, split in rows.items())
    return splitting.given_from(benchmark, lines, file="given")


def _plan(benchmark: Benchmark) -> dict[str, Any]:
    plan = selectors.current_plan(benchmark)
    sizes = selectors.split_sizes(benchmark)
    facts: dict[str, Any] = (
        selectors.plan_facts(plan)
        if plan
        else {
            **dict.fromkeys(("mode", "seed", "algorithm", "inputs_sha256", "assignment_sha256")),
            "parameters": {},
            "n_excluded": 0,
        }
    )
    body = {
        **facts,
        "sizes": {split: sizes.get(split, 0) for split in SPLITS},
        "n_unsplit": sizes.get("", 0),
        "is_outdated": plan is not None and selectors.is_outdated(benchmark, plan),
        "hidden_splits": benchmark.hidden_splits,
    }
    return PlanSerializer(body).data


of_benchmark = [
    path("splits/", SplitDetail.as_view(), name="split-detail"),
    path("splits/preview/", SplitPreview.as_view(), name="split-preview"),
    path("splits/hide/", SplitHide.as_view(), name="split-hide"),
    path("splits/leaks/", LeakReport.as_view(), name="leak-report"),
    path("splits/leaks.md", LeakReportMarkdown.as_view(), name="leak-report-markdown"),
    path("contamination/", ContaminationList.as_view(), name="contamination-list"),
    path("contamination/salt/", ContaminationSalt.as_view(), name="contamination-salt"),
    path("contamination/<int:pk>/", ContaminationDetail.as_view(), name="contamination-detail"),
    path("splits/queries/", SplitQueries.as_view(), name="split-queries"),
    path("contamination/<int:pk>/clean/", ContaminationClean.as_view(), name="contamination-clean"),
    path(
        "contamination/<int:pk>/matches/",
        ContaminationMatches.as_view(),
        name="contamination-matches",
    ),
]
