"""Every error of the API has one shape: a stable code, a sentence, and what more there is."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import exception_handler

from benchmarks_app.migrated import explained
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
    if isinstance(error, BenchmarkError):
        response = answer(error.status, error.code, str(error), _facts(error))
        if error.retry_after is not None:
            response["Retry-After"] = error.retry_after
        return response
    if isinstance(error, exceptions.ValidationError):
        return answer(400, "invalid", "What was sent is not what is expected.", error.detail)
    known = exception_handler(error, context)
    if known is None:
        log.exception("unexpected error of the API", exc_info=error)
        detail = "Unexpected error. The log of the site has the details."
        return answer(status.HTTP_500_INTERNAL_SERVER_ERROR, "unexpected", detail, {})
    response = answer(known.status_code, _code(error), _message(error), {})
    for header in ("WWW-Authenticate", "Retry-After"):
        if header in known.headers:
            response[header] = known.headers[header]
    return response


def answer(status_code: int, code: str, message: str, detail: Any) -> Response:
    return Response(
        {"code": code, "message": message, "detail": detail},
        status=status_code,
        headers={"X-Error-Code": code},
        content_type="application/json",
    )


def _facts(error: BenchmarkError) -> dict[str, Any]:
    """An error's facts as far as JSON takes them; problems of a file line by line."""
    facts: dict[str, Any] = {
        name: value
        for name, value in error.facts.items()
        if name != "summary" and isinstance(value, str | int | float | bool | None)
    }
    if problems := error.facts.get("problems"):
        facts["problems"] = [
            {"file": problem.file, "line": problem.line, "message": problem.text}
            for problem in problems
        ]
    return facts


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
