"""Endpoints of submissions: sending a run in, and following what becomes of it."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import Id, Name
from benchmarks_app.api.throttling import UPLOADS
from benchmarks_app.collections.api import RunDetailSerializer
from benchmarks_app.models import Run, Scope, Team, User
from benchmarks_app.permissions import Action
from benchwright.formats.numbers import row_key
from benchwright.runs.aggregation import LABELS
from benchwright.runs.facts import checked
from scoring.models import Submission
from scoring.scores.services.errors import NotInTeamError, SubmittedBeforeError
from scoring.submissions.selectors.submissions import (
    WAITING,
    SubmissionRow,
    problems_of_submission,
    submission_rows,
    submissions_seen_by,
)
from scoring.submissions.services import submitting
from scoring.submissions.services.resending import score_without_lines, send_on
from scoring.submissions.services.sight import rows_as_seen, scores_as_seen
from scoring.submissions.services.withdrawing import withdraw_run, withdraw_submission

TAG = ["submissions"]
MOST_YEARS = 3
MOST_LINES = 100


class SubmissionProblemSerializer(serializers.Serializer):
    """What is wrong; `line` is 0 where it is the file as a whole, `code` stays the same."""

    file = serializers.CharField()
    line = serializers.IntegerField()
    text = serializers.CharField()
    code = serializers.CharField(required=False)


class SubmissionSerializer(serializers.Serializer):
    """A submission; `scores` are means over its phase's release, null where one is not defined.

    `state` is received, validated, queued, scoring, scored, invalid or failed: the last three are
    final.
    """

    id = serializers.IntegerField(source="submission.pk")
    name = serializers.CharField(source="submission.name")
    state = serializers.CharField()
    url = serializers.SerializerMethodField()
    run = serializers.IntegerField(source="submission.run_id", allow_null=True)
    phase = serializers.IntegerField(source="submission.phase_id")
    release = serializers.CharField(source="submission.phase.release.version")
    split = serializers.CharField(source="submission.phase.split")
    by = serializers.CharField(source="submission.submitter.username")
    team = serializers.CharField(source="submission.team.name", allow_null=True, default=None)
    problems = serializers.SerializerMethodField()
    left_out = SubmissionProblemSerializer(
        source="submission.left_out",
        many=True,
        help_text="Bad lines of the file that it was scored without, as its sender agreed.",
    )
    scores = serializers.DictField(child=serializers.FloatField(allow_null=True))
    job = serializers.IntegerField(source="submission.job_id", allow_null=True)
    percent = serializers.SerializerMethodField()
    message = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField(source="submission.created_at")
    withdrawn_at = serializers.DateTimeField(source="submission.withdrawn_at", allow_null=True)

    def get_url(self, row: SubmissionRow) -> str:
        address = row.submission.get_absolute_url()
        request = self.context.get("request")
        return str(request.build_absolute_uri(address)) if request else address

    @extend_schema_field(SubmissionProblemSerializer(many=True))
    def get_problems(self, row: SubmissionRow) -> Any:
        return SubmissionProblemSerializer(problems_of_submission(row.submission), many=True).data

    def get_percent(self, row: SubmissionRow) -> int:
        if row.submission.state not in WAITING:
            return 100
        job = row.submission.job
        return 100 * job.done // job.total if job and job.total else 0

    def get_message(self, row: SubmissionRow) -> str:
        job = row.submission.job
        return job.message if job and row.submission.state in WAITING else ""


class SubmissionDetailSerializer(SubmissionSerializer):
    """As in a list, with the 95 % intervals, the means over the phase's split, and what to know.

    `split_scores` is empty where the release grades no other queries.
    """

    intervals = serializers.DictField(child=serializers.ListField(child=serializers.FloatField()))
    split_scores = serializers.DictField(child=serializers.FloatField(allow_null=True))
    held = serializers.ListField(
        child=serializers.CharField(),
        help_text="Which scores are those of an earlier submission of the team, in sentences.",
    )
    notes = serializers.ListField(child=serializers.CharField())
    n_left = serializers.IntegerField(help_text="Submissions left in 24 hours.")


class SubmissionCreateSerializer(serializers.Serializer):
    """A run and what is said of it; `phase` may be left out where one is open.

    `metadata` is a JSON object: system, method, type, repository, commit, training, index,
    index_parameters, hardware, latency_ms, paper, licence, `ir_metadata` (a tree), and facts of
    your own. `team` is the name or number of one of your teams.
    """

    file = serializers.FileField(allow_empty_file=True)
    name = Name(max_length=120)
    description = serializers.CharField(
        required=False, allow_blank=True, max_length=4000, default=""
    )
    metadata = serializers.CharField(
        required=False, allow_blank=True, max_length=128 << 10, default=""
    )
    visibility = serializers.ChoiceField(
        choices=Run.Visibility.choices, required=False, default=Run.Visibility.BENCHMARK
    )
    team = serializers.CharField(required=False, allow_blank=True, max_length=120, default="")
    public_from = serializers.DateTimeField(required=False, allow_null=True, default=None)
    anonymous_until = serializers.DateTimeField(required=False, allow_null=True, default=None)
    phase = Id(required=False, allow_null=True, default=None)
    aggregation = serializers.ChoiceField(
        choices=[(key, key) for key in LABELS], required=False, default=""
    )

    def validate_metadata(self, value: str) -> dict[str, Any]:
        if not value.strip():
            return {}
        try:
            facts = json.loads(value)
        except (ValueError, RecursionError) as error:
            reason = f"is not JSON: {error}"
            raise serializers.ValidationError(reason) from error
        if not isinstance(facts, dict):
            reason = "is no JSON object; expected {name: value}"
            raise serializers.ValidationError(reason)
        return facts

    def validate_public_from(self, value: datetime | None) -> datetime | None:
        return _to_come(value)

    def validate_anonymous_until(self, value: datetime | None) -> datetime | None:
        return _to_come(value)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["visibility"] == Run.Visibility.TEAM and not attrs["team"]:
            reason = {"visibility": "Name a team, or choose who else may see it."}
            raise serializers.ValidationError(reason)
        return attrs


def _to_come(value: datetime | None) -> datetime | None:
    if value is None:
        return None
    now = timezone.now()
    if not now < value < now + timedelta(days=366 * MOST_YEARS):
        reason = f"Expected a time to come, within {MOST_YEARS} years."
        raise serializers.ValidationError(reason)
    return value


def team_named(user: User, name: str) -> Team | None:
    """One of the person's teams, by its name or number; None where none is named.

    Raises
    ------
    NotInTeamError
        If the person is in no such team.
    """
    if not name:
        return None
    team = user.teams.filter(Q(name__iexact=name) | Q(pk=row_key(name))).first()
    if team is None:
        raise NotInTeamError(team=name)
    return team


class SubmissionEndpoint(Endpoint):
    pagination_class = None
    serializer_class = SubmissionDetailSerializer

    def found(self) -> Submission:
        benchmark = self.benchmark_for(Action.SUBMIT)
        submissions = submissions_seen_by(self.request.user, benchmark)
        return get_object_or_404(submissions, pk=self.kwargs["pk"])

    def again(self, pk: int) -> Submission:
        """The submission with what its description needs, whoever of the team sent it."""
        related = ("phase__release__benchmark", "phase__benchmark", "run", "submitter", "team")
        return Submission.objects.select_related(*related, "job").get(pk=pk)

    def told(self, submission: Submission, code: int = status.HTTP_200_OK) -> Response:
        """One submission with its scores, as the caller may see them."""
        (row,) = rows_as_seen(self.request.user, submission_rows([submission]))
        scores = scores_as_seen(self.request.user, submission)
        answer = SubmissionSerializer(row, context={"request": self.request}).data
        result = submission.job.result if submission.job else {}
        more = {
            "intervals": scores.ranges if scores else {},
            "split_scores": (
                {name: score.mean for name, score in scores.of_split.items()} if scores else {}
            ),
            "held": [score.said for score in scores.held] if scores else [],
            "notes": result.get("notes", []),
            "n_left": submitting.n_left_today(
                phase=submission.phase, user=submission.submitter, team=submission.team
            ),
        }
        return Response({**answer, **more}, status=code)


class SubmissionList(SubmissionEndpoint):
    limits = {"POST": UPLOADS}
    scopes = {"POST": Scope.SUBMIT}
    parser_classes = [MultiPartParser]
    pagination_class = Endpoint.pagination_class
    serializer_class = SubmissionSerializer

    @extend_schema(
        summary="Your submissions and your teams', the newest first; all of them for keepers",
        tags=TAG,
        parameters=[
            OpenApiParameter("phase", int, description="Of this phase alone."),
            OpenApiParameter("state", str, enum=Submission.State.values),
        ],
        responses=SubmissionSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SUBMIT)
        submissions = submissions_seen_by(request.user, benchmark)
        if phase := self.parameter("phase", Id()):
            submissions = submissions.filter(phase=phase)
        if state := self.choice("state", Submission.State.values):
            submissions = submissions.filter(state=state)
        page = self.paginate_queryset(submissions)
        rows = rows_as_seen(request.user, submission_rows(page))
        answers = SubmissionSerializer(rows, many=True, context={"request": request}).data
        return self.get_paginated_response(answers)

    @extend_schema(
        summary="Submit a run; the same bytes again are answered with the earlier submission",
        tags=TAG,
        request={"multipart/form-data": SubmissionCreateSerializer},
        responses={201: SubmissionDetailSerializer, 200: SubmissionDetailSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SUBMIT)
        fields = self.validated(SubmissionCreateSerializer)
        phase = submitting.phase_open_in(benchmark, fields.pop("phase"))
        fields["team"] = team_named(request.user, fields["team"])
        fields["metadata"] = checked(fields["metadata"])
        try:
            submission = submitting.submit_file(phase=phase, user=request.user, **fields)
        except SubmittedBeforeError as error:
            return self.told(self.again(error.submission.pk))
        return self.told(submission, status.HTTP_201_CREATED)


class SubmissionDetail(SubmissionEndpoint):
    @extend_schema(summary="A submission: state, problems, scores", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.told(self.found())


class SubmissionWithdraw(SubmissionEndpoint):
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(
        summary="Withdraw a submission: it leaves every board, for good",
        tags=TAG,
        request=None,
        responses=SubmissionDetailSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        withdraw_submission(submission=self.found(), user=request.user)
        return self.told(self.found())


class RunWithdraw(Endpoint):
    pagination_class = None
    serializer_class = RunDetailSerializer
    refusals = {"POST": (409,)}

    @extend_schema(
        operation_id="runs_withdraw",
        summary="Withdraw a run that was not submitted: it leaves every board, for good",
        tags=["runs"],
        request=None,
        responses=RunDetailSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        runs = self.benchmark_for(Action.EDIT).runs.select_related("owner", "team", "benchmark")
        withdraw_run(run=get_object_or_404(runs, pk=pk), user=request.user)
        run = runs.get(pk=pk)
        return Response(RunDetailSerializer(run, context={"request": request}).data)


class LinesAgreedSerializer(serializers.Serializer):
    """How many bad lines are left out: as many as the refused submission has problems of."""

    n = serializers.IntegerField(min_value=1, max_value=MOST_LINES)


class SubmissionLeaveOut(SubmissionEndpoint):
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(
        summary="Score a refused file without its bad lines, as a submission of its own",
        tags=TAG,
        request=LinesAgreedSerializer,
        responses={201: SubmissionDetailSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        refused = self.found()
        n = self.validated(LinesAgreedSerializer)["n"]
        submission = score_without_lines(submission=refused, user=request.user, n=n)
        return self.told(submission, status.HTTP_201_CREATED)


class PhaseChosenSerializer(serializers.Serializer):
    """`phase` may be left out where one is open."""

    phase = Id(required=False, allow_null=True, default=None)


class SubmissionSendOn(SubmissionEndpoint):
    scopes = {"POST": Scope.SUBMIT}

    @extend_schema(
        summary="Send a scored run of yours to another phase, as it was sent",
        tags=TAG,
        request=PhaseChosenSerializer,
        responses={201: SubmissionDetailSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        scored = self.found()
        number = self.validated(PhaseChosenSerializer)["phase"]
        phase = submitting.phase_open_in(scored.phase.benchmark, number)
        submission = send_on(submission=scored, phase=phase, user=request.user)
        return self.told(submission, status.HTTP_201_CREATED)


of_benchmark = [
    path("runs/<int:pk>/withdraw/", RunWithdraw.as_view(), name="run-withdraw"),
    path(
        "submissions/<int:pk>/leave-out/",
        SubmissionLeaveOut.as_view(),
        name="submission-leave-out",
    ),
    path("submissions/<int:pk>/send-on/", SubmissionSendOn.as_view(), name="submission-send-on"),
    path("submissions/", SubmissionList.as_view(), name="submission-list"),
    path("submissions/<int:pk>/", SubmissionDetail.as_view(), name="submission-detail"),
    path(
        "submissions/<int:pk>/withdraw/", SubmissionWithdraw.as_view(), name="submission-withdraw"
    ),
]
