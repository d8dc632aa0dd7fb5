"""Endpoints of phases."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.models import QueryFamily
from benchmarks_app.permissions import Action
from benchwright.recipes import submissions
from scoring.models import Phase
from scoring.scores.selectors.phases import phases_of, state_of_phase
from scoring.scores.selectors.releases import release_of_version
from scoring.submissions.services import phases

TAG = ["submissions"]


class PhaseSerializer(serializers.ModelSerializer):
    """When, on which release and split, and how often runs may be submitted."""

    release = serializers.CharField(source="release.version", read_only=True)
    state = serializers.SerializerMethodField()
    is_hidden = serializers.SerializerMethodField()
    n_submissions = serializers.IntegerField(read_only=True)

    class Meta:
        model = Phase
        fields = [
            *("id", "name", "description", "release", "split", "state", "is_hidden"),
            *("opens_at", "closes_at", "daily_limit", "total_limit", "has_ladder"),
            "n_submissions",
        ]

    def get_state(self, phase: Phase) -> str:
        """open, coming, over, or off."""
        return state_of_phase(phase)

    def get_is_hidden(self, phase: Phase) -> bool:
        """Whether the grades of its split are hidden: means are rounded, values withheld."""
        return phase.split in phase.release.hidden_splits


class PhaseChangeSerializer(serializers.Serializer):
    """What can be changed of a phase at any time; what is left out stays."""

    name = serializers.CharField(required=False, max_length=120)
    description = serializers.CharField(required=False, allow_blank=True, max_length=4000)
    opens_at = serializers.DateTimeField(required=False)
    closes_at = serializers.DateTimeField(required=False, allow_null=True)
    daily_limit = api_field(submissions.DAILY_LIMIT, required=False)
    total_limit = api_field(submissions.TOTAL_LIMIT, required=False, allow_null=True)
    has_ladder = serializers.BooleanField(
        required=False,
        help_text="Of a hidden split: whether exact means wait for the end of the phase.",
    )


class PhaseCreateSerializer(PhaseChangeSerializer):
    """A phase of a published release; it is open from now on where no time is given."""

    name = serializers.CharField(max_length=120)
    release = serializers.CharField(max_length=40)
    split = serializers.ChoiceField(choices=[value for value in QueryFamily.Split.values if value])
    opens_at = serializers.DateTimeField(required=False, default=timezone.now)


class PhaseEndpoint(Endpoint):
    serializer_class = PhaseSerializer
    pagination_class = None

    def found(self, action: Action) -> Phase:
        return get_object_or_404(phases_of(self.benchmark_for(action)), pk=self.kwargs["pk"])

    def told(self, phase: Phase, code: int = status.HTTP_200_OK) -> Response:
        again = phases_of(phase.benchmark).get(pk=phase.pk)
        return Response(PhaseSerializer(again).data, status=code)


class PhaseList(PhaseEndpoint):
    pagination_class = Endpoint.pagination_class

    @extend_schema(
        summary="Phases, those of the newest release first",
        tags=TAG,
        responses=PhaseSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.page_of(phases_of(self.benchmark_for(Action.SUBMIT)), PhaseSerializer)

    @extend_schema(
        summary="Make a phase",
        tags=TAG,
        request=PhaseCreateSerializer,
        responses={201: PhaseSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields: dict[str, Any] = self.validated(PhaseCreateSerializer)
        release = release_of_version(benchmark, fields.pop("release"))
        if release is None:
            problems = {"release": ["No published release has this version."]}
            raise serializers.ValidationError(problems)
        phase = phases.make_phase(release=release, user=request.user, **fields)
        return self.told(phase, status.HTTP_201_CREATED)


class PhaseDetail(PhaseEndpoint):
    @extend_schema(summary="A phase", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(PhaseSerializer(self.found(Action.SUBMIT)).data)

    @extend_schema(
        summary="Change a phase", tags=TAG, request=PhaseChangeSerializer, responses=PhaseSerializer
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        phase = self.found(Action.EDIT)
        fields = self.validated(PhaseChangeSerializer)
        return self.told(phases.change_phase(phase=phase, user=request.user, **fields))


class PhaseClose(PhaseEndpoint):
    @extend_schema(summary="Close a phase now", tags=TAG, request=None, responses=PhaseSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        return self.told(phases.close_phase(phase=self.found(Action.EDIT), user=request.user))


of_benchmark = [
    path("phases/", PhaseList.as_view(), name="phase-list"),
    path("phases/<int:pk>/", PhaseDetail.as_view(), name="phase-detail"),
    path("phases/<int:pk>/close/", PhaseClose.as_view(), name="phase-close"),
]
