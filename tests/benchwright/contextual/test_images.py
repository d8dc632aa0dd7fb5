"""Images: looked into, bounded, freed of what they tell about people."""

import io
import struct
import threading
import zlib
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from PIL import Image as Pillow

from benchwright.judges.errors import ImageError, RemoteImageError
from benchwright.judges.images import ImageLimits, checked_image, fetched, image_at


def saved(kind, mode="RGB", size=(8, 6), **settings):
    out = io.BytesIO()
    Pillow.new(mode, size, 100 if mode == "L" else None).save(out, kind, **settings)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_good_image_is_kept_byte_for_byte(kind):
    data = saved(kind)

    image = checked_image(data, name="x")

    assert (image.data, image.media_type) == (data, f"image/{kind.lower()}")
    assert (image.width, image.height) == (8, 6)


def test_moving_image_that_is_cut_anywhere_is_taken_or_refused():
    out = io.BytesIO()
    frames = [Pillow.new("RGB", (16, 12), colour) for colour in ("red", "blue", "green")]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    data = out.getvalue()
    outcomes = set()

    for cut in range(len(data)):
        try:
            checked_image(data[:cut], name="x")
            outcomes.add("taken")
        except ImageError as error:
            outcomes.add(str(error)[:12])

    assert "x: it is bro" in outcomes


@pytest.mark.data
def test_photographs_of_four_formats_are_taken(data):
    results = {}
    for path in sorted((data / "images_photos").iterdir()):
        if path.suffix in (".png", ".jpg", ".gif", ".tif"):
            results[path.name] = checked_image(path.read_bytes(), name=path.name)

    kinds = {image.media_type for image in results.values()}
    assert len(results) == 10
    assert kinds == {"image/png", "image/jpeg", "image/gif"}
    assert results["multipage.tif"].media_type == "image/png"  # no browser shows a TIFF
    assert (results["rocket.jpg"].width, results["rocket.jpg"].height) == (640, 427)


@pytest.mark.data
@pytest.mark.parametrize("name", ["rocket.jpg", "astronaut.png", "no_time_for_that_tiny.gif"])
def test_photograph_cut_short_is_refused(data, name):
    whole = (data / "images_photos" / name).read_bytes()

    with pytest.raises(ImageError, match=f"{name}: it is broken"):
        checked_image(whole[: len(whole) // 2], name=name)


@pytest.mark.parametrize(
    "data",
    [b"", b"GIF89a", b"not an image", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\x89PNG\r\n"],
    ids=["empty", "head", "text", "svg", "png head"],
)
def test_anything_but_an_image_is_refused(data):
    with pytest.raises(ImageError, match=r"x: it (is no PNG|cannot be opened|is broken)"):
        checked_image(data, name="x")


@pytest.mark.parametrize("kind", ["BMP", "ICO", "PPM", "TGA"])
def test_other_formats_are_refused_by_message(kind):
    with pytest.raises(ImageError, match="it is no PNG, JPEG, GIF, WebP or TIFF image"):
        checked_image(saved(kind))


def test_file_larger_than_allowed_is_refused_unread():
    with pytest.raises(ImageError, match="it has 101 bytes; expected at most 100"):
        checked_image(b"x" * 101, ImageLimits(max_bytes=100))


def bomb(width, height):
    """A PNG of few bytes that says it is so large."""

    def chunk(kind, data):
        crc = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("width", "height", "words"),
    [
        (8000, 8000, "it is 8000 x 8000; expected at most 50,000,000 pixels"),
        (60_000, 10, "expected at most 20000 at each side"),
        (
            30_000,
            30_000,
            "far too large; expected at most 50,000,000 pixels",
        ),  # where Pillow itself has had enough
    ],
)
def test_image_that_would_unpack_to_too_much_is_refused(width, height, words):
    with pytest.raises(ImageError, match=words):
        checked_image(bomb(width, height), name="x")


def moving(n_frames, size=(10, 10)):
    frames = [Pillow.new("L", size, number % 250) for number in range(n_frames)]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    return out.getvalue()


def test_moving_image_is_kept_as_it_is():
    data = moving(5)

    assert checked_image(data).data == data


def test_moving_image_of_too_many_frames_is_refused():
    with pytest.raises(ImageError, match="too many frames; expected at most 4 of this size"):
        checked_image(moving(6), ImageLimits(max_frames=4))
    with pytest.raises(ImageError, match="too many frames; expected at most 3 of this size"):
        checked_image(moving(6), ImageLimits(max_pixels=350))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_where_a_photograph_was_taken_is_left_out(kind):
    exif = Pillow.Exif()
    exif[0x010E] = "at home"
    exif[0x0112] = 6  # lies on its side
    data = saved(kind, exif=exif)
    assert b"at home" in data

    image = checked_image(data)

    assert b"at home" not in image.data
    with Pillow.open(io.BytesIO(image.data)) as upright:
        assert upright.size == (6, 8) == (image.width, image.height)
        assert upright.format == kind


def test_comment_of_a_png_is_left_out():
    from PIL.PngImagePlugin import PngInfo

    notes = PngInfo()
    notes.add_text("Comment", "written by Cy")

    assert b"Cy" not in checked_image(saved("PNG", pnginfo=notes)).data


@pytest.mark.parametrize("mode", ["RGB", "CMYK", "L", "RGBA", "1", "I;16"])
def test_tiff_becomes_a_png(mode):
    image = checked_image(saved("TIFF", mode), name="x.tif")

    assert image.media_type == "image/png"
    with Pillow.open(io.BytesIO(image.data)) as picture:
        assert (picture.format, picture.size) == ("PNG", (8, 6))


# --- by address ----------------------------------------------------------------------------------


class Server(BaseHTTPRequestHandler):
    def do_GET(self):
        record = {"/a.png": saved("PNG"), "/text": b"hello", "/large": b"x" * 3000}.get(self.path)
        self.send_response(200 if record else 404)
        self.send_header("Content-Length", str(len(record or b"")))
        self.end_headers()
        self.wfile.write(record or b"")

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site():
    server = HTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_image_at_an_address_is_brought_and_checked(site):
    image = fetched(image_at(f"{site}/a.png"), may_be_private=True)

    assert (image.data, image.media_type) == (saved("PNG"), "image/png")


def test_machine_of_ones_own_network_is_not_asked(site):
    with pytest.raises(RemoteImageError, match=r"127\.0\.0\.1 is not in the public network"):
        fetched(image_at(f"{site}/a.png"))


@pytest.mark.parametrize(
    ("path", "words"),
    [("/text", "it is no PNG"), ("/gone", "404"), ("/large", "more than")],
)
def test_address_without_a_good_image_is_told(site, path, words):
    with pytest.raises(RemoteImageError, match=words):
        fetched(image_at(f"{site}{path}"), ImageLimits(max_bytes=2000), may_be_private=True)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x.org/a", "/etc/passwd", "http://"])
def test_other_addresses_are_refused(url):
    with pytest.raises(ImageError, match="Only public http and https"):
        image_at(url)
