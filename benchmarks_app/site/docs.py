"""The documentation, served by the site itself; for everybody."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks_app.site.manual import all_names, chapter, contents


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "benchmarks_app/site/docs.html", {"groups": contents()})


@require_safe
def docs_page(request: HttpRequest, chapter_name: str) -> HttpResponse:
    """A chapter; beside another page, as its help, without the frame."""
    if chapter_name not in all_names():
        raise Http404
    part = "_docs_chapter" if request.headers.get("HX-Request") == "true" else "docs_page"
    return render(
        request, f"benchmarks_app/site/{part}.html", {"chapter_page": chapter(chapter_name)}
    )
