"""Images as values: looked into before they are taken, never found by what a text says."""

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

from benchwright.errors import BenchmarkError
from benchwright.fetching.addresses import read_address
from benchwright.fetching.download import FetchLimits, download
from benchwright.judges.errors import ImageError, JudgeExtraError, RemoteImageError
from benchwright.judges.messages import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MEDIA_TYPES: Mapping[str, str] = MappingProxyType(
    {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
)
"""What judges take, by the name that Pillow gives it; a TIFF is made a PNG."""

CONVERTED = ("TIFF",)
TELLING = {"exif", "xmp", "XML:com.adobe.xmp", "photoshop", "comment", "Raw profile type exif"}
SHOWING = ("transparency",)
PNG_MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
QUALITY = 92
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
    if len(data) > limits.max_bytes:
        _refuse(name, f"it has {len(data):,} bytes; expected at most {limits.max_bytes:,}")
    with _opened(data, limits, name) as picture:
        _check_size(picture, limits, name)
        try:
            picture.load()  # what is cut short shows here
            content, kind, (width, height) = _kept(picture, data)
        except Exception as error:  # noqa: BLE001 - see DAMAGED
            _refuse(name, f"it is broken ({_words(error)}). Save it again")
    return Image(content, MEDIA_TYPES[kind], name, "", width, height)


def image_file(folder: Path, name: str, limits: ImageLimits = LIMITS) -> Image:
    """The image of that name inside a folder; a name that leads out of it is refused.

    Raises
    ------
    ImageError
        If it is not there, not inside, or not a good image.
    """
    root = folder.resolve()
    try:
        path = (root / name).resolve()
        if not path.is_relative_to(root) or path == root:
            _refuse(name, "it leads out of the folder of images. Put the file into the folder")
        with path.open("rb") as file:
            data = file.read(limits.max_bytes + 1)
    except (OSError, ValueError) as error:
        _refuse(name, f"it cannot be read from the folder of images ({_words(error)})")
    return checked_image(data, limits, name=name)


def image_at(url: str) -> Image:
    """The image at an http or https address, which is not asked for now.

    Raises
    ------
    ImageError
        If that is no such address.
    """
    try:
        read_address(url)
    except BenchmarkError as error:
        raise ImageError(name=url, reason=str(error)) from error
    return Image(name=url, url=url)


def fetched(image: Image, limits: ImageLimits = LIMITS, *, may_be_private: bool = False) -> Image:
    """The image that lies at an address, brought here and checked.

    Raises
    ------
    RemoteImageError
        If the address may not be asked, does not answer, or holds no good image.
    """
    fetch_limits = FetchLimits(
        max_bytes=limits.max_bytes, may_be_private=may_be_private, timeout=PATIENCE, n_tries=2
    )
    try:
        with TemporaryDirectory() as folder:
            data = download(image.url, Path(folder) / "image", limits=fetch_limits).read_bytes()
        return checked_image(data, limits, name=image.url)
    except BenchmarkError as error:
        raise RemoteImageError(url=image.url, why=str(error)) from error


# --- looking inside ------------------------------------------------------------------------------

# DAMAGED: where an image is damaged, a plugin of Pillow's raises whatever Python does there: of a
# list of them one was always lacking (IndexError for a GIF that ends within a frame).


def _opened(data: bytes, limits: ImageLimits, name: str) -> "Picture":
    try:
        from PIL import Image as Pillow
        from PIL import UnidentifiedImageError
    except ImportError as error:
        raise JudgeExtraError(what="Reading images", package="pillow") from error
    kinds = (*MEDIA_TYPES, *CONVERTED)
    try:
        return Pillow.open(BytesIO(data), formats=kinds)
    except UnidentifiedImageError:
        _refuse(name, "it is no PNG, JPEG, GIF, WebP or TIFF image. Convert it to one of them")
    except Pillow.DecompressionBombError:
        _refuse(name, f"it is far too large; expected at most {limits.max_pixels:,} pixels")
    except Exception as error:  # noqa: BLE001 - see DAMAGED
        _refuse(name, f"it cannot be opened ({_words(error)}). Save it again")


def _check_size(picture: "Picture", limits: ImageLimits, name: str) -> None:
    """Refuse an image by what its head says, before anything is unpacked."""
    width, height = picture.size
    if max(width, height) > limits.max_side:
        _refuse(name, f"it is {width} x {height}; expected at most {limits.max_side} at each side")
    if width * height > limits.max_pixels:
        _refuse(name, f"it is {width} x {height}; expected at most {limits.max_pixels:,} pixels")
    if picture.format not in CONVERTED:  # of those, the first page is kept
        most = min(limits.max_frames, limits.max_pixels // max(width * height, 1))
        _check_frames(picture, most, name)


def _check_frames(picture: "Picture", most: int, name: str) -> None:
    """Refuse a moving image of too many frames; they are counted no further than allowed."""
    n_frames = 1
    try:
        while n_frames <= most:
            picture.seek(n_frames)
            n_frames += 1
    except EOFError:
        picture.seek(0)
        return
    except Exception as error:  # noqa: BLE001 - see DAMAGED
        _refuse(name, f"it is broken ({_words(error)}). Save it again")
    _refuse(name, f"it has too many frames; expected at most {most} of this size")


def _kept(picture: "Picture", data: bytes) -> tuple[bytes, str, tuple[int, int]]:
    """The bytes to keep, their kind and size: as they came, or written anew without metadata."""
    kind = str(picture.format)
    if kind in CONVERTED:
        return _written(picture, "PNG")
    if kind not in MEDIA_TYPES:  # a JPEG of several pictures, as cameras write them
        return _written(picture, "JPEG")
    is_still = getattr(picture, "n_frames", 1) == 1
    return _written(picture, kind) if is_still and _tells(picture) else (data, kind, picture.size)


def _tells(picture: "Picture") -> bool:
    """Whether it carries more than pixels and colours: place, camera, preview, comments."""
    return bool(TELLING & picture.info.keys()) or bool(getattr(picture, "text", None))


def _written(picture: "Picture", kind: str) -> tuple[bytes, str, tuple[int, int]]:
    from PIL import ImageOps

    upright = ImageOps.exif_transpose(picture)
    clean = upright.copy()
    clean.info = {key: upright.info[key] for key in SHOWING if key in upright.info}
    if kind == "PNG" and clean.mode not in PNG_MODES:
        clean = clean.convert("RGBA" if "A" in clean.mode else "RGB")
    out = BytesIO()
    settings = {} if kind == "PNG" else {"quality": QUALITY}
    if profile := picture.info.get("icc_profile"):
        settings["icc_profile"] = profile
    clean.save(out, format=kind, **settings)
    return out.getvalue(), kind, clean.size


def _words(error: BaseException) -> str:
    """What went wrong, without the paths of this machine."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


def _refuse(name: str, reason: str) -> NoReturn:
    raise ImageError(name=name, reason=f"{reason}.")
