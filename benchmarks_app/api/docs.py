"""The API's description for machines, and its page for people: both without any other site."""

from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from benchmarks_app.api import schema
from benchmarks_app.api.base import Answering

__all__ = ["ApiDocs", "ApiSchema", "schema"]  # the schema's extensions register when imported


class ApiSchema(Answering, SpectacularAPIView):
    pass


# Swagger's style sheet has its little arrows inside itself.
@method_decorator(csp_update({"img-src": ["data:"]}), name="dispatch")
class ApiDocs(SpectacularSwaggerSplitView):
    """In two requests, the page and its script, so that no script stands inside the page."""

    template_name = "benchmarks_app/api/api_docs.html"
    url_name = "api-schema"
