"""Every error of the API has one shape: a stable code, a sentence, and what more there is."""

import logging
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import exception_handler

from benchmarks_app.migrated import explained
from benchmarks_app.problems import CONTENT_TYPE, problem
from benchwright.errors import BenchmarkError
from benchwright.full_disk import DiskFullError, is_disk_full

log = logging.getLogger(__name__)
CODES = {
    "not_authenticated": "not-authenticated",
    "permission_denied": "forbidden",
    "not_found": "not-found",
    "method_not_allowed": "method-not-allowed",
    "not_acceptable": "not-acceptable",
    "unsupported_media_type": "unsupported-media-type",
    "parse_error": "not-json",
}


def as_response(error: Exception, context: dict[str, Any]) -> Response:
    """What the API answers instead of an exception."""
    if is_disk_full(error):
        log.error("the disk is full", exc_info=error)
        error = DiskFullError()
    error = explained(error)
    if isinstance(error, ObjectDoesNotExist):  # somebody deleted it since the request began
        log.warning("what the API was asked for is gone", exc_info=error)
        error = Http404()
    instance = context["request"].path
    if isinstance(error, BenchmarkError):
        return _refused(error, instance)
    if isinstance(error, exceptions.ValidationError):
        message = "What was sent is not what is expected."
        return answer(400, "invalid", message, instance, errors=_by_field(error.detail))
    response_of_framework = exception_handler(error, context)
    if response_of_framework is None:
        log.exception("unexpected error of the API", exc_info=error)
        message = "Unexpected error. The log of the site has the details."
        return answer(status.HTTP_500_INTERNAL_SERVER_ERROR, "unexpected", message, instance)
    response = answer(response_of_framework.status_code, _code(error), _message(error), instance)
    for header in ("WWW-Authenticate", "Retry-After"):
        if header in response_of_framework.headers:
            response[header] = response_of_framework.headers[header]
    return response


def answer(status_code: int, code: str, message: str, instance: str, **more: Any) -> Response:
    return Response(
        problem(status=status_code, code=code, message=message, instance=instance, **more),
        status=status_code,
        headers={"X-Error-Code": code},
        content_type=CONTENT_TYPE,
    )


def _refused(error: BenchmarkError, instance: str) -> Response:
    problems = [
        {"file": line.file, "line": line.line, "message": line.text}
        for line in error.facts.get("problems") or ()
    ]
    response = answer(
        error.status,
        error.code,
        str(error),
        instance,
        title=error.heading if error.heading != BenchmarkError.heading else "",
        facts=_facts(error),
        problems=problems,
    )
    if error.retry_after is not None:
        response["Retry-After"] = error.retry_after
    return response


def _facts(error: BenchmarkError) -> dict[str, Any]:
    """An error's facts as far as JSON takes them."""
    return {
        name: value
        for name, value in error.facts.items()
        if name != "summary" and isinstance(value, str | int | float | bool | None)
    }


def _by_field(detail: Any) -> dict[str, Any]:
    """What is wrong of each field; of what was sent as a whole under its name in forms."""
    return detail if isinstance(detail, dict) else {"non_field_errors": detail}


def _code(error: Exception) -> str:
    if isinstance(error, Http404):
        return "not-found"
    if isinstance(error, PermissionDenied):
        return "forbidden"
    if str(error).startswith("CSRF Failed"):
        return "csrf"
    code = getattr(error, "default_code", "error")
    codes = error.get_codes() if isinstance(error, exceptions.APIException) else code
    return CODES.get(str(codes), str(codes).replace("_", "-"))


def _message(error: Exception) -> str:
    if isinstance(error, Http404):
        return "There is no such thing here, or it is not for you to see."
    if isinstance(error, PermissionDenied):
        return "Your role in this benchmark does not allow this."
    return str(getattr(error, "detail", error))
