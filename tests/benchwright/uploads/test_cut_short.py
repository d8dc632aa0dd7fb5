"""Files that end too early: refused by name, or read in whole records with the line they end in."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from benchwright.detection.kinds import FileKind
from benchwright.errors import BenchmarkError, ToldProblems
from benchwright.uploads import Place, look_at
from benchwright.uploads.row_streams import sent_rows
from tests.benchwright.uploads.breaking import MADE
from tests.benchwright.uploads.test_made_by_tools import READ, looked_at

N_CUTS = 10
NUMBERS = range(1, 13)


def lines(pattern: str, head: str = "") -> bytes:
    return (head + "".join(f"{pattern.replace('%', str(n))}\n" for n in NUMBERS)).encode()


# The kinds that no tool of `made` writes, each by its own format.
OURS = {
    "corpus.jsonl": b"".join(
        b'{"_id": "d%d", "title": "Tea", "text": "Leaves, number %d."}\n' % (n, n) for n in NUMBERS
    ),
    "queries.jsonl": b"".join(b'{"_id": "q%d", "text": "which tea"}\n' % n for n in NUMBERS),
    "miracl.jsonl": b"".join(
        b'{"query_id": "%d", "query": "which tea", "positive_passages": [{"docid": "7#%d", '
        b'"title": "Tea", "text": "Leaves."}], "negative_passages": []}\n' % (n, n)
        for n in NUMBERS
    ),
    "topics.xml": b"".join(
        b"<top>\n<num> Number: %d\n<title> green tea\n<desc> Description:\nWhich?\n</top>\n" % n
        for n in NUMBERS
    ),
    "docs.trec": b"".join(
        b"<DOC>\n<DOCNO>d%d</DOCNO>\n<TEXT>\nLeaves.\n</TEXT>\n</DOC>\n" % n for n in NUMBERS
    ),
    "cran.all": b"".join(b".I %d\n.T\nTea\n.W\nLeaves, steamed.\n" % n for n in NUMBERS),
    "official.qrels": lines("q% 0 d% 2"),
    "bm25.run": lines("q% Q0 d% 1 12.5 bm25"),
    "test.tsv": lines("q%\td%\t1", "query-id\tcorpus-id\tscore\n"),
    "marco.tsv": lines("%\t4%\t1"),
    "collection.tsv": lines("%\tLeaves that are steamed"),
    "families.tsv": lines("q%\tf%", "query-id\tfamily\n"),
    "slices.tsv": lines("q%\thead", "query-id\tslice\n"),
    "weights.tsv": lines("q%\t1.5", "query-id\tweight\n"),
    "papers.csv": lines("d%,Tea,Leaves", "doc_id,title,text\n"),
    "ids.txt": lines("document-%"),
}
FILES = {name: (MADE / name).read_bytes() for name in READ} | OURS
# What ends by itself: a shorter one is never taken.
CLOSED = (".json", ".parquet", ".xlsx", ".ods")


def pieces(content: bytes) -> list[bytes]:
    return [content[: len(content) * n // (N_CUTS + 1)] for n in range(1, N_CUTS + 1)]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_cut_is_no_silent_half(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    n_rows = looked_at(path).n_rows_read
    for piece in pieces(FILES[name]):
        path.write_bytes(piece)
        try:
            look = looked_at(path)
        except BenchmarkError as error:
            assert name in str(error)
            continue
        n_lines = piece.count(b"\n") + 1
        if not look.is_ready:
            # It is asked what the first piece of a file is; all that is known of it is refused.
            assert look.error or look.problems or look.part.kind is None
            continue
        assert not name.endswith(CLOSED)
        assert look.n_rows_read <= n_rows
        # At the end of a line nothing can be known, and all that is there is whole.
        is_at_a_border = piece.endswith((b"\n", b"}", b">"))
        assert is_at_a_border or f"{name}:{n_lines}: " in look.part.note, piece[-60:]


@pytest.mark.parametrize("name", ["papers.csv", "official.qrels", "cran.all", "pandas-utf-16.csv"])
def test_an_import_says_as_well_where_a_file_ends(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name][:-4])
    look = looked_at(path)
    place, problems = Place(path, name), ToldProblems()
    what = "qrels" if look.part.kind is FileKind.QRELS else "documents"
    rows = list(sent_rows(what, place, look.part, tmp_path, limit=9, leaves_out=True))

    for news in rows[-1:]:
        problems.take(news)

    assert [str(warning).split(": ")[1][:20] for warning in problems.warnings] == [
        "is the last line, an"
    ]
    assert str(problems.warnings[0]).rstrip(".") in look.part.note


def test_the_last_record_of_smart_that_lacks_what_all_have_is_told(tmp_path):
    path = tmp_path / "cran.all"
    whole = OURS["cran.all"]
    for end, lacks in ((b".I 13\n", ".T"), (b".I 13\n.T\nTea\n", ".W")):
        path.write_bytes(whole + end)

        assert f"cran.all:61: the last record has no {lacks}" in looked_at(path).part.note

    path.write_bytes(whole)
    assert looked_at(path).part.note == ""


# --- archives and compressed files ----------------------------------------------------------------

COLLECTION = {
    "corpus.jsonl": OURS["corpus.jsonl"],
    "queries.jsonl": OURS["queries.jsonl"],
    "qrels/test.tsv": OURS["test.tsv"],
}


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in COLLECTION.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(mode: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, content in COLLECTION.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


PACKED = {
    "tea.zip": (zipped(), "without the list of members"),
    "tea.tar": (tarred("w").rstrip(b"\0"), "the tar is damaged or cut short"),
    "tea.tar.gz": (tarred("w:gz"), "ends too early, at byte "),
    "papers.csv.gz": (gzip.compress(OURS["papers.csv"]), "ends too early, at byte "),
}


@pytest.mark.parametrize("name", PACKED)
def test_what_is_packed_is_whole_or_refused_with_where_it_ends(tmp_path, name):
    content, where = PACKED[name]
    path: Path = tmp_path / name
    for piece in pieces(content):
        path.write_bytes(piece)

        with pytest.raises(BenchmarkError) as refusal:
            look_at(Place(path, name), None, has_passages=False, is_short=False, is_whole=True)

        assert str(refusal.value).startswith(f"{name}: ")
        assert where in str(refusal.value)
        assert "again" in str(refusal.value)


# --- files in which nothing stands ----------------------------------------------------------------

NOTHING = {
    "empty.csv": (b"", "empty.csv is empty. Expected at least one record: write it again"),
    "blank.txt": (b"\n \n\n", "blank.txt is blank up to line 3. Expected at least one record"),
    "mark.csv": (b"\xef\xbb\xbf", "mark.csv is blank up to line 1."),
    "notes.qrels": (b"# a\n# b\n", "notes.qrels is made of comments alone up to line 2. Expected"),
    "notes.xml": (b"<!-- a -->\n", "notes.xml is made of comments alone up to line 1."),
    "marks.jsonl": (b"// a\n", "marks.jsonl is made of comments alone up to line 1."),
    "empty.csv.gz": (gzip.compress(b""), "empty.csv.gz is empty. Expected"),
    "tea.csv": (
        "id,text\n1,чай\n".encode("utf-16-le"),
        "tea.csv is UTF-16 without the mark that begins such a file. Save it as UTF-8",
    ),
    "tea.run": (
        "q1 Q0 d1 1 2.5 tea\n".encode("utf-16-be"),
        "tea.run is UTF-16 without the mark that begins such a file. Save it as UTF-8",
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_file_in_which_nothing_stands_is_refused_with_what_to_do(tmp_path, name):
    content, refusal = NOTHING[name]
    (tmp_path / name).write_bytes(content)

    with pytest.raises(BenchmarkError) as error:
        looked_at(tmp_path / name)

    assert refusal in str(error.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [("papers.csv", b"doc_id,title,text\n"), ("test.tsv", b"query-id\tcorpus-id\tscore\n")],
)
def test_a_header_alone_is_no_table(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)

    look = looked_at(tmp_path / name)

    assert not look.is_ready
    assert f"{name} ends before its first record; expected at least one" in look.error


def test_an_archive_in_which_nothing_can_be_read_says_what_it_holds(tmp_path):
    path = tmp_path / "notes.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.md", "hello")

    with pytest.raises(
        BenchmarkError, match=r"notes\.zip: no corpus\.jsonl, .* It holds: readme\.md"
    ):
        look_at(Place(path, path.name), None, has_passages=False, is_short=False, is_whole=True)
