"""Endpoints of campaigns: drafted, tried, started, paused, gone on with."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.campaigns.selectors import campaigns_of, counts_of, failed_pairs
from annotation.campaigns.services.calibrating import calibration_of
from annotation.campaigns.services.drafting import delete_campaign, draft_campaign, estimate_of
from annotation.campaigns.services.improving import improvement_of
from annotation.campaigns.services.publishing import publish_labels
from annotation.campaigns.services.running import (
    cancel_campaign,
    is_being_tried,
    pause_campaign,
    start_campaign,
    start_trial,
)
from annotation.common.selectors.pools import pools_of
from annotation.models import Campaign, CampaignPair
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import Id
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.common.services import audit
from benchmarks_app.judges.api import judge_asked
from benchmarks_app.models import QrelSet
from benchmarks_app.permissions import Action
from benchwright.grading.prompts import LONGEST_TEMPLATE
from benchwright.recipes import campaigns, contextual

TAG = ["machine judges"]


class CampaignSerializer(serializers.ModelSerializer):
    """A campaign; counts and cost are those of when its job ended last."""

    pool = serializers.IntegerField(source="pool_id", read_only=True)
    judge = serializers.CharField(source="judge_name", read_only=True)
    prompt_version = serializers.IntegerField(source="prompt.version", read_only=True)
    prompt_hash = serializers.CharField(source="prompt.digest", read_only=True)
    runs = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Campaign
        fields = (
            *("id", "name", "pool", "judge", "model", "prompt_version", "prompt_hash"),
            *("choice", "n_sample", "seed", "runs", "concurrency", "cost_cap"),
            *("conflict_reason", "state", "error", "n_pairs", "n_graded", "n_failed"),
            *("tokens_in", "tokens_out", "cost", "created_at", "started_at", "finished_at"),
        )


class CampaignEstimateSerializer(serializers.Serializer):
    """About what the pairs that wait will take; `cost` is null where the judge has no prices."""

    n_pairs = serializers.IntegerField()
    n_queries = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)


class TrialRowSerializer(serializers.Serializer):
    """A pair of the trial: what people say of it, and what the judge said."""

    query = serializers.CharField(source="qid")
    document = serializers.CharField(source="docid")
    people = serializers.ListField(child=serializers.IntegerField())
    grade = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)


class CampaignDetailSerializer(CampaignSerializer):
    """With its counts as they are now, what is left to pay, and what the trial said."""

    n_waiting = serializers.IntegerField()
    estimate = CampaignEstimateSerializer()
    is_being_tried = serializers.BooleanField()
    trial = TrialRowSerializer(many=True)
    prompt = serializers.CharField(help_text="As it is sent, the slots of a pair left open.")

    class Meta:
        model = Campaign
        fields = (
            *CampaignSerializer.Meta.fields,
            *("n_waiting", "estimate", "is_being_tried", "trial", "prompt"),
        )


class NewCampaignSerializer(serializers.Serializer):
    """Which judge is asked about which documents; `start` does not wait for another request."""

    pool = Id()
    judge = serializers.CharField(max_length=120, help_text="Its name.")
    name = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    choice = api_field(campaigns.CHOICE, required=False)
    n_sample = api_field(campaigns.SAMPLE, required=False)
    seed = api_field(contextual.SEED, required=False, allow_null=True)
    runs = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        default=list,
        help_text="Whose unjudged documents are asked about, by name.",
    )
    template = serializers.CharField(
        max_length=LONGEST_TEMPLATE,
        required=False,
        allow_blank=True,
        default="",
        trim_whitespace=False,
        help_text="The prompt, with its slots; empty: the one that is built in.",
    )
    max_characters = api_field(campaigns.MAX_CHARACTERS, required=False, allow_null=True)
    concurrency = api_field(campaigns.CONCURRENCY, required=False)
    cost_cap = api_field(contextual.COST_CAP, required=False, allow_null=True)
    conflict_reason = serializers.CharField(
        max_length=500, required=False, allow_blank=True, default=""
    )
    start = serializers.BooleanField(required=False, default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        sample = Campaign.Choice.SAMPLE
        if self.initial_data.get("n_sample") is not None and attrs["choice"] != sample:
            message = f"Counts with the choice {sample} alone. Leave it out, or choose that."
            raise serializers.ValidationError({"n_sample": [message]})
        return attrs


class GoOnSerializer(serializers.Serializer):
    """`with_failed` asks again about what failed; `cost_cap` is a new limit."""

    cost_cap = api_field(contextual.COST_CAP, required=False, allow_null=True)
    with_failed = serializers.BooleanField(required=False, default=False)


class ImprovementSerializer(serializers.Serializer):
    """Agreement with people beside that of an earlier campaign, on queries without an example."""

    campaign = serializers.IntegerField(source="earlier.pk", help_text="The earlier one.")
    prompt_version = serializers.IntegerField(source="earlier.prompt.version")
    sentence = serializers.CharField()
    differences = serializers.ListField(child=serializers.CharField())
    measured = serializers.JSONField(source="improvement.as_json")


class CalibrationSerializer(serializers.Serializer):
    """`calibration` is as `benchwright calibrate --format json` has it; null without a pair.

    `improvement` holds it beside an earlier prompt of the judge; null without pairs in common.
    """

    verdict = serializers.CharField()
    n_drawn = serializers.IntegerField()
    n_shared = serializers.IntegerField()
    calibration = serializers.JSONField(allow_null=True)
    improvement = ImprovementSerializer(allow_null=True)


class PublishSerializer(serializers.Serializer):
    name = serializers.CharField(
        max_length=120,
        required=False,
        allow_blank=True,
        default="",
        help_text="Of the set; empty: the campaign's.",
    )
    model = serializers.CharField(
        max_length=200,
        required=False,
        allow_blank=True,
        default="",
        help_text="As the endpoint named it; has to be told where it named several.",
    )


class PublishedSerializer(serializers.ModelSerializer):
    kind = serializers.CharField(read_only=True)

    class Meta:
        model = QrelSet
        fields = ("id", "name", "kind", "rule", "n_qrels", "n_queries", "n_relevant", "digest")


class FailedPairSerializer(serializers.ModelSerializer):
    query = serializers.CharField(source="query.qid")
    document = serializers.CharField(source="docid")

    class Meta:
        model = CampaignPair
        fields = ("query", "document", "error_code", "error", "raw", "cost")


class CampaignList(Endpoint):
    serializer_class = CampaignSerializer
    limits = {"POST": COMPUTATIONS}

    @extend_schema(
        summary="Campaigns, the newest first", tags=TAG, responses=CampaignSerializer(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.page_of(campaigns_of(self.benchmark_for(Action.EDIT)), CampaignSerializer)

    @extend_schema(
        summary="Draft a campaign, and start it if wanted",
        tags=TAG,
        request=NewCampaignSerializer,
        responses={201: CampaignSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = dict(self.validated(NewCampaignSerializer))
        pool = get_object_or_404(pools_of(benchmark), pk=fields.pop("pool"))
        judge = judge_asked(benchmark, fields.pop("judge"))
        is_started = fields.pop("start")
        campaign = draft_campaign(pool=pool, judge=judge, user=request.user, **fields)
        if is_started:
            start_campaign(campaign=campaign, user=request.user)
            campaign.refresh_from_db()
        return Response(CampaignSerializer(campaign).data, status=status.HTTP_201_CREATED)


class OfCampaign(Endpoint):
    serializer_class = CampaignSerializer
    pagination_class = None

    def campaign(self) -> Campaign:
        rows = campaigns_of(self.benchmark_for(Action.EDIT))
        return get_object_or_404(rows, pk=self.kwargs["pk"])

    def told(self, pk: int) -> Response:
        campaign = Campaign.objects.select_related("prompt").get(pk=pk)
        return Response(CampaignSerializer(campaign).data, status=status.HTTP_202_ACCEPTED)


class CampaignDetail(OfCampaign):
    serializer_class = CampaignDetailSerializer

    @extend_schema(summary="A campaign, how far it is, and what is left to pay", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        campaign = self.campaign()
        return Response({**CampaignSerializer(campaign).data, **_facts(campaign)})

    @extend_schema(
        summary="Delete a campaign that put nothing into the ledger",
        tags=TAG,
        responses={204: None},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        delete_campaign(campaign=self.campaign(), user=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _facts(campaign: Campaign) -> dict[str, Any]:
    """What the detail has beside the row: as it is now."""
    counts = counts_of(campaign)
    names = ("n_graded", "n_failed", "n_waiting", "cost", "tokens_in", "tokens_out")
    rows = campaign.trial.get("rows", ())
    return {
        **{name: getattr(counts, name) for name in names},
        "estimate": CampaignEstimateSerializer(estimate_of(campaign)).data,
        "is_being_tried": is_being_tried(campaign),
        "trial": TrialRowSerializer(rows, many=True).data,
        "prompt": campaign.prompt.text,
    }


class CampaignFailed(OfCampaign):
    serializer_class = FailedPairSerializer

    @extend_schema(
        summary="The pairs that failed, and why",
        tags=TAG,
        responses=FailedPairSerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        rows = failed_pairs(self.campaign())
        return Response(FailedPairSerializer(rows, many=True).data)


class CampaignStart(OfCampaign):
    limits = {"POST": COMPUTATIONS}

    @extend_schema(
        summary="Start a campaign, or go on with it",
        tags=TAG,
        request=GoOnSerializer,
        responses={202: CampaignSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        campaign = self.campaign()
        start_campaign(campaign=campaign, user=request.user, **self.validated(GoOnSerializer))
        return self.told(campaign.pk)


class CampaignPause(OfCampaign):
    @extend_schema(
        summary="Begin no further document",
        tags=TAG,
        request=None,
        responses={202: CampaignSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        campaign = self.campaign()
        pause_campaign(campaign=campaign, user=request.user)
        return self.told(campaign.pk)


class CampaignCancel(OfCampaign):
    @extend_schema(
        summary="Cancel a campaign; what is graded stays",
        tags=TAG,
        request=None,
        responses={202: CampaignSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        campaign = self.campaign()
        cancel_campaign(campaign=campaign, user=request.user)
        return self.told(campaign.pk)


class CampaignTry(OfCampaign):
    limits = {"POST": COMPUTATIONS}

    @extend_schema(
        summary="Ask about ten documents that people judged",
        description="The answers are the campaign's `trial`, once `is_being_tried` is false.",
        tags=TAG,
        request=None,
        responses={202: CampaignSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        campaign = self.campaign()
        start_trial(campaign=campaign, user=request.user)
        return self.told(campaign.pk)


class CampaignCalibration(OfCampaign):
    serializer_class = CalibrationSerializer

    @extend_schema(
        summary="How far a campaign's grades agree with people's",
        description="On documents that were drawn, and that people graded too.",
        tags=TAG,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        campaign = self.campaign()
        calibrated = calibration_of(campaign)
        of, target = campaign.benchmark, f"calibration of {campaign.name}"
        audit.record(actor=request.user, action="read-judgments", benchmark=of, target=target)
        calibration = calibrated.calibration
        facts = {
            "verdict": calibrated.verdict,
            "n_drawn": calibrated.n_drawn,
            "n_shared": calibrated.n_shared,
            "calibration": calibration.as_json() if calibration else None,
            "improvement": improvement_of(campaign),
        }
        return Response(CalibrationSerializer(facts).data)


class CampaignPublish(OfCampaign):
    @extend_schema(
        summary="Publish a campaign's grades as qrels of kind `machine`",
        tags=TAG,
        request=PublishSerializer,
        responses={201: PublishedSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        campaign = self.campaign()
        fields = self.validated(PublishSerializer)
        qrel_set = publish_labels(campaign=campaign, user=request.user, **fields)
        return Response(PublishedSerializer(qrel_set).data, status=status.HTTP_201_CREATED)


CAMPAIGN = "campaigns/<int:pk>/"
of_benchmark = [
    path("campaigns/", CampaignList.as_view(), name="campaign-list"),
    path(CAMPAIGN, CampaignDetail.as_view(), name="campaign-detail"),
    path(f"{CAMPAIGN}failed/", CampaignFailed.as_view(), name="campaign-failed"),
    path(f"{CAMPAIGN}start/", CampaignStart.as_view(), name="campaign-start"),
    path(f"{CAMPAIGN}pause/", CampaignPause.as_view(), name="campaign-pause"),
    path(f"{CAMPAIGN}cancel/", CampaignCancel.as_view(), name="campaign-cancel"),
    path(f"{CAMPAIGN}calibration/", CampaignCalibration.as_view(), name="campaign-calibration"),
    path(f"{CAMPAIGN}publish/", CampaignPublish.as_view(), name="campaign-publish"),
    path(f"{CAMPAIGN}try/", CampaignTry.as_view(), name="campaign-try"),
]
