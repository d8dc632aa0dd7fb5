"""Endpoints of benchmarks and of the runs in them."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import BenchmarkDetailSerializer, BenchmarkSummarySerializer
from benchmarks_app.collections.forms import BenchmarkForm, SettingsForm
from benchmarks_app.collections.services.benchmarks import change_settings, create_benchmark
from benchmarks_app.common.selectors.naming import facts_told, owner_name
from benchmarks_app.models import Benchmark, Corpus, Run, Unit
from benchmarks_app.permissions import Action, role_in
from benchwright.qrels.scales import DEFAULT_SCALE


class NewBenchmarkSerializer(serializers.Serializer):
    """What *New benchmark* asks for; read by the form of that page, with its defaults."""

    name = serializers.CharField(max_length=120)
    slug = serializers.SlugField(
        max_length=60,
        required=False,
        help_text="Part of every address; made from the name where it is not told.",
    )
    description = serializers.CharField(required=False, allow_blank=True)
    corpus_kind = serializers.ChoiceField(Corpus.Kind.choices, default=Corpus.Kind.TEXTS)
    corpus_of = serializers.SlugField(
        required=False, help_text="A benchmark that you keep, whose corpus is shared."
    )
    unit = serializers.ChoiceField(Unit.choices, default=Unit.DOCUMENT)
    lang = serializers.CharField(max_length=35, default="en", help_text="Such as en, de, sw.")
    tie_rule = serializers.ChoiceField(
        Benchmark.TieRule.choices,
        default=Benchmark.TieRule.TREC,
        help_text="Which document goes first of equal scores. It stays.",
    )
    scale = serializers.CharField(
        default=DEFAULT_SCALE,
        help_text="A line each: digit = name: what it means. A * at the end marks relevant grades.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        form = BenchmarkForm(attrs, user=self.context["request"].user)
        if attrs.get("corpus_of") and "corpus_of" not in form.fields:
            message = "Expected a benchmark that you keep; you keep none."
            raise serializers.ValidationError({"corpus_of": [message]})
        if not form.is_valid():
            raise serializers.ValidationError(dict(form.errors))
        return form.cleaned_data


class BenchmarkList(Endpoint):
    serializer_class = BenchmarkSummarySerializer

    @extend_schema(
        summary="Benchmarks you may see",
        tags=["benchmarks"],
        responses=BenchmarkSummarySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        rows = Benchmark.objects.visible_to(request.user).order_by("name", "pk")
        return self.page_of(rows, BenchmarkSummarySerializer)

    @extend_schema(
        summary="Make a benchmark, with its grades; you own it",
        tags=["benchmarks"],
        request=NewBenchmarkSerializer,
        responses={201: BenchmarkSummarySerializer},
    )
    def post(self, request: Request) -> Response:
        caller = self.caller()
        benchmark = create_benchmark(owner=caller, **self.validated(NewBenchmarkSerializer))
        answer = BenchmarkSummarySerializer(benchmark).data
        return Response(answer, status=status.HTTP_201_CREATED)


class BenchmarkChangeSerializer(serializers.ModelSerializer):
    """What changes; the rest stays. The guideline has an address of its own."""

    text_format = serializers.ChoiceField(
        Corpus.TextFormat.choices, help_text="How annotators see a text: as it is, or rendered."
    )
    line_breaks = serializers.ChoiceField(
        Corpus.LineBreaks.choices, help_text="What a single line break in plain text is."
    )

    class Meta:
        model = Benchmark
        fields = ["name", "description", "visibility", "may_embed", "text_format", "line_breaks"]


class BenchmarkDetail(Endpoint):
    serializer_class = BenchmarkDetailSerializer
    pagination_class = None

    @extend_schema(summary="A benchmark with its grades and counts", tags=["benchmarks"])
    def get(self, request: Request, slug: str) -> Response:
        return self._answer(self.benchmark_for(Action.VIEW))

    @extend_schema(
        summary="Change a benchmark's name, description, visibility, or how its texts are shown",
        tags=["benchmarks"],
        request=BenchmarkChangeSerializer(partial=True),
        responses=BenchmarkDetailSerializer,
    )
    def patch(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        changes = self.validated(BenchmarkChangeSerializer, partial=True)
        as_it_is = {name: getattr(benchmark, name) for name in SettingsForm.Meta.fields}
        form = SettingsForm({**as_it_is, **changes}, instance=benchmark)
        cleaned = self.cleaned(form)
        change_settings(
            benchmark=form.save(commit=False),
            actor=request.user,
            changed=set(changes) & set(SettingsForm.Meta.fields),
            text_format=cleaned["text_format"],
            line_breaks=cleaned["line_breaks"],
        )
        return self._answer(benchmark)

    def _answer(self, benchmark: Benchmark) -> Response:
        version = benchmark.current_corpus_version
        vars(benchmark).update(
            n_queries=benchmark.queries.committed().count(),
            n_documents=version.n_documents if version else None,
            role=role_in(self.request.user, benchmark),
        )
        return Response(BenchmarkDetailSerializer(benchmark).data)


# --- runs --------------------------------------------------------------------------------------


class RunSummarySerializer(serializers.ModelSerializer):
    """A run; `owner` is its team or person, "anonymous" where you are not to be told."""

    owner = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = [
            *("id", "name", "kind", "owner", "n_queries", "n_rows", "depth", "pooled_depth"),
            *("visibility", "withdrawn_at", "created_at"),
        ]

    def get_owner(self, run: Run) -> str:
        return owner_name(run, self.context["request"].user)


class FactSerializer(serializers.Serializer):
    label = serializers.CharField()
    value = serializers.CharField()
    href = serializers.CharField(help_text="Empty where there is no link.")


class RunDetailSerializer(RunSummarySerializer):
    """A run with what it says of its system, and the digest of its file."""

    facts = serializers.SerializerMethodField()

    class Meta(RunSummarySerializer.Meta):
        fields = [
            *RunSummarySerializer.Meta.fields,
            *("description", "sha256", "public_from", "anonymous_until", "facts"),
        ]

    @extend_schema_field(FactSerializer(many=True))
    def get_facts(self, run: Run) -> Any:
        facts = facts_told(run, self.context["request"].user)
        return FactSerializer(facts, many=True).data


class RunList(Endpoint):
    serializer_class = RunSummarySerializer

    @extend_schema(
        operation_id="runs_list",
        summary="The runs of a benchmark that you may see, by name",
        tags=["runs"],
        parameters=[OpenApiParameter("kind", enum=Run.Kind.values, description="Of this kind.")],
        responses=RunSummarySerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        runs = Run.objects.visible_to(request.user).standing().filter(benchmark=benchmark)
        if kind := self.choice("kind", Run.Kind.values):
            runs = runs.filter(kind=kind)
        rows = runs.select_related("owner", "team", "benchmark").order_by("name", "pk")
        return self.page_of(rows, RunSummarySerializer)


class RunDetail(Endpoint):
    serializer_class = RunDetailSerializer
    pagination_class = None

    @extend_schema(operation_id="runs_detail", summary="A run and its facts", tags=["runs"])
    def get(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        runs = Run.objects.visible_to(request.user).select_related("owner", "team", "benchmark")
        run = get_object_or_404(runs, benchmark=benchmark, pk=pk)
        return Response(RunDetailSerializer(run, context={"request": request}).data)


of_benchmark = [
    path("", BenchmarkDetail.as_view(), name="benchmark-detail"),
    path("runs/", RunList.as_view(), name="run-list"),
    path("runs/<int:pk>/", RunDetail.as_view(), name="run-detail"),
]
