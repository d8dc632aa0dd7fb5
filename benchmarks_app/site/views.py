"""Pages of the site as a whole: home, health, and how the operator sees it."""

import mimetypes

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from benchmarks_app.hosts import differences, site_version, this_host
from benchmarks_app.requests import PersonRequest
from benchmarks_app.site import selectors
from benchmarks_app.site.manual import FIRST, all_names, built_files, built_page, chapter, contents

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


AN_HOUR = 3600


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    if page := built_page(""):
        return HttpResponse(page)
    first = chapter(FIRST)
    return render(request, "benchmarks_app/site/docs.html", {"first": first, "groups": contents()})


@require_safe
def docs_page(request: HttpRequest, chapter_name: str) -> HttpResponse:
    """A chapter; beside another page, as its help, without the frame."""
    is_help = request.headers.get("HX-Request") == "true"
    if not is_help and (page := built_page(chapter_name)):
        return HttpResponse(page)
    if chapter_name not in all_names():
        raise Http404
    part = "_docs_chapter" if is_help else "docs_page"
    return render(
        request, f"benchmarks_app/site/{part}.html", {"chapter_page": chapter(chapter_name)}
    )


@require_safe
@gzip_page
def docs_file(request: HttpRequest, file_name: str) -> HttpResponse:
    """A style, script, picture or the index of words of the built documentation."""
    path = built_files(settings.DOCS_SITE).get(file_name)
    if path is None:
        raise Http404
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    response = HttpResponse(path.read_bytes(), content_type=kind)
    response["Cache-Control"] = f"public, max-age={AN_HOUR}"
    return response
