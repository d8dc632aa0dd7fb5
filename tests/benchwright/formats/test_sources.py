import gzip
import hashlib

import pytest

from benchwright.errors import ArchiveError, MissingFileError
from benchwright.files.sources import FolderSource, Limits, open_lines, sha256_of


def test_gzip_is_known_by_its_first_bytes_and_not_by_its_name(tmp_path):
    plain, packed = tmp_path / "plain.gz", tmp_path / "packed.txt"
    plain.write_bytes(b"a\nb")
    packed.write_bytes(gzip.compress(b"a\nb"))

    assert list(open_lines(plain)) == list(open_lines(packed)) == [b"a\n", b"b"]


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_read_as_its_mark_says(tmp_path, encoding, packed):
    path = tmp_path / "runs.csv"
    path.write_bytes(packed("\ufeffq1 Q0 dé 1 2.5 s\n".encode(encoding)))

    assert list(open_lines(path)) == ["q1 Q0 dé 1 2.5 s\n".encode()]


def test_utf_16_that_is_cut_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_bytes("\ufeffq1 Q0 d1\n".encode("utf-16-le")[:-1])

    with pytest.raises(ArchiveError, match=r"runs\.csv: is read as UTF-16.*save the file as UTF-8"):
        list(open_lines(path))


def test_only_a_line_feed_ends_a_line(tmp_path):
    path = tmp_path / "x"
    path.write_bytes("a\u2028b\u0085c\rd\x0be\n".encode())

    assert len(list(open_lines(path))) == 1


def test_gzip_files_put_end_to_end_are_read_to_the_end(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))

    assert list(open_lines(path)) == [b"a\n", b"b\n"]


def test_a_gzip_cut_short_is_refused_and_says_so(tmp_path):
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(bytes(range(256)) * 50)[:-20])

    with pytest.raises(ArchiveError, match=r"run\.gz: the gzip file ends too early"):
        list(open_lines(path))


@pytest.mark.parametrize("place", [12, -6])
def test_a_damaged_gzip_is_refused(tmp_path, place):
    path = tmp_path / "run.gz"
    data = bytearray(gzip.compress(b"q1 Q0 d1 1 0.5 tag\n" * 100))
    data[place] ^= 0xFF
    path.write_bytes(data)

    with pytest.raises(ArchiveError, match=r"run\.gz: the gzip file (is damaged|ends too early)"):
        list(open_lines(path))


def test_a_gzip_that_inflates_beyond_the_ratio_is_stopped_on_the_way(tmp_path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"0" * 99 + b"\n") * 1 + gzip.compress(b"\n" * 3_000_000))
    limits = Limits(ratio_free_bytes=100_000)
    read = 0

    with pytest.raises(ArchiveError, match="inflates to more than"):
        for line in open_lines(path, limits=limits):
            read += len(line)

    assert read < 2_000_000


def test_an_absolute_limit_holds_whatever_the_ratio(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"abc\n" * 10))

    with pytest.raises(ArchiveError, match="more than 39 bytes"):
        list(open_lines(path, limits=Limits(max_bytes=39)))
    assert len(list(open_lines(path, limits=Limits(max_bytes=40)))) == 10


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"a\n" + b"b" * 5000)

    with pytest.raises(ArchiveError, match="line 2 has more than 1,000 bytes"):
        list(open_lines(path, limits=Limits(max_line_bytes=1000)))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MissingFileError, match="no file found"):
        list(open_lines(tmp_path / "nowhere"))


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\x00\xff" * 3_000_000)

    assert sha256_of(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_folder_lists_its_files_without_what_desktops_leave(tmp_path):
    (tmp_path / "qrels").mkdir()
    for name in ("corpus.jsonl", "qrels/test.tsv", "qrels/.DS_Store", ".hidden"):
        (tmp_path / name).write_text("x\n")

    source = FolderSource(tmp_path)

    assert source.members() == ["corpus.jsonl", "qrels/test.tsv"]
    assert list(source.lines("qrels/test.tsv")) == [b"x\n"]
    assert source.plain_or_gz("queries.jsonl") is None


def test_a_folder_hands_out_nothing_that_it_does_not_list(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret").write_text("x")

    with pytest.raises(MissingFileError):
        FolderSource(tmp_path / "inside").lines("../secret")
