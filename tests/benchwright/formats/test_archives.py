import gzip
import os
import struct
import zipfile
from contextlib import closing

import pytest

from benchwright.errors import ArchiveError, MissingFileError
from benchwright.files.archives import ZipSource, open_source, packed
from benchwright.files.sources import Limits


def write_zip(path, entries, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return path


def one_entry(tmp_path, **attributes):
    """Write a zip of one entry whose header says what `attributes` say."""
    info = zipfile.ZipInfo("toy/corpus.jsonl")
    for name, value in attributes.items():
        setattr(info, name, value)
    return write_zip(tmp_path / "x.zip", [(info, b"a\n")])


@pytest.mark.parametrize("top", ["", "toy/"])
def test_members_are_named_without_the_one_top_folder(tmp_path, top):
    names = ["corpus.jsonl", "qrels/test.tsv"]
    path = write_zip(tmp_path / "x.zip", [(top + name, "x\n") for name in names])

    with open_source(path) as source:
        assert source.members() == names
        assert list(source.lines("qrels/test.tsv")) == [b"x\n"]


def test_a_zip_of_qrels_alone_keeps_their_folder(tmp_path):
    path = write_zip(tmp_path / "x.zip", [("qrels/test.tsv", "x")])

    assert open_source(path).members() == ["qrels/test.tsv"]


def test_what_desktops_add_is_no_member_and_no_top_folder(tmp_path):
    entries = [("toy/corpus.jsonl", "x"), ("__MACOSX/toy/._corpus.jsonl", "y"), ("toy/", "")]

    assert open_source(write_zip(tmp_path / "x.zip", entries)).members() == ["corpus.jsonl"]


def test_a_gzip_member_is_inflated_too(tmp_path):
    path = write_zip(tmp_path / "x.zip", [("corpus.jsonl.gz", gzip.compress(b"a\nb\n"))])

    with open_source(path) as source:
        assert list(source.lines("corpus.jsonl.gz")) == [b"a\n", b"b\n"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../evil", "climbs out"),
        ("toy/../../evil", "climbs out"),
        ("/etc/passwd", "absolute"),
        ("C:/evil", "absolute"),
        ("c:evil", "absolute"),
        ("..\\evil", "backslash"),
        ("\\\\host\\share", "backslash"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name, words):
    path = write_zip(tmp_path / "x.zip", [(name, "x")])

    with pytest.raises(ArchiveError, match=words):
        open_source(path)


@pytest.mark.parametrize("mode", [0o120777, 0o020666, 0o010666, 0o060666, 0o140777])
def test_links_and_devices_are_refused(tmp_path, mode):
    path = one_entry(tmp_path, external_attr=mode << 16)

    with pytest.raises(ArchiveError, match="a link or a device"):
        open_source(path)


def test_an_encrypted_entry_is_refused(tmp_path):
    path = one_entry(tmp_path)
    data = bytearray(path.read_bytes())
    directory = data.index(b"PK\x01\x02")
    data[directory + 8] |= 1
    path.write_bytes(data)

    with pytest.raises(ArchiveError, match="encrypted"):
        open_source(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_inflate_without_measure_are_refused(tmp_path, method):
    path = write_zip(tmp_path / "x.zip", [("corpus.jsonl", "x" * 100)], method)

    with pytest.raises(ArchiveError, match="compression method"):
        open_source(path)


def test_too_many_entries_are_refused(tmp_path):
    path = write_zip(tmp_path / "x.zip", [(f"{n}.txt", "") for n in range(5)])

    with pytest.raises(ArchiveError, match="5 entries; at most 4"):
        open_source(path, limits=Limits(max_entries=4))


def test_a_bomb_that_says_its_size_is_refused_before_it_is_read(tmp_path):
    path = write_zip(tmp_path / "x.zip", [("corpus.jsonl", b"0" * 1_000_000)])

    with pytest.raises(ArchiveError, match=r"corpus\.jsonl: inflates to more than"):
        open_source(path, limits=Limits(ratio_free_bytes=0))


def test_a_bomb_that_lies_about_its_size_yields_no_more_than_it_says(tmp_path):
    path = write_zip(tmp_path / "x.zip", [("corpus.jsonl", b"0\n" * 500_000)])
    data = bytearray(path.read_bytes())
    struct.pack_into("<L", data, data.index(b"PK\x01\x02") + 24, 10)
    path.write_bytes(data)

    with (
        open_source(path, limits=Limits(ratio_free_bytes=100)) as source,
        pytest.raises(ArchiveError, match="damaged"),
    ):
        list(source.lines("corpus.jsonl"))


def test_entries_count_together_against_one_budget(tmp_path):
    entries = [(f"qrels/{n}.tsv", b"0\n" * 5_000) for n in range(3)]
    path = write_zip(tmp_path / "x.zip", entries)
    allowed = Limits(max_bytes=25_000)

    with open_source(path, limits=allowed) as source:
        first, second, third = source.members()
        assert len(list(source.lines(first))) == len(list(source.lines(second))) == 5_000
        assert len(list(source.lines(first))) == 5_000  # read again: not counted again
        with pytest.raises(ArchiveError, match="inflates to more than 25,000"):
            list(source.lines(third))


def test_a_gzip_bomb_inside_a_zip_is_refused(tmp_path):
    bomb = gzip.compress(b"\n" * 3_000_000)
    path = write_zip(tmp_path / "x.zip", [("corpus.jsonl.gz", bomb)])

    with (
        open_source(path, limits=Limits(ratio_free_bytes=1000)) as source,
        pytest.raises(ArchiveError, match="inflates to more than"),
    ):
        list(source.lines("corpus.jsonl.gz"))


def test_small_gzips_inside_a_zip_count_together_as_inflated(tmp_path):
    entries = [(f"qrels/{n}.tsv.gz", gzip.compress(b"0\n" * 5_000)) for n in range(3)]
    path = write_zip(tmp_path / "x.zip", entries)

    with open_source(path, limits=Limits(max_bytes=25_000)) as source:
        first, second, third = source.members()
        assert len(list(source.lines(first))) == len(list(source.lines(second))) == 5_000
        with pytest.raises(ArchiveError, match="inflates to more than 25,000"):
            list(source.lines(third))


def test_a_gzip_cut_short_inside_a_zip_says_so(tmp_path):
    data = gzip.compress(bytes(range(256)) * 40)[:-9]
    path = write_zip(tmp_path / "x.zip", [("corpus.jsonl.gz", data)])

    with open_source(path) as source, pytest.raises(ArchiveError, match="ends too early"):
        list(source.lines("corpus.jsonl.gz"))


@pytest.mark.parametrize("flipped", [0xFF, 0x80, 0x01])
def test_zip_with_any_one_byte_changed_is_read_or_refused(tmp_path, flipped):
    sound = write_zip(tmp_path / "x.zip", [("é.jsonl", b"a\n" * 50), ("b", b"b\n")]).read_bytes()
    n_refused = 0
    for place in range(len(sound)):
        damaged = bytearray(sound)
        damaged[place] ^= flipped
        path = tmp_path / "damaged.zip"
        path.write_bytes(damaged)
        try:
            with closing(ZipSource(path)) as source:
                for member in source.members():
                    list(source.lines(member))
        except ArchiveError:
            n_refused += 1

    assert 0 < n_refused < len(sound)


def test_entries_that_share_bytes_are_refused(tmp_path):
    path = write_zip(tmp_path / "x.zip", [("a", b"x" * 50), ("b", b"y" * 50)], zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    second = data.rindex(b"PK\x01\x02")
    struct.pack_into("<L", data, second + 42, 10)
    path.write_bytes(data)

    with pytest.raises(ArchiveError, match="shares bytes"):
        open_source(path)


def test_one_name_twice_is_refused(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = write_zip(tmp_path / "x.zip", [("a", b"x"), ("a", b"y")])

    with pytest.raises(ArchiveError, match="twice"):
        open_source(path)


def test_a_list_of_entries_larger_than_memory_is_refused_before_it_is_read(tmp_path):
    path = write_zip(tmp_path / "x.zip", [("a", b"x")])
    data = bytearray(path.read_bytes())
    struct.pack_into("<L", data, data.rindex(b"PK\x05\x06") + 12, 1 << 30)
    path.write_bytes(data)

    with pytest.raises(ArchiveError, match="list of entries has 1,073,741,824 bytes"):
        open_source(path)


def test_a_changed_byte_in_an_entry_is_refused(tmp_path):
    path = write_zip(tmp_path / "x.zip", [("a", b"hello\n")], zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"hello", b"hellu"))

    with open_source(path) as source, pytest.raises(ArchiveError, match="damaged"):
        list(source.lines("a"))


def test_a_file_that_is_no_zip_is_refused_with_advice(tmp_path):
    path = tmp_path / "x.zip"
    path.write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(ArchiveError, match="damaged"):
        open_source(path)

    path.write_text("text")
    with pytest.raises(ArchiveError, match="neither a folder nor a zip"):
        open_source(path)


def test_an_unknown_member_is_named(tmp_path):
    with pytest.raises(MissingFileError, match=r"x\.zip: no b found"):
        open_source(write_zip(tmp_path / "x.zip", [("a", b"")])).lines("b")


def test_folder_without_a_file_is_said_to_be_one(tmp_path):
    (tmp_path / "inside").mkdir()

    with (
        pytest.raises(ArchiveError, match="is a folder without a file; name one"),
        packed(tmp_path),
    ):
        pass


# --- a folder that is sent as one zip --------------------------------------------------------


def content_of(folder):
    with packed(folder) as whole, zipfile.ZipFile(whole) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_folder_is_sent_without_what_is_hidden(tmp_path):
    """Of a clone its history, and a file of secrets; a file may be from before there were zips."""
    names = ["corpus.jsonl", "qrels/a/b/c/test.tsv", ".env", ".git/config", "qrels/.DS_Store"]
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, (0, 0))

    assert content_of(tmp_path) == {name: name.encode() for name in names[:2]}


def test_link_in_a_folder_may_lead_to_what_is_in_it_alone(tmp_path):
    secret, folder = tmp_path / "secret", tmp_path / "folder"
    secret.mkdir()
    (secret / "key").write_text("private")
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "corpus.jsonl").write_text("a document")
    (folder / "corpus.jsonl").symlink_to("inner/corpus.jsonl")
    (folder / "gone.jsonl").symlink_to("inner/gone.jsonl")
    whole = dict.fromkeys(("corpus.jsonl", "inner/corpus.jsonl"), b"a document")
    assert content_of(folder) == whole

    outside = "../../secret"
    for target in (f"{outside}/key", str(secret / "key"), outside, f"{outside}/gone"):
        (folder / "inner" / "link").symlink_to(target)
        with pytest.raises(ArchiveError, match=r"inner/link.*link that leads out of the folder"):
            content_of(folder)
        (folder / "inner" / "link").unlink()


def test_folder_of_the_hubs_client_leads_to_the_bytes_beside_it(tmp_path):
    snapshot = tmp_path / "datasets--x--y" / "snapshots" / "0a1b"
    (snapshot / "en").mkdir(parents=True)
    blobs = snapshot.parent.parent / "blobs"
    blobs.mkdir()
    (blobs / "0c1d").write_text("a query")
    (snapshot / "en" / "queries.jsonl").symlink_to("../../../blobs/0c1d")

    assert content_of(snapshot) == {"en/queries.jsonl": b"a query"}
    assert content_of(snapshot / "en") == {"queries.jsonl": b"a query"}

    (tmp_path / "private").write_text("private")
    (snapshot / "en" / "qrels.tsv").symlink_to("../../../../private")
    with pytest.raises(ArchiveError, match="leads out of the folder"):
        content_of(snapshot)
