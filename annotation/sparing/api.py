"""Endpoints of sparing."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.common.selectors.pools import pools_of
from annotation.models import Pool, SparingRule
from annotation.sparing.selectors import Sparing, campaigns_to_spare_by, rules_of, sparing_of
from annotation.sparing.services import ask_to_spare, follow, stop_sparing
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.common.services import audit
from benchmarks_app.permissions import Action
from benchwright.recipes import campaigns as recipe


class SparingRuleSerializer(serializers.ModelSerializer):
    """A rule as it was asked for, and what became of it."""

    campaign = serializers.CharField(source="campaign.name", read_only=True)

    class Meta:
        model = SparingRule
        fields = (
            *("id", "campaign", "state", "n_audit", "n_zeros", "most_missed", "checked_share"),
            *("created_at", "allowed_at", "ended_at"),
        )


class SparingSerializer(serializers.Serializer):
    """Where a rule stands; without one, `rule` is null and nothing is spared."""

    rule = SparingRuleSerializer(allow_null=True)
    sentence = serializers.CharField()
    is_allowed = serializers.BooleanField(help_text="Whether it spares people work now.")
    n_audited = serializers.IntegerField(help_text="Judged so far, earlier audits among them.")
    n_relevant = serializers.IntegerField()
    bound = serializers.FloatField(
        allow_null=True, help_text="One-sided, of 95 %; over the last 300 once it is on."
    )
    n_needed = serializers.IntegerField(
        allow_null=True, help_text="To be audited in all, were no further one relevant."
    )
    n_checks = serializers.IntegerField()
    n_checked = serializers.IntegerField()
    n_checked_relevant = serializers.IntegerField()
    n_spared = serializers.IntegerField(help_text="Documents that nobody is asked about.")


class NewSparingSerializer(serializers.Serializer):
    campaign = serializers.CharField(max_length=120, help_text="Its name.")
    n_audit = api_field(recipe.AUDITED)
    most_missed = api_field(recipe.MOST_MISSED)
    checked_share = api_field(recipe.CHECKED_SHARE)


NOTHING = {
    "rule": None,
    "is_allowed": False,
    "bound": None,
    "n_needed": None,
    **dict.fromkeys(("n_audited", "n_relevant", "n_checks", "n_checked"), 0),
    **dict.fromkeys(("n_checked_relevant", "n_spared"), 0),
    "sentence": "Nobody asked: people judge every document.",
}


def told_of(sparing: Sparing | None) -> dict[str, Any]:
    """What the API and the command say."""
    if sparing is None:
        return dict(SparingSerializer(NOTHING).data)
    facts = {
        "rule": sparing.rule,
        "sentence": sparing.sentence,
        "is_allowed": sparing.rule.state == SparingRule.State.ON,
        "n_audited": sparing.audit.n_audited,
        "n_relevant": sparing.audit.n_relevant,
        **{name: getattr(sparing, name) for name in ("bound", "n_needed", "n_checks")},
        **{name: getattr(sparing, name) for name in ("n_checked", "n_checked_relevant")},
        "n_spared": sparing.n_spared,
    }
    return dict(SparingSerializer(facts).data)


class PoolSparing(Endpoint):
    limits = {"GET": COMPUTATIONS, "POST": COMPUTATIONS}
    serializer_class = SparingSerializer
    pagination_class = None

    def pool(self) -> Pool:
        benchmark = self.benchmark_for(Action.EDIT)
        pool: Pool = get_object_or_404(pools_of(benchmark), pk=self.kwargs["pk"])
        return pool

    def told(self, pool: Pool, code: int = status.HTTP_200_OK) -> Response:
        rule = rules_of(pool).first()
        return Response(told_of(sparing_of(rule) if rule else None), status=code)

    @extend_schema(
        summary="Whether a machine's 0 spares people work in a pool",
        description="Of the newest rule: its audit, its checks, and the verdict.",
        tags=["machine judges"],
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        pool = self.pool()
        of, target = pool.benchmark, f"sparing in {pool}"
        audit.record(actor=request.user, action="read-judgments", benchmark=of, target=target)
        return self.told(pool)

    @extend_schema(
        summary="Ask that people are spared what a campaign gave 0: draw the audit",
        tags=["machine judges"],
        request=NewSparingSerializer,
        responses={201: SparingSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        pool = self.pool()
        fields = dict(self.validated(NewSparingSerializer))
        name = fields.pop("campaign")
        campaign = pool.campaigns.filter(name=name).first()
        if campaign is None:
            known_names = ", ".join(campaigns_to_spare_by(pool).values_list("name", flat=True))
            message = (
                f"There is no campaign '{name}' of this pool; done are: {known_names or 'none'}."
            )
            raise exceptions.ValidationError({"campaign": [message]})
        follow(rule=ask_to_spare(campaign=campaign, user=request.user, **fields))
        return self.told(pool, status.HTTP_201_CREATED)

    @extend_schema(
        summary="Ask people about every document again",
        tags=["machine judges"],
        responses={200: SparingSerializer},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        pool = self.pool()
        stop_sparing(pool=pool, user=request.user)
        return self.told(pool)


of_benchmark = [path("pools/<int:pk>/sparing/", PoolSparing.as_view(), name="pool-sparing")]
