"""What a page gets that sent a form, or a script's request, without the token against forgery."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import csrf


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A page for a form; for a script, its code as JSON."""
    if request.content_type != "application/json":
        return csrf.csrf_failure(request, reason=reason)
    message = "This page was open too long. Reload it and try again; nothing is lost."
    return JsonResponse({"code": "csrf", "message": message, "detail": {}}, status=403)
