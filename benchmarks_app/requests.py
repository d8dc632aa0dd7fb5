"""What a view may take a request to have, by who is let in; and how an asker takes answers."""

import re
from collections import Counter

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from benchmarks_app.models import Benchmark, User


def accepted_encoding(header: str) -> str:
    """The first of zstd and gzip that is accepted; "" where neither is.

    Examples
    --------
    >>> accepted_encoding("gzip, deflate, br, zstd"), accepted_encoding("zstd;q=0, gzip;q=0.5")
    ('zstd', 'gzip')
    >>> accepted_encoding("br"), accepted_encoding("")
    ('', '')
    """
    accepted = set()
    for part in header.lower().split(","):
        name, _, weight = part.partition(";")
        if not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight):
            accepted.add(name.strip())
    return next((name for name in ("zstd", "gzip") if name in accepted), "")


class SiteRequest(HttpRequest):
    """Of anybody, with what the site's middleware and `benchmark_view` put on it."""

    htmx: HtmxDetails
    benchmark: Benchmark
    # How many charts of a name the page has so far; the first of all brings their script.
    chart_names: Counter[str]


class PersonRequest(SiteRequest):
    """Of somebody signed in: what `login_required`, `site_view` and `benchmark_view` let through
    where the action is not open to the public.
    """

    user: User
