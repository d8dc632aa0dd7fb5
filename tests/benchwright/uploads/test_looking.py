import pytest

from benchwright.detection import FileKind, Part
from benchwright.formats.tables import PASSED_OVER
from benchwright.uploads import Place, look_at

GOOD = b'{"_id": "d1", "title": "", "text": "one"}\n{"_id": "d2", "text": "two"}\n'
N_BAD = 3 * PASSED_OVER
FILES = {
    "corpus.jsonl": GOOD + b'{"_id": "d3"\n' * N_BAD,
    "documents.csv": b"id,title,text\n1,a,b\n2,c,d\n" + b"only one\n" * N_BAD,
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("is_whole", [True, False])
def test_bad_records_behind_a_good_beginning_are_read_as_far_as_they_tell(tmp_path, name, is_whole):
    path = tmp_path / name
    path.write_bytes(FILES[name])

    looks = look_at(
        Place(path, name), None, has_passages=True, is_short=False, is_whole=is_whole
    ).looks

    (look,) = looks
    assert look.n_bad == (N_BAD if is_whole else PASSED_OVER)
    assert look.problems[0].line == (3 if name == "corpus.jsonl" else 4)
    assert look.can_do_without
    assert len(look.rows) == 2


def test_half_a_character_is_shown_as_a_question_mark(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_bytes(
        b'{"_id": "q1", "text": "one"}\n{"_id": "q\\udc00", "\xed\xa0\x80": "\\ud800"}\n'
    )

    (look,) = look_at(
        Place(path, path.name), None, has_passages=False, is_short=False, is_whole=False
    ).looks

    assert "?" in look.columns
    assert str(look).encode()


def test_a_lone_file_is_no_collection(tmp_path):
    path = tmp_path / "queries.csv"
    path.write_bytes(b"id,text\nq1,one\n")
    part = Part("", FileKind.BEIR)

    (look,) = look_at(
        Place(path, path.name), [part], has_passages=False, is_short=False, is_whole=False
    ).looks

    assert look.error == (
        "queries.csv is one file. A collection in BEIR's layout is several, in a zip or tar: leave "
        "the kind out, or say which of its tables this is."
    )


def test_slices_are_shown_as_they_are_read(tmp_path):
    path = tmp_path / "slices.tsv"
    path.write_bytes(b"\xef\xbb\xbfQuery ID\tslice\n# of\tMarch\nq1\thead\nq2 head\n")

    (look,) = look_at(
        Place(path, path.name), None, has_passages=False, is_short=False, is_whole=True
    ).looks

    assert (look.part.kind, look.n_rows_read) == (FileKind.SLICES, 1)
    assert look.rows == (("q1", "head"),)
    assert [problem.line for problem in look.problems] == [4]
