"""Pages of the site as a whole: home, health, and how the operator sees it."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks_app.hosts import differences, site_version, this_host
from benchmarks_app.requests import PersonRequest
from benchmarks_app.site import selectors

PAGE_SIZE = 25
JOBS_ON_HOME = 5
FAILED_JOBS_SHOWN = 25


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    benchmarks = Paginator(selectors.home_benchmarks(request.user), PAGE_SIZE)
    page = benchmarks.get_page(request.GET.get("page"))
    context = {
        "page": page,
        # Who came for one thing alone is led straight to it.
        "only": page.object_list[0] if benchmarks.count == 1 else None,
        "jobs": selectors.active_jobs_of(request.user)[:JOBS_ON_HOME],
    }
    return render(request, "benchmarks_app/site/home.html", context)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers; whether the rest does is `readyz`'s to say."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    ready = selectors.readiness()
    words = {part: "ok" if is_there else "unavailable" for part, is_there in ready.items()}
    words["hosts"] = "unknown"
    if ready["database"] and ready["migrations"]:
        # Told, and no reason to send nobody here: while hosts are started anew they do differ.
        wrong = differences(selectors.workers_seen(), this_host())
        words["hosts"] = "differ" if wrong else "ok"
    return JsonResponse(words, status=200 if all(ready.values()) else 503)


@login_required
@require_safe
def system(request: PersonRequest) -> HttpResponse:
    """For the site's staff; the cause of what is wrong comes first."""
    if not request.user.is_staff:
        raise PermissionDenied
    workers, queue = selectors.workers_seen(), selectors.queue_state()
    storage, store = selectors.storage_state(), selectors.last_store_check()
    context = {
        "checks": selectors.state_of(workers, queue, storage, store, selectors.newest_backups()),
        "workers": workers,
        "queue": queue,
        "storage": storage,
        "store": store,
        "failed": selectors.failed_jobs(FAILED_JOBS_SHOWN),
        "n_failed": selectors.n_failed_jobs(),
        "version": site_version(),
        "database": connection.vendor,
        "broker": settings.CELERY_BROKER_URL.split("://")[0],
        "growth_days": selectors.GROWTH_DAYS,
    }
    return render(request, "benchmarks_app/site/system.html", context)
