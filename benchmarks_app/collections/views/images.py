"""Images of documents, as they were checked, and small."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from benchmarks_app.common.selectors.images import image_bytes
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view


@require_safe
@benchmark_view(Action.VIEW)
def document_image(request: HttpRequest, benchmark: Benchmark, sha256: str) -> HttpResponse:
    """The original, of the kind it was seen to be."""
    image = get_object_or_404(benchmark.corpus.images, sha256=sha256)
    extension = image.stored.rpartition(".")[2]
    return image_bytes(image.stored, image.media_type, f"image-{image.pk}.{extension}")


@require_safe
@benchmark_view(Action.VIEW)
def document_thumbnail(request: HttpRequest, benchmark: Benchmark, sha256: str) -> HttpResponse:
    image = get_object_or_404(benchmark.corpus.images, sha256=sha256)
    return image_bytes(image.thumbnail, "image/png", f"thumbnail-{image.pk}.png")
