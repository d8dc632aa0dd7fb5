"""Endpoints of accounts: what is known of a person, and deleting them; one's own, and others'."""

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.models import Scope, User
from benchmarks_app.people.services import forgetting
from benchmarks_app.people.services.guesses import check_password_again
from benchmarks_app.people.services.person_export import export_person
from benchmarks_app.releases.downloads import zip_response

TAG = ["account"]
ZIP = {(200, "application/zip"): OpenApiTypes.BINARY}


class PasswordSerializer(serializers.Serializer):
    """The password of whoever asks: a token alone deletes nobody."""

    password = serializers.CharField(max_length=4096, trim_whitespace=False, write_only=True)


class ForgottenSerializer(serializers.Serializer):
    """`lasting` are places that never change and still have the name."""

    pseudonym = serializers.CharField()
    n_texts = serializers.IntegerField()
    lasting = serializers.ListField(child=serializers.CharField())


class OfPerson(Endpoint):
    pagination_class = None
    serializer_class = ForgottenSerializer

    def deleted(self, person: User) -> Response:
        actor = self.caller()
        password = self.validated(PasswordSerializer)["password"]
        check_password_again(user=actor, password=password)
        forgotten = forgetting.delete_person(user=person, actor=actor)
        return Response(ForgottenSerializer(forgotten).data)

    def known(self, person: User) -> HttpResponseBase:
        pieces = export_person(user=person, actor=self.caller())
        return zip_response(pieces, f"known-of-{person.username}")


class MeExport(OfPerson):
    limits = {"GET": COMPUTATIONS}

    @extend_schema(summary="All that is known of you, as a zip", tags=TAG, responses=ZIP)
    def get(self, request: Request) -> HttpResponseBase:
        return self.known(self.caller())


class MeDelete(OfPerson):
    limits = {"POST": COMPUTATIONS}
    refusals = {"POST": (403, 409)}

    @extend_schema(
        summary="Delete your account: names go, labels stay",
        tags=TAG,
        request=PasswordSerializer,
        responses={200: ForgottenSerializer},
    )
    def post(self, request: Request) -> Response:
        return self.deleted(self.caller())


class AccountExport(OfPerson):
    limits = {"GET": COMPUTATIONS}
    scopes = {"GET": Scope.MANAGE}

    @extend_schema(
        summary="All that is known of somebody, for managers of the site", tags=TAG, responses=ZIP
    )
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        self.manager()
        return self.known(get_object_or_404(User, pk=pk))


class AccountDelete(OfPerson):
    limits = {"POST": COMPUTATIONS}
    refusals = {"POST": (403, 409)}

    @extend_schema(
        summary="Delete somebody, for managers of the site",
        tags=TAG,
        request=PasswordSerializer,
        responses={200: ForgottenSerializer},
    )
    def post(self, request: Request, pk: int) -> Response:
        self.manager()
        return self.deleted(get_object_or_404(User, pk=pk, is_anonymised=False))


urlpatterns = [
    path("me/export/", MeExport.as_view(), name="me-export"),
    path("me/delete/", MeDelete.as_view(), name="me-delete"),
    path("accounts/<int:pk>/export/", AccountExport.as_view(), name="account-export"),
    path("accounts/<int:pk>/delete/", AccountDelete.as_view(), name="account-delete"),
]
