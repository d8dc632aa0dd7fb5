"""How often one may ask: in all, and of what costs the site more than a look.

An endpoint names what its methods cost: `limits = {"POST": UPLOADS}`.
"""

from collections.abc import Iterable
from math import ceil
from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase
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
    history: list[float] | None = None
    now = 0.0

    def __init__(self) -> None:
        self.num_requests, self.duration = 0, 60

    @property
    def name(self) -> str:
        return "requests" if self.scope == "api" else self.scope

    def look(self, request: Request, view: Any) -> None:
        """Read what was counted without counting: of what was refused before limits are asked."""
        self.num_requests = self.most(request)
        self.now = self.timer()
        times = self.cache.get(self.get_cache_key(request, view), [])
        self.history = [time for time in times if time > self.now - self.duration]

    def left(self) -> tuple[int, int]:
        """How many requests are left, and in how many seconds there will be more again."""
        history = self.history or []
        oldest = history[-1] if history else self.now
        return max(self.num_requests - len(history), 0), ceil(oldest + self.duration - self.now)

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

    def look(self, request: Request, view: Any) -> None:
        self.scope = getattr(view, "limits", {}).get(request.method, "")
        if self.scope:
            super().look(request, view)

    def most(self, request: Request) -> int:
        of_scope = {
            UPLOADS: settings.API_UPLOADS_PER_MINUTE,
            COMPUTATIONS: settings.API_COMPUTATIONS_PER_MINUTE,
        }[self.scope]
        return min(of_scope, super().most(request))


def say_limits(response: HttpResponseBase, rates: Iterable[Rate]) -> None:
    """Name each limit and what is left of it, as draft-ietf-httpapi-ratelimit-headers writes it."""
    asked_rates = [rate for rate in rates if rate.history is not None]
    policies = [f'"{rate.name}";q={rate.num_requests};w={rate.duration}' for rate in asked_rates]
    remainders = [
        f'"{rate.name}";r={n};t={seconds}' for rate in asked_rates for n, seconds in [rate.left()]
    ]
    response["RateLimit-Policy"] = ", ".join(policies)
    response["RateLimit"] = ", ".join(remainders)
