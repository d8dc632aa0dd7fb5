"""The documentation, served by the site itself; for everybody."""

import mimetypes

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from benchmarks_app.site.manual import FIRST, all_names, built_files, built_page, chapter, contents

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
