"""Images of documents: which a document has, how large one may be, and how one is sent."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse

from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.files import local_path
from benchmarks_app.models import Benchmark, CorpusImage, Unit
from benchwright.corpora.images import alternative_text
from benchwright.corpora.store import StoredDocument
from benchwright.judges.images import ImageLimits
from benchwright.judges.messages import KeptImage

EXTENSIONS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
# An image never changes under its address; who may see it is asked each time all the same.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-cache",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def image_limits() -> ImageLimits:
    """How large an image may be on this site."""
    return ImageLimits(
        max_bytes=settings.CASE_IMAGE_BYTES, max_pixels=settings.CASE_IMAGE_MEGAPIXELS * 1_000_000
    )


def image_bytes(name: str, media_type: str, shown_name: str) -> HttpResponse:
    """A stored image, some megabytes at most, which can be nothing but this image."""
    return HttpResponse(
        local_path(name).read_bytes(),
        content_type=media_type,
        headers={**HEADERS, "Content-Disposition": f'inline; filename="{shown_name}"'},
    )


def images_shown(
    benchmark: Benchmark, documents: Iterable[StoredDocument]
) -> dict[str, list[dict[str, Any]]]:
    """By document id: its images in order, each with addresses, size and alternative text.

    The addresses name what an image holds; no id or path of a document is in them.
    """
    documents = list(documents)
    texts = {one.docid: alternative_text(one.metadata, one.title) for one in documents}
    return {
        docid: [_shown(benchmark, image, texts[docid]) for image in images]
        for docid, images in _images_of(benchmark, documents).items()
    }


def images_asked_about(
    benchmark: Benchmark, docids: Iterable[str]
) -> dict[str, tuple[KeptImage, ...]]:
    """By document id, where it has any: its images in order, as a judge is sent them."""
    if benchmark.corpus.unit != Unit.IMAGE:
        return {}
    documents = benchmark_documents(benchmark, docids).values()
    return {
        docid: tuple(_asked_about(image) for image in images)
        for docid, images in _images_of(benchmark, documents).items()
        if images
    }


def _asked_about(image: CorpusImage) -> KeptImage:
    return KeptImage(
        media_type=image.media_type,
        width=image.width,
        height=image.height,
        path=local_path(image.stored),
        digest=image.sha256,
    )


def _images_of(
    benchmark: Benchmark, documents: Iterable[StoredDocument]
) -> dict[str, list[CorpusImage]]:
    digests = {document.docid: document.image_digests for document in documents}
    wanted = {digest for of_document in digests.values() for digest in of_document}
    kept = benchmark.corpus.images.filter(sha256__in=wanted)
    images = {image.sha256: image for image in kept} if wanted else {}
    return {
        docid: [images[digest] for digest in of_document if digest in images]
        for docid, of_document in digests.items()
    }


def _shown(benchmark: Benchmark, image: CorpusImage, text: str) -> dict[str, Any]:
    args = [benchmark.slug, image.sha256]
    return {
        "url": reverse("document-image", args=args),
        "thumbnail": reverse("document-thumbnail", args=args),
        "width": image.width,
        "height": image.height,
        "alt": text,
    }
