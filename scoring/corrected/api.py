"""Endpoints of corrected means."""

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.models import QueryDraw
from benchmarks_app.permissions import Action
from scoring.boards.api.boards import FILTERS, MEASURE, SPLIT, TAG, BoardEndpoint
from scoring.comparisons.api import ASKED, PAIR, AboutComparison
from scoring.corrected.services.correcting import corrected_board, corrected_pair

MACHINE = OpenApiParameter(
    "machine",
    type=str,
    description="The id of a set of qrels of kind `machine`, the newest by default; or `learned`, "
    "the estimate from the judged documents, which stands where there is no set.",
)


class MachineSerializer(serializers.Serializer):
    """A set of a machine's grades, or the estimate from the judged documents."""

    id = serializers.IntegerField(
        source="pk", allow_null=True, help_text="Of its set; null of the estimate."
    )
    name = serializers.CharField()
    judge = serializers.CharField(source="parameters.judge", default="")
    models = serializers.ListField(
        source="parameters.models", child=serializers.CharField(), default=list
    )
    learned_from = serializers.ListField(
        source="function_names",
        child=serializers.CharField(),
        help_text="Runs whose scores the estimate learns from.",
    )


class DrawnSerializer(serializers.ModelSerializer):
    class Meta:
        model = QueryDraw
        fields = ("id", "seed", "frame", "n_population", "n_drawn")


class EstimateSerializer(serializers.Serializer):
    """As JSON, which knows no NaN: what is undefined is null."""

    def to_representation(self, instance: object) -> dict[str, object]:
        fields = super().to_representation(instance)
        return {name: None if value != value else value for name, value in fields.items()}


class CorrectedRowSerializer(EstimateSerializer):
    """A run: `mean`, `low` and `high` are corrected where the judge helps, else people's own."""

    rank = serializers.IntegerField(allow_null=True, help_text="Among runs whom the judge helps.")
    run = serializers.CharField(source="run.name")
    is_helped = serializers.BooleanField(source="estimate.is_helped")
    why = serializers.CharField(source="estimate.why", allow_blank=True)
    mean = serializers.FloatField(source="estimate.mean")
    low = serializers.FloatField(source="estimate.low")
    high = serializers.FloatField(source="estimate.high")
    people_mean = serializers.FloatField(source="estimate.people_mean")
    people_low = serializers.FloatField(source="estimate.people_low")
    people_high = serializers.FloatField(source="estimate.people_high")
    weight = serializers.FloatField(source="estimate.weight", help_text="Lambda, from 0 to 1.")
    rho = serializers.FloatField(source="estimate.rho")
    n_effective = serializers.FloatField(
        source="estimate.n_effective",
        help_text="Families labelled by people alone that would say as much.",
    )
    machine_mean = serializers.FloatField(
        allow_null=True, help_text="By the machine alone; null where it favours the run."
    )
    is_favoured = serializers.BooleanField()
    favour = serializers.FloatField(
        source="trust.favour", allow_null=True, default=None, help_text="By how much, if tested."
    )


class CorrectedBoardSerializer(serializers.Serializer):
    """The board by people and machine; without rows `refusal` says why."""

    release = serializers.CharField()
    measure = serializers.CharField()
    split = serializers.CharField(allow_blank=True)
    machine = MachineSerializer(allow_null=True)
    draw = DrawnSerializer(allow_null=True)
    refusal = serializers.CharField(allow_blank=True)
    n_waiting = serializers.IntegerField(help_text="Runs that lack values so far: ask again.")
    n_families = serializers.IntegerField(
        allow_null=True, help_text="Drawn and labelled by people, of the split."
    )
    n_all_families = serializers.IntegerField(allow_null=True)
    untested = serializers.CharField(
        allow_blank=True, help_text="Why it is not tested whether the judge favours a run."
    )
    notes = serializers.ListField(child=serializers.CharField())
    rows = CorrectedRowSerializer(many=True)


class LeaderboardCorrected(BoardEndpoint):
    takes_split = True
    serializer_class = CorrectedBoardSerializer

    @extend_schema(
        summary="The leaderboard by people's labels and a machine's, corrected",
        description="Never in one ranking with people's own means: see the docs.",
        tags=TAG,
        operation_id="leaderboard_corrected",
        parameters=[MEASURE, SPLIT, MACHINE, *FILTERS],
    )
    def get(self, request: Request, slug: str, version: str) -> Response:
        board = self.board(version)
        corrected = corrected_board(
            board,
            machine=request.query_params.get("machine", ""),
            computes=request.user.is_authenticated,
        )
        first = corrected.first
        answer = {
            "release": board.release.version,
            "measure": board.measure.name,
            "split": board.split.name if board.split else "",
            "machine": corrected.machine,
            "draw": corrected.draw,
            "refusal": corrected.refusal,
            "n_waiting": corrected.n_waiting,
            "n_families": first and first.n_families,
            "n_all_families": first and first.n_all_families,
            "untested": corrected.untested,
            "notes": corrected.warnings,
            "rows": corrected.rows,
        }
        return Response(CorrectedBoardSerializer(answer).data)


class CorrectedPairSerializer(EstimateSerializer):
    """A run less its reference: corrected where the judge helps, else by people alone."""

    run = serializers.CharField(source="run.name")
    reference = serializers.CharField(source="reference.name")
    release = serializers.CharField(source="sample.release.version")
    machine = MachineSerializer(source="sample.machine")
    draw = DrawnSerializer(source="sample.draw")
    is_waiting = serializers.BooleanField(help_text="Its values are not there yet: ask again.")
    is_helped = serializers.BooleanField(source="estimate.is_helped", default=None)
    why = serializers.CharField(source="estimate.why", default=None)
    difference = serializers.FloatField(source="estimate.mean", default=None)
    low = serializers.FloatField(source="estimate.low", default=None)
    high = serializers.FloatField(source="estimate.high", default=None)
    people_difference = serializers.FloatField(source="estimate.people_mean", default=None)
    people_low = serializers.FloatField(source="estimate.people_low", default=None)
    people_high = serializers.FloatField(source="estimate.people_high", default=None)
    weight = serializers.FloatField(source="estimate.weight", default=None)
    rho = serializers.FloatField(source="estimate.rho", default=None)
    n_families = serializers.IntegerField(source="estimate.n_families", default=None)
    n_effective = serializers.FloatField(source="estimate.n_effective", default=None)


class ComparisonCorrected(AboutComparison):
    refusals = {"GET": (409,)}
    serializer_class = CorrectedPairSerializer
    pagination_class = None

    @extend_schema(
        summary="The difference of two runs by people's labels and a machine's, corrected",
        tags=["comparisons"],
        parameters=[*ASKED, *PAIR, MACHINE],
    )
    def get(self, request: Request, slug: str) -> Response:
        choice = self.asked(self.benchmark_for(Action.SEE_RESULTS), request.query_params)
        run, reference = choice.pair()
        pair = corrected_pair(
            run,
            reference,
            measure=choice.measure.name,
            machine=request.query_params.get("machine", ""),
            is_clear=not choice.is_public,
            computes=request.user.is_authenticated,
        )
        return Response(CorrectedPairSerializer(pair).data)


of_benchmark = [
    path("comparisons/corrected/", ComparisonCorrected.as_view(), name="comparison-corrected"),
    path(
        "releases/<str:version>/leaderboard/corrected/",
        LeaderboardCorrected.as_view(),
        name="leaderboard-corrected",
    ),
]
