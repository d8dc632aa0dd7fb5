"""Text that is not UTF-8, told by its bytes and read as UTF-8.

UTF-16 says itself by a mark. Of other encodings the bytes leave several open, so what is taken is a
guess, and whoever reads the file is told of it. Ids are bytes as they stand in their file: here
they become text, and bytes again.
"""

import codecs
import io
import re
from typing import Any

from benchwright.errors import ArchiveError

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
UTF16 = "utf-16"
# Bytes from which an encoding is told; a file that is UTF-8 so far is taken for UTF-8.
LOOKED_AT = 8 << 20
# Bytes that charset-normalizer is asked about, around the first that is not ASCII.
ASKED_ABOUT = 64 << 10
PIECE = 1 << 20
CONTROLS = bytes({*range(32)} - set(b"\t\n\r\f"))
NO_TEXT = (b"\x89PNG", b"\xff\xd8\xff", b"\xd0\xcf\x11\xe0")
# Half a character, as broken writers of UTF-8 leave it.
LONE_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
EAST_ASIAN = ("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr")
CANDIDATES = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "koi8_r", *EAST_ASIAN)
# As Windows-1252 has them, whose other bytes begin most characters of Shift JIS and many of Big5.
LONE_LETTER = re.compile(rb"(?<![\x80-\xff])[\xc0-\xff](?![\x80-\xff])")
# Told apart by the language alone: their letters have the same bytes.
LATIN = ("cp1252", "cp1250", "cp1254")
CENTRAL_EUROPEAN = {
    *("Czech", "Polish", "Slovak", "Hungarian", "Croatian", "Slovene", "Romanian"),
}
NAMES = {
    UTF16: "UTF-16", "cp1252": "Windows-1252 (Western European)",
    "cp1250": "Windows-1250 (Central European)", "cp1251": "Windows-1251 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)", "cp1254": "Windows-1254 (Turkish)",
    "koi8_r": "KOI8-R (Cyrillic)", "gb18030": "GB 18030 (Chinese)", "big5": "Big5 (Chinese)",
    "shift_jis": "Shift JIS (Japanese)", "euc_jp": "EUC-JP (Japanese)",
    "euc_kr": "EUC-KR (Korean)",
}  # fmt: skip


def encoding_of(start: bytes) -> str:
    """The encoding of text that begins so, or nothing where it is UTF-8, damaged UTF-8 or no text.

    >>> encoding_of("Zürich".encode()), encoding_of("id;text\\n1;Zürich\\n".encode("latin-1"))
    ('', 'cp1252')
    """
    if start.isascii() or start.startswith(NO_TEXT) or LONE_SURROGATE.search(start):
        return ""
    if start[:1024].translate(None, CONTROLS) != start[:1024]:
        return ""
    n_characters, n_broken = _utf8_in(start)
    # A file of UTF-8 with broken bytes is not another encoding: each of them is told by its line.
    if not n_broken or n_characters >= n_broken:
        return ""
    return _told_by_bytes(start)


def _utf8_in(start: bytes) -> tuple[int, int]:
    """How many characters beyond ASCII are UTF-8, and how many bytes are not."""
    text = start.decode(errors="surrogateescape")
    if len(start) >= LOOKED_AT:
        text = text[:-4]  # the last character may be cut
    beyond = "".join(character for character in text if character > "\x7f")
    n_broken = sum("\udc80" <= character <= "\udcff" for character in beyond)
    return len(beyond) - n_broken, n_broken


def _told_by_bytes(start: bytes) -> str:
    from charset_normalizer import from_bytes  # only where a file needs it

    first = next(place for place, byte in enumerate(start) if byte > 0x7F)
    begin = start.rfind(b"\n", 0, first) + 1
    end = start.rfind(b"\n", begin, begin + ASKED_ABOUT) + 1
    excerpt = start[begin : end if end > first else begin + ASKED_ABOUT]
    best = from_bytes(excerpt, cp_isolation=list(CANDIDATES)).best()
    likely = [best.encoding] if best else []
    is_western = best and best.encoding in LATIN and best.language not in CENTRAL_EUROPEAN
    if not best or is_western or (best.encoding in EAST_ASIAN and _has_lone_letters(excerpt)):
        likely.insert(0, "cp1252")
    return next((encoding for encoding in likely if _is_decodable(start, encoding)), "")


def _has_lone_letters(excerpt: bytes) -> bool:
    """Whether most bytes beyond ASCII are Latin letters that stand alone: ä in a word.

    Of East Asian text most stand beside others; few words of German are short enough for any.
    """
    n_beyond = sum(byte > 0x7F for byte in excerpt)
    return 2 * len(LONE_LETTER.findall(excerpt)) > n_beyond


def _is_decodable(start: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(start)
    except UnicodeDecodeError:
        return False
    return True


class Transcoded(io.RawIOBase):
    """A stream of text in another encoding, as UTF-8; what is no such text is an ArchiveError."""

    def __init__(self, inner: Any, encoding: str, file: str) -> None:
        super().__init__()
        self.inner, self.encoding, self.file = inner, encoding, file
        self.decoder = codecs.getincrementaldecoder(encoding)()
        self.waiting = memoryview(b"")
        self.n_bytes = 0
        self.is_over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.waiting and not self.is_over:
            piece = self.inner.read(PIECE)
            self.is_over = not piece
            self.waiting = memoryview(self._as_utf8(piece))
        n = min(len(buffer), len(self.waiting))
        buffer[:n], self.waiting = self.waiting[:n], self.waiting[n:]
        return n

    def _as_utf8(self, piece: bytes) -> bytes:
        try:
            text = self.decoder.decode(piece, final=not piece)
            self.n_bytes += len(piece)
            return text.encode()
        except UnicodeError as error:
            at = self.n_bytes + getattr(error, "start", 0) + 1
            reason = (
                f"is read as {NAMES.get(self.encoding, self.encoding)}, and byte {at:,} is none; "
                "save the file as UTF-8"
            )
            raise ArchiveError(file=self.file, reason=reason) from error


def as_text(name: bytes | str) -> str:
    """An id of a file as text, and back by `as_bytes`.

    A byte that is no UTF-8 becomes a lone surrogate, which JSON writes as \\udcXX.
    """
    return name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")


def as_bytes(name: str | bytes) -> bytes:
    """An id as files write it; also what ids are sorted by."""
    return name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")


def as_shown(name: bytes | str) -> str:
    """An id as people read it: a byte that is no UTF-8 as \\xNN."""
    return name if isinstance(name, str) else name.decode("utf-8", "backslashreplace")


def as_utf8(stream: Any, encoding: str, file: str) -> "io.BufferedReader[Any]":
    """A stream of the same text as UTF-8."""
    return io.BufferedReader(Transcoded(stream, encoding, file), PIECE)


def encoding_note(encoding: str) -> str:
    """What a person must know of how a file was read, or nothing."""
    if not encoding:
        return ""
    name = NAMES.get(encoding, encoding)
    if encoding == UTF16:
        return "The file is UTF-16 and is read so."
    return (
        f"The file is not UTF-8 and is read as {name}, which is a guess: look whether letters such "
        "as é, ü or ł are right. If not, save the file as UTF-8."
    )
