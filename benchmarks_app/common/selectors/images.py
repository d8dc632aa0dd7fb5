"""Images of documents and queries: which each has, how large one may be, and how one is sent."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse

from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.files import local_path
from benchmarks_app.models import Benchmark, CorpusImage, Query, Unit
from benchwright.corpora.store import StoredDocument
from benchwright.judges.images import ImageLimits
from benchwright.judges.messages import KeptImage
from benchwright.texts.images import alternative_text, digests_in

Key = TypeVar("Key", bound=Hashable)
EXTENSIONS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
# An image never changes under its address; who may see it is asked each time all the same.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-cache",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class QueryWithImages(Protocol):
    """A query as it is asked, whose metadata names its images."""

    @property
    def text(self) -> str: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...


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
    by_id = {document.docid: document for document in documents}
    return {
        docid: [
            _shown(
                benchmark, image, alternative_text(by_id[docid].metadata, by_id[docid].title, place)
            )
            for place, image in enumerate(images)
        ]
        for docid, images in _images_of_documents(benchmark, by_id.values()).items()
    }


def query_images_shown(
    benchmark: Benchmark, queries: Mapping[Key, QueryWithImages]
) -> dict[Key, list[dict[str, Any]]]:
    """By the keys of the queries: their images, as `images_shown` has them."""
    images = _images_of(
        benchmark, {key: digests_in(query.metadata) for key, query in queries.items()}
    )
    return {
        key: [
            _shown(benchmark, image, alternative_text(queries[key].metadata, "", place))
            for place, image in enumerate(of_query)
        ]
        for key, of_query in images.items()
    }


def document_images_shown(
    benchmark: Benchmark, docids: Iterable[str]
) -> dict[str, list[dict[str, Any]]]:
    """As `images_shown`, of documents of which the ids are known; nothing of a corpus of texts."""
    if benchmark.corpus.unit != Unit.IMAGE:
        return {}
    return images_shown(benchmark, benchmark_documents(benchmark, docids).values())


def images_asked_about(
    benchmark: Benchmark, docids: Iterable[str]
) -> dict[str, tuple[KeptImage, ...]]:
    """By document id, where it has any: its images in order, as a judge is sent them."""
    if benchmark.corpus.unit != Unit.IMAGE:
        return {}
    documents = benchmark_documents(benchmark, docids).values()
    return {
        docid: tuple(_asked_about(image) for image in images)
        for docid, images in _images_of_documents(benchmark, documents).items()
        if images
    }


def query_images_asked_about(
    benchmark: Benchmark, queries: Iterable[Query]
) -> dict[str, tuple[KeptImage, ...]]:
    """By query id: its images in order, as a judge is sent them."""
    images = _images_of(benchmark, {query.qid: digests_in(query.metadata) for query in queries})
    return {qid: tuple(map(_asked_about, of_query)) for qid, of_query in images.items()}


def _asked_about(image: CorpusImage) -> KeptImage:
    return KeptImage(
        media_type=image.media_type,
        width=image.width,
        height=image.height,
        path=local_path(image.stored),
        digest=image.sha256,
    )


def _images_of_documents(
    benchmark: Benchmark, documents: Iterable[StoredDocument]
) -> dict[str, list[CorpusImage]]:
    return _images_of(benchmark, {document.docid: document.image_digests for document in documents})


def _images_of(
    benchmark: Benchmark, digests: Mapping[Key, list[str]]
) -> dict[Key, list[CorpusImage]]:
    """The images of everything that is in `digests`; no statement where that names none."""
    wanted_digests = {digest for of_document in digests.values() for digest in of_document}
    rows = benchmark.corpus.images.filter(sha256__in=wanted_digests)
    images = {image.sha256: image for image in rows} if wanted_digests else {}
    return {
        key: [images[digest] for digest in of_one if digest in images]
        for key, of_one in digests.items()
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
