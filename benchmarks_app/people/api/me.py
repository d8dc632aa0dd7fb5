"""Who the caller is: the account, the token that was sent, and where it may do what."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.models import ApiToken, Membership, Scope, User
from benchmarks_app.people import mailed_links


class TokenShownSerializer(serializers.ModelSerializer):
    scopes = serializers.ListField(child=serializers.ChoiceField(Scope.choices))

    class Meta:
        model = ApiToken
        fields = ["name", "scopes", "expires_at"]


class MembershipShownSerializer(serializers.ModelSerializer):
    benchmark = serializers.SlugRelatedField(slug_field="slug", read_only=True)

    class Meta:
        model = Membership
        fields = ["benchmark", "role"]


class MeSerializer(serializers.ModelSerializer):
    """An account as itself; `token` is null where the site's own session asks."""

    name = serializers.CharField(source="__str__", read_only=True)
    has_verified_email = serializers.BooleanField(read_only=True)
    token = serializers.SerializerMethodField()
    memberships = serializers.SerializerMethodField()
    teams = serializers.SlugRelatedField(slug_field="name", many=True, read_only=True)

    class Meta:
        model = User
        fields = ["username", "name", "has_verified_email", "token", "memberships", "teams"]

    @extend_schema_field(TokenShownSerializer(allow_null=True))
    def get_token(self, user: User) -> dict[str, Any] | None:
        token = self.context["token"]
        return TokenShownSerializer(token).data if token else None

    @extend_schema_field(MembershipShownSerializer(many=True))
    def get_memberships(self, user: User) -> Any:
        rows = Membership.objects.filter(user=user).select_related("benchmark")
        return MembershipShownSerializer(rows.order_by("benchmark__slug"), many=True).data


class MeDetail(Endpoint):
    serializer_class = MeSerializer
    pagination_class = None

    @extend_schema(summary="Who you are, and what your token is good for", tags=["account"])
    def get(self, request: Request) -> Response:
        caller = self.caller()
        token = request.auth if isinstance(request.auth, ApiToken) else None
        return Response(MeSerializer(caller, context={"token": token}).data)


class MeAddressLink(Endpoint):
    """Answers the same whether or not mail can be sent, and it is sent so often an hour."""

    serializer_class = None
    pagination_class = None

    @extend_schema(
        summary="Mail yourself the link that verifies your address",
        tags=["account"],
        request=None,
        responses={202: None},
    )
    def post(self, request: Request) -> Response:
        self.caller()
        mailed_links.mail_address_link(request)
        return Response(status=202)


urlpatterns = [
    path("me/", MeDetail.as_view(), name="me-detail"),
    path("me/address-link/", MeAddressLink.as_view(), name="me-address-link"),
]
