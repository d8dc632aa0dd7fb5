"""The endpoint of benchmarks: those one may see, and a new one."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import BenchmarkSummarySerializer
from benchmarks_app.collections.forms.benchmarks import BenchmarkForm
from benchmarks_app.collections.services.benchmarks import create_benchmark
from benchmarks_app.models import Benchmark, Corpus, Unit
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
        if not request.user.is_authenticated:
            raise exceptions.NotAuthenticated(code="not_authenticated")
        benchmark = create_benchmark(owner=request.user, **self.validated(NewBenchmarkSerializer))
        answer = BenchmarkSummarySerializer(benchmark).data
        return Response(answer, status=status.HTTP_201_CREATED)
