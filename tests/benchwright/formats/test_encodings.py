"""Text that is not UTF-8: told by its bytes, read as UTF-8, and said."""

import pytest

from benchwright.errors import ArchiveError
from benchwright.files.encodings import PIECE, encoding_note, encoding_of
from benchwright.files.inputs import FileInput

TEXTS = {
    "cp1252": "id,title\n1,Müller\u2019s café in Zürich \u2013 schön\n"
    "2,Der Bär läuft über die Straße\n",
    "cp1250": (
        "id,text\n1,Příliš žluťoučký kůň úpěl ďábelské ódy. Dokument o rybách, které žijí v řece, "
        "a o lidech, kteří je loví každý den.\n"
    ),
    "cp1251": "id,text\n1,Привет мир, это документ \u043e рыбах\n",
    "gb18030": "id,text\n1,这是一个关于鱼的文档\uff0c很好\n",
    "shift_jis": "id,text\n1,これは魚についての文書です。カナ\n",
    "utf-16": "id\ttext\n1\tKäse\n",
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_another_encoding_is_told_and_read(tmp_path, encoding):
    path = tmp_path / "x"
    path.write_bytes(TEXTS[encoding].encode(encoding))

    source = FileInput(path)

    assert source.encoding == encoding
    assert b"".join(source.lines()) == TEXTS[encoding].encode()


@pytest.mark.parametrize(
    "text",
    [
        *("1;naïve\n", "id;text\n1;L'été à la plage\n", "q1,größe\n"),
        *("Query ID,Query\r\n1,Käse\r\n2,Bär\r\n", "id,text\n1,für\n2,über\n3,Tür\n"),
        "id,text\n1,niño\n2,año\n",
    ],
)
def test_little_latin_1_is_western_european(text):
    assert encoding_of(text.encode("latin-1")) == "cp1252"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("shift_jis", "id,text\n1,コーヒー\n2,テレビ\n"),
        ("big5", "id,text\n1,咖啡\n2,電視節目\n"),
        ("gb18030", "id,text\n1,咖啡\n2,电视节目\n"),
    ],
)
def test_little_east_asian_text_is_not_western_european(encoding, text):
    assert encoding_of(text.encode(encoding)) not in ("", "cp1252")


@pytest.mark.parametrize(
    "content",
    [
        b"plain",
        "größe".encode(),
        "größe".encode() + b" caf\xe9",  # UTF-8 with a broken byte: its line is told
        b'{"\xed\xa0\x80": 1}',
        b"\x89PNG\r\n",
        b"a\0\xff",
    ],
)
def test_what_is_utf_8_damaged_or_no_text_stays_as_it_is(content):
    assert encoding_of(content) == ""


def test_a_character_between_two_pieces_is_read_whole(tmp_path):
    path = tmp_path / "x"
    text = "é" * (PIECE // 2 + 1) + "\n"
    path.write_bytes(b" " + text.encode("gb18030"))

    assert FileInput(path).encoding
    assert len(b"".join(FileInput(path).lines())) > PIECE


def test_bytes_that_the_encoding_lacks_are_told_with_their_place(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"caf\xe9\n" * (9 << 18) + b"\x81\n")  # beyond what is looked at

    with pytest.raises(ArchiveError, match="byte 11,796,481 is none; save the file as UTF-8"):
        list(FileInput(path).lines())


def test_the_note_says_that_it_is_a_guess():
    assert encoding_note("") == ""
    assert "is a guess" in encoding_note("cp1252")
    assert "guess" not in encoding_note("utf-16")
