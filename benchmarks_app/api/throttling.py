"""How often one may ask."""

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle


class Rate(SimpleRateThrottle):
    """So many requests a minute of one person, fewer of one address without an account."""

    scope = "api"

    def __init__(self) -> None:
        self.num_requests, self.duration = 0, 60

    def allow_request(self, request: Request, view: Any) -> bool:
        is_known = bool(request.user and request.user.is_authenticated)
        self.num_requests = (
            settings.API_REQUESTS_PER_MINUTE if is_known else settings.API_ANONYMOUS_PER_MINUTE
        )
        self.rate = f"{self.num_requests}/min"
        return super().allow_request(request, view)

    def get_cache_key(self, request: Request, view: Any) -> str:
        user = request.user
        ident = user.pk if user and user.is_authenticated else self.get_ident(request)
        return self.cache_format % {"scope": self.scope, "ident": ident}
