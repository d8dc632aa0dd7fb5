"""How often one may ask: in all, and of what costs the site more than a look.

An endpoint names what its methods cost: `limits = {"POST": UPLOADS}`.
"""

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from benchmarks_app import limits
from benchmarks_app.forwarding import counted_address

UPLOADS = "uploads"
"""Files that are sent: submissions, imports, query logs."""
COMPUTATIONS = "computations"
"""What computes while one waits, or starts a job that does."""


class Rate(SimpleRateThrottle):
    """So many requests a minute of one person, fewer of one address without an account."""

    scope = "api"
    cache = limits.counts

    def __init__(self) -> None:
        self.num_requests, self.duration = 0, 60

    def allow_request(self, request: Request, view: Any) -> bool:
        self.num_requests = self.most(request)
        self.rate = f"{self.num_requests}/min"
        return bool(super().allow_request(request, view))

    def most(self, request: Request) -> int:
        """Return how many requests a minute there may be of whoever asks."""
        is_known = bool(request.user and request.user.is_authenticated)
        known, unknown = settings.API_REQUESTS_PER_MINUTE, settings.API_ANONYMOUS_PER_MINUTE
        return known if is_known else unknown

    def get_cache_key(self, request: Request, view: Any) -> str:
        user = request.user
        is_known = bool(user and user.is_authenticated)
        # Two kinds of keys: an address is never somebody's number.
        ident = f"user-{user.pk}" if is_known else f"address-{counted_address(request)}"
        return self.cache_format % {"scope": self.scope, "ident": ident}


class CostlyRate(Rate):
    """A limit of its own for what an endpoint says is costly; counted beside the general one."""

    def allow_request(self, request: Request, view: Any) -> bool:
        self.scope = getattr(view, "limits", {}).get(request.method, "")
        return not self.scope or super().allow_request(request, view)

    def most(self, request: Request) -> int:
        of_scope = {
            UPLOADS: settings.API_UPLOADS_PER_MINUTE,
            COMPUTATIONS: settings.API_COMPUTATIONS_PER_MINUTE,
        }[self.scope]
        return min(of_scope, super().most(request))
