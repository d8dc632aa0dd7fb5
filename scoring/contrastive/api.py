"""Endpoints of pairs of embeddings and their contrastive accuracy."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import Name
from benchmarks_app.api.throttling import UPLOADS
from benchmarks_app.models import Run, Scope
from benchmarks_app.permissions import Action
from scoring.contrastive.forms import FILES
from scoring.contrastive.selectors import PairState, pairs_seen_by, ranks_of_pair, state_of_pair
from scoring.contrastive.services.contrastive import delete_pair, submit_pair
from scoring.models import EmbeddingPair
from scoring.submissions.api.submissions import SubmissionProblemSerializer, team_named

TAG = ["contrastive accuracy"]
STATES = [(state.value, state.value) for state in PairState]


class EstimateOfPairsSerializer(serializers.Serializer):
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class EstimateAtKSerializer(EstimateOfPairsSerializer):
    k = serializers.IntegerField()


class AccuracyAtKSerializer(serializers.Serializer):
    k = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)


class DirectionSerializer(serializers.Serializer):
    accuracy = AccuracyAtKSerializer(many=True)
    mrr = serializers.FloatField(allow_null=True)
    median_rank = serializers.FloatField(allow_null=True)


class PairsPartSerializer(serializers.Serializer):
    """All pairs (an empty `name`) or a slice; `forward` are rows of z1 that look among z2."""

    name = serializers.CharField(allow_blank=True)
    n = serializers.IntegerField()
    accuracy = EstimateAtKSerializer(many=True)
    mrr = EstimateOfPairsSerializer()
    forward = DirectionSerializer()
    backward = DirectionSerializer()


class CurvePointSerializer(serializers.Serializer):
    k = serializers.IntegerField()
    forward = serializers.FloatField()
    backward = serializers.FloatField()


class WorstPairSerializer(serializers.Serializer):
    """A pair, the rank of each partner, and the id of the nearest other row."""

    id = serializers.CharField()
    row = serializers.IntegerField()
    forward_rank = serializers.FloatField()
    backward_rank = serializers.FloatField()
    forward_nearest = serializers.CharField()
    backward_nearest = serializers.CharField()


class PairFileSerializer(serializers.Serializer):
    what = serializers.ChoiceField(choices=FILES)
    name = serializers.CharField()
    size = serializers.IntegerField()
    sha256 = serializers.CharField()


class EmbeddingPairSerializer(serializers.Serializer):
    """A pair of embeddings; `parts` is empty until it is measured, and begins with all pairs.

    Of `state`, measured, failed and cancelled are final.
    """

    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    description = serializers.CharField()
    state = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()
    by = serializers.CharField(source="owner.username")
    team = serializers.CharField(source="team.name", allow_null=True, default=None)
    visibility = serializers.ChoiceField(choices=Run.Visibility.choices)
    normalize = serializers.BooleanField()
    ties = serializers.ChoiceField(choices=EmbeddingPair.Ties.choices)
    n_pairs = serializers.IntegerField(allow_null=True)
    n_features = serializers.IntegerField(allow_null=True)
    parts = serializers.SerializerMethodField()
    problems = serializers.SerializerMethodField()
    job = serializers.IntegerField(source="job_id", allow_null=True)
    created_at = serializers.DateTimeField()
    measured_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(serializers.ChoiceField(choices=STATES))
    def get_state(self, pair: EmbeddingPair) -> str:
        return state_of_pair(pair).value

    def get_url(self, pair: EmbeddingPair) -> str:
        request = self.context.get("request")
        address = pair.get_absolute_url()
        return str(request.build_absolute_uri(address)) if request else address

    @extend_schema_field(PairsPartSerializer(many=True))
    def get_parts(self, pair: EmbeddingPair) -> Any:
        return PairsPartSerializer(pair.report.get("parts", []), many=True).data

    @extend_schema_field(SubmissionProblemSerializer(many=True))
    def get_problems(self, pair: EmbeddingPair) -> Any:
        """Why it could not be measured."""
        if state_of_pair(pair) != PairState.FAILED or pair.job is None:
            return []
        whole = [{"file": "", "line": 0, "text": pair.job.error}]
        return SubmissionProblemSerializer(pair.job.problems or whole, many=True).data


class EmbeddingPairDetailSerializer(EmbeddingPairSerializer):
    """As in a list, with accuracy at many k, the worst pairs where there are ids, and the files."""

    curve = serializers.SerializerMethodField()
    worst = serializers.SerializerMethodField()
    notes = serializers.SerializerMethodField()
    files = serializers.SerializerMethodField()

    @extend_schema_field(CurvePointSerializer(many=True))
    def get_curve(self, pair: EmbeddingPair) -> Any:
        return CurvePointSerializer(pair.report.get("curve", []), many=True).data

    @extend_schema_field(WorstPairSerializer(many=True))
    def get_worst(self, pair: EmbeddingPair) -> Any:
        worst = pair.report.get("worst", []) if pair.report.get("has_ids") else []
        return WorstPairSerializer(worst, many=True).data

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_notes(self, pair: EmbeddingPair) -> list[str]:
        return list(pair.report.get("notes", []))

    @extend_schema_field(PairFileSerializer(many=True))
    def get_files(self, pair: EmbeddingPair) -> Any:
        rows = [{"what": what, **facts} for what, facts in pair.files.items()]
        return PairFileSerializer(rows, many=True).data


class EmbeddingPairCreateSerializer(serializers.Serializer):
    """Two matrices as npy, npz or Parquet, and how to compare them.

    `ids` has one a line; `slices` lines id, tab, slice; `takes_own_slices` takes the benchmark's.
    `team` is the name or number of one of your teams.
    """

    z1 = serializers.FileField(allow_empty_file=True)
    z2 = serializers.FileField(allow_empty_file=True)
    ids = serializers.FileField(required=False, allow_empty_file=True)
    slices = serializers.FileField(required=False, allow_empty_file=True)
    name = Name(max_length=120)
    description = serializers.CharField(
        required=False, allow_blank=True, max_length=4000, default=""
    )
    normalize = serializers.BooleanField(required=False, default=True)
    ties = serializers.ChoiceField(
        choices=EmbeddingPair.Ties.choices, required=False, default=EmbeddingPair.Ties.EXPECTED
    )
    takes_own_slices = serializers.BooleanField(required=False, default=False)
    visibility = serializers.ChoiceField(
        choices=Run.Visibility.choices, required=False, default=Run.Visibility.BENCHMARK
    )
    team = serializers.CharField(required=False, allow_blank=True, max_length=120, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["visibility"] == Run.Visibility.TEAM and not attrs["team"]:
            reason = {"visibility": "Name a team, or choose who else may see it."}
            raise serializers.ValidationError(reason)
        if attrs.get("slices") and attrs["takes_own_slices"]:
            reason = {"takes_own_slices": "A file of slices is sent: choose one of both."}
            raise serializers.ValidationError(reason)
        return attrs


class RankRowSerializer(serializers.Serializer):
    """The ranks of the partners of one pair: of z2's row for that of z1, and the other way."""

    id = serializers.CharField()
    forward_rank = serializers.FloatField()
    backward_rank = serializers.FloatField()


class PairEndpoint(Endpoint):
    serializer_class = EmbeddingPairDetailSerializer
    pagination_class = None

    def found(self, action: Action = Action.SEE_RESULTS) -> EmbeddingPair:
        benchmark = self.benchmark_for(action)
        return get_object_or_404(pairs_seen_by(self.request.user, benchmark), pk=self.kwargs["pk"])

    def told(self, pair: EmbeddingPair, code: int = status.HTTP_200_OK) -> Response:
        context = {"request": self.request}
        return Response(EmbeddingPairDetailSerializer(pair, context=context).data, status=code)


class ContrastiveList(PairEndpoint):
    limits = {"POST": UPLOADS}
    scopes = {"POST": Scope.SUBMIT}
    parser_classes = [MultiPartParser]
    pagination_class = Endpoint.pagination_class
    serializer_class = EmbeddingPairSerializer

    @extend_schema(
        summary="Pairs of embeddings that you may see, the newest first",
        tags=TAG,
        responses=EmbeddingPairSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        page = self.paginate_queryset(pairs_seen_by(request.user, benchmark))
        context = {"request": request}
        pairs = EmbeddingPairSerializer(page, many=True, context=context).data
        return self.get_paginated_response(pairs)

    @extend_schema(
        summary="Upload a pair of embeddings, which a job then measures",
        tags=TAG,
        request={"multipart/form-data": EmbeddingPairCreateSerializer},
        responses={201: EmbeddingPairDetailSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SUBMIT)
        fields = self.validated(EmbeddingPairCreateSerializer)
        files = {name: file for name in FILES if (file := fields.pop(name, None)) is not None}
        fields["team"] = team_named(request.user, fields["team"])
        pair = submit_pair(benchmark=benchmark, user=request.user, uploads=files, **fields)
        return self.told(pair, status.HTTP_201_CREATED)


class ContrastiveDetail(PairEndpoint):
    scopes = {"DELETE": Scope.SUBMIT}

    @extend_schema(summary="A pair of embeddings: state, accuracy, worst pairs", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.told(self.found())

    @extend_schema(
        summary="Delete a pair of your own, with its files and numbers",
        tags=TAG,
        responses={204: None},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        delete_pair(pair=self.found(Action.SUBMIT), user=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ContrastiveRanks(PairEndpoint):
    pagination_class = Endpoint.pagination_class
    serializer_class = RankRowSerializer

    @extend_schema(
        summary="The ranks of every pair; empty until it is measured",
        tags=TAG,
        responses=RankRowSerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        pair = self.found()
        rows = list(ranks_of_pair(pair)) if pair.is_measured else []
        return self.page_of(rows, RankRowSerializer)


of_benchmark = [
    path("contrastive/", ContrastiveList.as_view(), name="contrastive-list"),
    path("contrastive/<int:pk>/", ContrastiveDetail.as_view(), name="contrastive-detail"),
    path("contrastive/<int:pk>/ranks/", ContrastiveRanks.as_view(), name="contrastive-ranks"),
]
