"""The labeling page's own endpoint: what was said goes in, the next documents come out, as JSON."""

import json

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotation.common.services import statements
from annotation.judging.protocol.errors import (
    EventError,
    NoSuchPoolError,
    NotAJudgeError,
    SignedOutError,
)
from annotation.judging.protocol.exchange import request_of
from annotation.judging.services.exchanging import exchange
from annotation.models import Pool
from benchmarks_app.language import say_in, told
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import ALLOWED, Action
from benchmarks_app.sessions import claimed_user, is_signed_in
from benchwright.errors import BenchmarkError


@never_cache
@require_POST
def judge_exchange(request: HttpRequest, pk: int) -> JsonResponse:
    # Who is signed in would be a query: the page says in which language it is.
    say_in(request.GET.get("lang", ""))
    try:
        me, pool = _who_and_what(request, pk)
        answer = exchange(pool=pool, me=me, request=request_of(_json(request)))
    except BenchmarkError as error:
        refusal = {"code": error.code, "message": told(error), "detail": {}}
        return JsonResponse(refusal, status=error.status)
    return JsonResponse(answer)


def _who_and_what(request: HttpRequest, pk: int) -> tuple[int, Pool]:
    """What `login_required` and `permissions.require` find out, by one statement."""
    me = claimed_user(request)
    if me is None:
        raise SignedOutError
    desk = statements.desk(pk, me)
    password, is_active = (desk.password, desk.is_active) if desk else (None, False)
    if not is_signed_in(request, me, password, is_active=is_active):
        raise SignedOutError
    if desk is None:
        raise NoSuchPoolError
    if desk.role is None and desk.pool.benchmark.visibility != Benchmark.Visibility.PUBLIC:
        raise NoSuchPoolError
    if desk.role not in ALLOWED[Action.JUDGE]:
        raise NotAJudgeError
    return me, desk.pool


def _json(request: HttpRequest) -> object:
    try:
        return json.loads(request.body)
    except (ValueError, RecursionError):
        raise EventError(what="the request", expected="JSON") from None
