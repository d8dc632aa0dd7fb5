"""What the endpoints share: finding the benchmark, reading what was sent, pages of lists."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.forms import BaseForm
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from rest_framework import exceptions
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import (
    BaseSerializer,
    ChoiceField,
    Field,
    ListSerializer,
    Serializer,
)
from rest_framework.views import APIView

from benchmarks_app.api import idempotency
from benchmarks_app.api.throttling import Rate, say_limits
from benchmarks_app.common.selectors.factors import lacks_factor
from benchmarks_app.errors import FactorAskedError, ScopeError
from benchmarks_app.models import ApiToken, Benchmark, KeyedRequest, QrelSet, Scope, User
from benchmarks_app.permissions import Action, benchmark_named, is_site_manager, may, refusal
from benchwright.texts.counting import first_of

# What an answer depends on beside its address: who asks, and in which form.
VARY = ("Accept", "Authorization", "Cookie")
# Of the answer that is not sent, these still hold.
KEPT = ("Link", "RateLimit", "RateLimit-Policy")


class Answering(APIView):
    """What every answer has: limits, what it depends on, and where nothing is written a tag."""

    rates: list[Rate] | None = None

    def get_throttles(self) -> list[Any]:
        self.rates = super().get_throttles()
        return self.rates

    def finalize_response(
        self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.rates is None:
            for rate in self.get_throttles():
                rate.look(request, self)
        say_limits(response, self.rates or ())
        patch_vary_headers(response, VARY)
        if request.method not in SAFE_METHODS or response.status_code != 200:
            return response
        if isinstance(response, Response):
            response.add_post_render_callback(lambda rendered: tagged(rendered, request))
        elif isinstance(response, HttpResponse) and not response.has_header("ETag"):
            return tagged(response, request)
        return response


class Endpoint(Answering, GenericAPIView):
    """An endpoint; its permissions are those of the pages, asked for with `benchmark_for`."""

    # What its methods cost beside a request, as `throttling` names it: {"POST": UPLOADS}.
    limits: ClassVar[Mapping[str, str]] = {}
    # What its methods ask of a token, where that is not `read` (safe methods) or `manage` (others).
    scopes: ClassVar[Mapping[str, Scope]] = {}
    # Errors its methods answer with beside those that follow from method and address.
    refusals: ClassVar[Mapping[str, tuple[int, ...]]] = {}
    # Whether its answers may be kept for an Idempotency-Key: not where they have a secret.
    keeps_answers: ClassVar[bool] = True
    keyed: KeyedRequest | None = None
    # Of the schema alone, which must not guess from the database.
    queryset = Benchmark.objects.none()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method == "POST" and request.user.is_authenticated and self.keeps_answers:
            self.keyed = idempotency.claimed(request)

    def handle_exception(self, exc: Exception) -> HttpResponseBase:
        if isinstance(exc, idempotency.AnsweredBefore):
            return exc.answer()
        answer: HttpResponseBase = super().handle_exception(exc)
        return answer

    def finalize_response(
        self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        response = super().finalize_response(request, response, *args, **kwargs)
        if (keyed := self.keyed) is None:
            return response
        if isinstance(response, Response):
            response.add_post_render_callback(lambda rendered: idempotency.keep(keyed, rendered))
        else:
            idempotency.keep(keyed, response)
        return response

    def check_permissions(self, request: Request) -> None:
        """Whether the token, if there is one, is good for this; roles: `benchmark_for`.

        Whom the site asks for a second factor and who has none cannot manage by a token either.
        """
        super().check_permissions(request)
        scope = self.scope_of(request.method)
        is_by_token = isinstance(request.auth, ApiToken)
        if is_by_token and scope not in request.auth.scopes:
            raise ScopeError(scope=scope.value)
        is_asked = request.user.is_authenticated and (not is_by_token or scope == Scope.MANAGE)
        if is_asked and lacks_factor(request.user.pk):
            raise FactorAskedError

    def scope_of(self, method: str) -> Scope:
        return self.scopes.get(method, Scope.READ if method in SAFE_METHODS else Scope.MANAGE)

    def benchmark_for(self, action: Action) -> Benchmark:
        """The benchmark of the address, if the caller may do `action` there.

        Who may not see it gets 404 (its existence is not told), who lacks the role 403, and whom
        nobody knows 401 where an account might help.
        """
        user = self.request.user
        benchmark = benchmark_named(self.kwargs["slug"], user)
        if benchmark is not None and may(user, action, benchmark):
            return benchmark
        self.caller()
        if benchmark is not None and may(user, Action.VIEW, benchmark):
            raise refusal(user, action, benchmark)
        raise Http404

    def caller(self) -> User:
        """Who asks; 401 where nobody is signed in."""
        user = self.request.user
        if not isinstance(user, User):
            raise exceptions.NotAuthenticated(code="not_authenticated")
        return user

    def manager(self) -> None:
        """Refuse whoever does not manage the site; 401 where an account might help."""
        if not is_site_manager(self.caller()):
            raise PermissionDenied

    def validated(
        self, serializer: type[BaseSerializer], *, partial: bool = False, **more: Any
    ) -> Any:
        """What was sent, as `serializer` reads it; 400 with what is wrong of it.

        A change none of whose fields can be changed is wrong, too, and a new thing with a field
        that there is not: it would be made otherwise than was meant.
        """
        context = {"request": self.request, **more}
        body = self.request.data
        bound_serializer = serializer(data=body, context=context, partial=partial)
        if self.request.method == "POST" and (unknown := _unknown_fields(bound_serializer, body)):
            raise exceptions.ValidationError(unknown)
        _name_choices(bound_serializer)
        bound_serializer.is_valid(raise_exception=True)
        values = bound_serializer.validated_data
        names = _names(bound_serializer)
        if self.request.method == "PATCH" and body and names and not values:
            message = f"None of these fields can be changed. Expected {' or '.join(names)}."
            raise exceptions.ValidationError({"non_field_errors": [message]})
        return values

    def parameter(self, name: str, field: Field) -> Any:
        """A parameter of the address as `field` reads it, None without it; 400 where it cannot."""
        value = self.request.query_params.get(name)
        if not value:
            return None
        try:
            return field.run_validation(value)
        except exceptions.ValidationError as error:
            raise exceptions.ValidationError({name: error.detail}) from error

    def choice(self, name: str, values: Iterable[object], default: str = "") -> str:
        """A parameter of the address that is one of `values`, `default` without it; 400 if none."""
        value = self.request.query_params.get(name) or default
        texts = [str(each) for each in values]
        if value not in {default, *texts}:
            raise exceptions.ValidationError({name: [f"Choose one of {', '.join(texts)}."]})
        return value

    def cleaned(self, form: BaseForm) -> dict[str, Any]:
        """What a page's form makes of what was sent; 400 with what is wrong of it."""
        if not form.is_valid():
            raise exceptions.ValidationError(dict(form.errors))
        return form.cleaned_data

    def page_of(self, rows: QuerySet | list, serializer: type[BaseSerializer]) -> Response:
        """A page of the rows, as `?limit=` and `?cursor=`, or `?page=` and `?page_size=`, ask."""
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(
            serializer(page, many=True, context={"request": self.request}).data
        )


def _names(field: Field) -> list[str]:
    """The fields that may be sent of a serializer."""
    return [name for name, part in getattr(field, "fields", {}).items() if not part.read_only]


def _unknown_fields(field: Field, body: Any) -> dict[str, Any] | list[Any]:
    """What is wrong of names in a body, or a part of it, that are no fields; empty if none is."""
    if isinstance(field, ListSerializer) and isinstance(body, list):
        rows = [_unknown_fields(field.child, row) for row in body]
        return rows if any(rows) else []
    fields = field.fields if isinstance(field, Serializer) else {}
    if not fields or not isinstance(body, Mapping):
        return {}
    message = f"This field is unknown; expected one of {', '.join(_names(field))}. Leave it out."
    inside = {name: _unknown_fields(fields[name], body[name]) for name in body if name in fields}
    return {name: [message] for name in body if name not in fields} | {
        name: unknown for name, unknown in inside.items() if unknown
    }


def _name_choices(field: Field) -> None:
    """Have every field of choices that has no words of its own say which there are."""
    for part in (*getattr(field, "fields", {}).values(), getattr(field, "child", None)):
        if part is not None:
            _name_choices(part)
    framework_words = ChoiceField.default_error_messages["invalid_choice"]
    if isinstance(field, ChoiceField) and field.error_messages["invalid_choice"] == framework_words:
        choices = ", ".join(map(str, field.choices))
        field.error_messages["invalid_choice"] = f"Expected one of {choices}, not “{{input}}”."


def qrels_asked(benchmark: Benchmark, name: str) -> QrelSet:
    """The set of qrels that is named in a body; 400 with those there are where it is none."""
    sets = QrelSet.objects.ready().filter(benchmark=benchmark)
    if qrel_set := sets.filter(name=name).first():
        return qrel_set
    there = first_of(list(sets.values_list("name", flat=True)), 10) or "none yet"
    message = f"There is no set of qrels '{name}'; the benchmark has {there}."
    raise exceptions.ValidationError({"qrels": [message]})


def tagged(response: HttpResponse, request: Request) -> HttpResponseBase:
    """Give a rendered answer the tag of its bytes; 304 where the asker has the same.

    The tag is of nothing but what this person is told, so it tells nothing besides. It is weak:
    the same facts may be written in other bytes by another version.
    """
    tag = f'W/"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    response["ETag"] = tag
    if "If-None-Match" not in request.headers:
        return response
    conditional = get_conditional_response(request._request, etag=tag, response=response)
    if conditional is None or conditional.status_code != 304:
        return response
    for name in KEPT:
        if response.has_header(name):
            conditional[name] = response[name]
    return conditional
