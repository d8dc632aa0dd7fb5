"""The API's description for machines, and its page for people: both without any other site."""

from functools import cache
from typing import Any

from csp.decorators import csp_update
from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.utils.translation import get_language
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from benchmarks_app.api import schema
from benchmarks_app.api.base import Answering

__all__ = ["ApiDocs", "ApiSchema", "schema"]  # the schema's extensions register when imported


RENDERERS: dict[str, type[BaseRenderer]] = {
    "json": OpenApiJsonRenderer,
    "yaml": OpenApiYamlRenderer,
}


@cache
def _description(form: str, language: str | None) -> bytes:
    """The whole description, kept by each process: it is a second's work that anybody may ask for.

    It says the same until the program is another. `form` is json or yaml; `language` is active.
    """
    described = SchemaGenerator().get_schema(request=None, public=True)
    written: bytes = RENDERERS[form]().render(described, renderer_context={})
    return written


class ApiSchema(Answering, SpectacularAPIView):
    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        renderer = request.accepted_renderer
        charset = f"; charset={renderer.charset}" if renderer.charset else ""
        return HttpResponse(
            _description(renderer.format, get_language()),
            content_type=f"{renderer.media_type}{charset}",
            headers={"Content-Disposition": f'inline; filename="Benchwright.{renderer.format}"'},
        )


# Swagger's style sheet has its little arrows inside itself.
@method_decorator(csp_update({"img-src": ["data:"]}), name="dispatch")
class ApiDocs(SpectacularSwaggerSplitView):
    """In two requests, the page and its script, so that no script stands inside the page."""

    template_name = "benchmarks_app/api/api_docs.html"
    url_name = "api-schema"
