"""What pages and the API share to hand out the image of a case."""

from django.http import HttpResponse

from benchmarks_app.files import local_path
from scoring.models import CaseImage

# An image is as immutable as its set; who may see it is asked each time all the same.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-cache",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def image_response(image: CaseImage) -> HttpResponse:
    """The bytes, some megabytes at most, with headers that let them be nothing but this image."""
    name = f"image-{image.pk}.{image.stored.rpartition('.')[2]}"
    return HttpResponse(
        local_path(image.stored).read_bytes(),
        content_type=image.media_type,
        headers={**HEADERS, "Content-Disposition": f'inline; filename="{name}"'},
    )
