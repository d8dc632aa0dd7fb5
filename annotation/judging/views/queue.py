"""My work: where an annotator begins."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.common.selectors.pools import pools_to_judge
from annotation.judging.selectors.queue import queue_rows
from benchmarks_app.paging import page_of
from benchmarks_app.requests import PersonRequest

PAGE_SIZE = 25


@never_cache
@login_required
@require_safe
def queue(request: PersonRequest) -> HttpResponse:
    """Every open and paused pool of every benchmark where I judge, and what it has for me."""
    page = page_of(request, pools_to_judge(request.user), PAGE_SIZE)
    context = {"page": page, "rows": queue_rows(list(page), request.user)}
    return render(request, "annotation/judging/queue.html", context)
