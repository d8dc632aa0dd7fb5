"""Images as values: looked into before they are taken, never found by what a text says."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchmarks_app.core.errors import BenchmarkError
from scoring.core.contextual.errors import ImageError, JudgeExtraError, RemoteImageError
from scoring.core.contextual.types import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MEDIA_TYPES: Mapping[str, str] = MappingProxyType(
    {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
)
"""What judges take, by the name that Pillow gives it; a TIFF is made a PNG."""

CONVERTED = ("TIFF",)
SIDEWAYS = range(2, 9)
ORIENTATION = 0x0112
PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """How large an image may be: its file, its area, and its frames where it moves."""

    max_bytes: int = 20 << 20
    max_pixels: int = 50_000_000
    max_side: int = 20_000
    max_frames: int = 500


LIMITS = ImageLimits()


def checked_image(data: bytes, limits: ImageLimits = LIMITS, *, name: str = "image") -> Image:
    """An image of these bytes, decoded once to see that it is whole.

    Metadata (camera, place, preview) is left out of what is kept: PNG and JPEG that carry any are
    written anew, turned upright first; a TIFF becomes a PNG of its first page. Other bytes stay as
    they are.

    Raises
    ------
    ImageError
        If it is no image, of another kind, broken, or beyond a limit.
    JudgeExtraError
        If Pillow is not installed.
    """
    raise NotImplementedError


def image_file(folder: Path, name: str, limits: ImageLimits = LIMITS) -> Image:
    """The image of that name inside a folder; a name that leads out of it is refused.

    Raises
    ------
    ImageError
        If it is not there, not inside, or not a good image.
    """
    raise NotImplementedError


def image_at(url: str) -> Image:
    """The image at an http or https address, which is not asked for now.

    Raises
    ------
    ImageError
        If that is no such address.
    """
    raise NotImplementedError


def fetched(image: Image, limits: ImageLimits = LIMITS, *, may_be_private: bool = False) -> Image:
    """The image that lies at an address, brought here and checked.

    Raises
    ------
    RemoteImageError
        If the address may not be asked, does not answer, or holds no good image.
    """
    raise NotImplementedError
