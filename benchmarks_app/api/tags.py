"""Answers that say whether they are what the asker has already: ETag and 304."""

import hashlib

from django.http.response import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

# What an answer depends on beside its address: who asks, and in which form.
VARY = ("Accept", "Authorization", "Cookie")
# Of the answer that is not sent, these still hold.
KEPT = ("Link", "RateLimit", "RateLimit-Policy")


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
