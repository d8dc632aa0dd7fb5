"""What a view may take a request to have, by who is let in to it."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from benchmarks_app.models import Benchmark, User


class SiteRequest(HttpRequest):
    """Of anybody, with what the site's middleware and `benchmark_view` put on it."""

    htmx: HtmxDetails
    benchmark: Benchmark
    # Set by the first chart of a page, which brings the script of them all.
    has_chart_script: bool


class PersonRequest(SiteRequest):
    """Of somebody signed in: what `login_required`, `site_view` and `benchmark_view` let through
    where the action is not open to the public.
    """

    user: User
