"""Endpoints of corpora: what is in them, snapshots, collections by name, grades by document."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import Id, JobSerializer, QrelSetSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.collections import selectors
from benchmarks_app.collections.services import snapshots, units
from benchmarks_app.importing.services import fetching
from benchmarks_app.models import Benchmark, Corpus, CorpusVersion, QrelSet, Unit
from benchmarks_app.permissions import Action, may
from benchwright.corpora.cuts import LARGEST_SEED, cut_sentence

UNITS = Unit.values


class CorpusVersionSerializer(serializers.ModelSerializer):
    """A state of a corpus; `difference` counts what it changed of the one before."""

    difference = serializers.SerializerMethodField()
    cut_sentence = serializers.SerializerMethodField()
    cut = serializers.JSONField(read_only=True)

    class Meta:
        model = CorpusVersion
        fields = [
            "number",
            "state",
            "n_documents",
            "n_parents",
            "n_bytes",
            "sha256",
            "snapshot_date",
            "source",
            "difference",
            "cut",
            "cut_sentence",
            "created_at",
        ]

    def get_difference(self, version: CorpusVersion) -> dict[str, int]:
        counts = ("base", "added", "changed", "described", "removed", "unchanged")
        return {name: version.difference[name] for name in counts if name in version.difference}

    def get_cut_sentence(self, version: CorpusVersion) -> str:
        return cut_sentence(version.cut)


class CorpusSerializer(serializers.ModelSerializer):
    """What is known of a benchmark's corpus; `measures` is the unit of the benchmark."""

    measures = serializers.CharField(read_only=True)
    shown_metadata = serializers.ListField(child=serializers.CharField(), read_only=True)
    benchmarks = serializers.ListField(
        child=serializers.CharField(), read_only=True, source="shown_benchmarks"
    )
    versions = CorpusVersionSerializer(many=True, read_only=True, source="shown_versions")

    class Meta:
        model = Corpus
        fields = [
            "name",
            "unit",
            "measures",
            "lang",
            "kind",
            "text_format",
            "may_be_passed_on",
            "shown_metadata",
            "benchmarks",
            "versions",
        ]


class CorpusChangeSerializer(serializers.Serializer):
    unit = serializers.ChoiceField(choices=UNITS, required=False, help_text="of the corpus' rows")
    measures = serializers.ChoiceField(
        choices=UNITS, required=False, help_text="what the benchmark measures"
    )
    lang = serializers.CharField(max_length=35, required=False)
    may_be_passed_on = serializers.BooleanField(required=False)
    shown_metadata = serializers.ListField(child=serializers.CharField(), required=False)


class SnapshotDecisionSerializer(serializers.Serializer):
    """What is to become of a proposed snapshot."""

    decision = serializers.ChoiceField(choices=["take", "discard"])


class AtStakeSerializer(serializers.Serializer):
    """Labels and grades of a benchmark that a snapshot touches; null: one you may not see."""

    benchmark = serializers.CharField(allow_null=True)
    labels_moved = serializers.IntegerField()
    labels_gone = serializers.IntegerField()
    qrels_moved = serializers.IntegerField()
    qrels_gone = serializers.IntegerField()


class SnapshotSerializer(CorpusVersionSerializer):
    """A version with the first ids of each kind of change, and the labels it touches."""

    examples = serializers.SerializerMethodField()
    labels = serializers.SerializerMethodField()

    class Meta(CorpusVersionSerializer.Meta):
        fields = [*CorpusVersionSerializer.Meta.fields, "examples", "labels"]

    def get_examples(self, version: CorpusVersion) -> dict[str, list[str]]:
        return version.difference.get("examples", {})

    @extend_schema_field(AtStakeSerializer(many=True))
    def get_labels(self, version: CorpusVersion) -> list[dict[str, Any]]:
        labels = selectors.labels_at_stake(version, self.context["request"].user)
        rows = [
            {**label, "benchmark": label["benchmark"] and label["benchmark"].slug}
            for label in labels
        ]
        return list(AtStakeSerializer(rows, many=True).data)


class FetchSerializer(serializers.Serializer):
    collection = serializers.CharField(
        max_length=300, help_text="beir:NAME, hub:OWNER/NAME[@REVISION] or irds:ID"
    )
    max_docs = Id(required=False, allow_null=True)
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST_SEED, required=False, default=0)
    take = serializers.BooleanField(required=False, default=False)


class DocumentGradesSerializer(serializers.Serializer):
    qrels = Id(help_text="id of the set that grades passages")
    name = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)


class CorpusDetail(Endpoint):
    serializer_class = CorpusSerializer
    pagination_class = None

    @extend_schema(summary="The corpus of a benchmark, and its versions", tags=["corpora"])
    def get(self, request: Request, slug: str) -> Response:
        return Response(self._shown(self.benchmark_for(Action.VIEW)))

    @extend_schema(
        summary="Change what is known of a corpus, and what the benchmark measures on it",
        tags=["corpora"],
        request=CorpusChangeSerializer,
    )
    def patch(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(CorpusChangeSerializer)
        corpus = benchmark.corpus
        units.change_corpus(
            benchmark=benchmark,
            actor=request.user,
            unit=fields.get("measures", benchmark.unit),
            corpus_unit=fields.get("unit", corpus.unit),
            lang=fields.get("lang", corpus.lang),
            may_be_passed_on=fields.get("may_be_passed_on", corpus.may_be_passed_on),
            shown_metadata=fields.get("shown_metadata", benchmark.shown_metadata),
        )
        return Response(self._shown(benchmark))

    def _shown(self, benchmark: Benchmark) -> Any:
        corpus = benchmark.corpus
        versions = corpus.versions.order_by("-number")
        may_edit = may(self.request.user, Action.EDIT, benchmark)
        sharing = selectors.sharing_of(corpus, self.request.user)
        vars(corpus).update(
            shown_versions=versions if may_edit else versions.ready(),
            measures=benchmark.unit,
            shown_metadata=benchmark.shown_metadata,
            shown_benchmarks=[sharer.slug for sharer in sharing.shown],
        )
        return CorpusSerializer(corpus).data


class SnapshotDetail(Endpoint):
    serializer_class = SnapshotSerializer
    pagination_class = None

    @extend_schema(summary="A version of the corpus: what it changes", tags=["corpora"])
    def get(self, request: Request, slug: str, number: int) -> Response:
        version = self._version(self.benchmark_for(Action.EDIT), number)
        return Response(SnapshotSerializer(version, context={"request": request}).data)

    @extend_schema(
        summary="Take or discard a proposed snapshot",
        tags=["corpora"],
        request=SnapshotDecisionSerializer,
        responses={200: SnapshotSerializer, 204: None},
    )
    def post(self, request: Request, slug: str, number: int) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        version = self._version(benchmark, number)
        decision = self.validated(SnapshotDecisionSerializer)["decision"]
        arguments = {"version": version, "benchmark": benchmark, "actor": request.user}
        if decision == "discard":
            snapshots.discard_snapshot(**arguments)
            return Response(status=204)
        snapshot = snapshots.take_snapshot(**arguments)
        return Response(SnapshotSerializer(snapshot, context={"request": request}).data)

    def _version(self, benchmark: Benchmark, number: int) -> CorpusVersion:
        versions = CorpusVersion.objects.filter(corpus=benchmark.corpus)
        return get_object_or_404(versions.select_related("corpus"), number=number)


class FetchList(Endpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = FetchSerializer
    pagination_class = None

    @extend_schema(
        summary="Fetch a collection by its name, then import it",
        tags=["corpora"],
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(FetchSerializer)
        job = fetching.start_fetch(benchmark=benchmark, user=request.user, **fields)
        return Response(JobSerializer(job).data, status=202)


class DocumentGradesList(Endpoint):
    serializer_class = DocumentGradesSerializer
    pagination_class = None

    @extend_schema(
        summary="Derive grades of documents from grades of passages",
        tags=["qrels"],
        responses={201: QrelSetSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(DocumentGradesSerializer)
        own = QrelSet.objects.ready().filter(benchmark=benchmark)
        qrel_set = get_object_or_404(own, pk=fields["qrels"])
        mapped = units.derive_document_qrels(
            benchmark=benchmark, qrel_set=qrel_set, actor=request.user, name=fields["name"]
        )
        return Response(QrelSetSerializer(mapped).data, status=201)


class SharedCorpusSerializer(serializers.ModelSerializer):
    """A corpus and its newest version; `n_proposed` versions wait for a decision."""

    n_documents = serializers.IntegerField(allow_null=True)
    newest_number = serializers.IntegerField(allow_null=True)
    benchmarks = serializers.SerializerMethodField()

    class Meta:
        model = Corpus
        fields = [
            *("id", "name", "kind", "unit", "lang", "n_documents", "newest_number"),
            "benchmarks",
        ]

    def get_benchmarks(self, corpus: Corpus) -> list[str]:
        return [benchmark.slug for benchmark in self.context["benchmarks"].get(corpus.pk, ())]


class CorpusList(Endpoint):
    serializer_class = SharedCorpusSerializer

    @extend_schema(
        operation_id="corpora_list",
        summary="The corpora of the benchmarks that you may see",
        tags=["corpus"],
        responses=SharedCorpusSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        caller = self.caller()
        page = list(self.paginate_queryset(selectors.corpora_visible_to(caller)) or ())
        context = {"benchmarks": selectors.benchmarks_of(page, caller)}
        rows = SharedCorpusSerializer(page, many=True, context=context).data
        return self.get_paginated_response(rows)


urlpatterns = [path("corpora/", CorpusList.as_view(), name="corpus-list")]
of_benchmark = [
    path("corpus/", CorpusDetail.as_view(), name="corpus-detail"),
    path("corpus/versions/<int:number>/", SnapshotDetail.as_view(), name="snapshot-detail"),
    path("corpus/fetch/", FetchList.as_view(), name="fetch-list"),
    path("qrels/by-document/", DocumentGradesList.as_view(), name="document-grades-list"),
]
