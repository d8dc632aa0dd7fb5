import pytest

from benchwright.errors import FileProblemsError, Problems
from benchwright.qrels.files import Label, read_labels

SCALE = [0, 1, 2, 3]


def read(text: str | bytes, **options) -> list[Label]:
    """The labels, or the problems raised as one text."""
    problems = Problems()
    raw = text.encode() if isinstance(text, str) else text
    lines = raw.splitlines(keepends=True)
    items = list(read_labels(lines, file="f.tsv", problems=problems, scale=SCALE, **options))
    problems.raise_found()
    return items


def told(text: str | bytes, **options) -> list[str]:
    with pytest.raises(FileProblemsError) as caught:
        read(text, **options)
    return str(caught.value).splitlines()


QREL = [Label(1, "q1", "d1", 2, "GPT")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q1 0 d1 2\n", QREL),
        ("q1\t0\td1\t2\r\n", QREL),
        ("query-id\tcorpus-id\tgrade\nq1\td1\t2\n", [Label(2, "q1", "d1", 2, "GPT")]),
        (
            "topic_id,doc_id,annotator,label,grade\n7,d1,W1,relevant,1\n",
            [Label(2, "7", "d1", 1, "W1")],
        ),
        (
            'qid;docid;grade;rater;note\nq1;d1;3;Eve;"long;\nnote"\nq2;d1;0;;\n',
            [Label(2, "q1", "d1", 3, "Eve", "long;\nnote"), Label(4, "q2", "d1", 0, "GPT")],
        ),
        (
            'query-id\tcorpus-id\tgrade\treason\ttext-hash\nq"\td1\t2\ta "word"\tabc\n',
            [Label(2, 'q"', "d1", 2, "GPT", 'a "word"', "abc")],
        ),
        ("queryId,docno,Rating\nq1,d1,2.0\n", [Label(2, "q1", "d1", 2, "GPT")]),
        ("q_id\tdoc\tjudgment\nq1\td1\t+2\n", [Label(2, "q1", "d1", 2, "GPT")]),
        (b"\xef\xbb\xbfqid,docid,score\nq1,d1,0\n\n", [Label(2, "q1", "d1", 0, "GPT")]),
    ],
)
def test_each_form_is_read(text, expected):
    assert read(text, rater="GPT") == expected


def test_a_file_that_names_nobody_leaves_the_rater_open():
    assert [label.rater for label in read("q1 0 d1 2\n")] == [""]


def test_grades_are_mapped_before_they_are_checked():
    assert read("q1 0 d1 4\nq1 0 d2 -1\n", grade_map={4: 3, -1: 0}) == [
        Label(1, "q1", "d1", 3),
        Label(2, "q1", "d2", 0),
    ]


def test_every_bad_line_is_told_with_what_was_expected_and_what_to_do():
    text = "qid\tdocid\tgrade\trater\nq1\td1\t10\tA\nq1\td 2\t1\tA\nq1\td3\t1.5\tA\nq1\td4\t2\tA\n"

    assert told(text) == [
        "f.tsv:2: grade is '10'; expected one of 0, 1, 2, 3. "
        "Correct it, map it to another grade, or drop the line.",
        "f.tsv:3: document id 'd 2': the id holds white space (U+0020); ids are written without it",
        "f.tsv:4: grade is '1.5'; expected one of 0, 1, 2, 3. "
        "Correct it, map it to another grade, or drop the line.",
    ]


def test_one_rater_says_one_thing_of_a_pair_and_another_rater_may_say_another():
    header = "qid\tdocid\tgrade\trater\n"

    assert len(read(f"{header}q1\td1\t2\tA\nq1\td1\t0\tB\nq1\td1\t2\tA\n")) == 2
    assert told(f"{header}q1\td1\t2\tA\nq1\td1\t1\tA\n") == [
        "f.tsv:3: query 'q1', document 'd1' has grade 2 of A on line 2, and 1 here; keep one"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "f.tsv: is empty; expected TREC qrels (query 0 document grade), or a header"),
        ("qid,docid,note\nq1,d1,x\n", "f.tsv:1: the header names no grade; expected TREC qrels"),
        ("qid,docid,rating,gain\n", "f.tsv:1: the header names 2 grades (rating, gain); expected"),
        ("qid,docid,grade\nq1,d1\n", "f.tsv:2: has 2 cells, the header has 3; check the"),
        ("q1 0 d1\n", "f.tsv:1: 3 columns"),
        (b"qid,docid,grade\n\xff,d1,1\n", "f.tsv:2: byte 1 is not UTF-8; save the file as UTF-8"),
        ('qid,docid,grade\n"q1,d1,1\n', "f.tsv:2: is not CSV: unexpected end of data"),
        (
            f"qid,docid,grade,rater\nq1,d1,1,{'x' * 121}\n",
            f"f.tsv:2: annotator '{'x' * 40}…' has more than 120 characters; shorten the name",
        ),
        ("qid,docid,grade,rater\nq1,d1,1,a\0\n", "f.tsv:2: annotator holds a NUL character"),
        ("qid,docid,grade,note\nq1,d1,1,a\0\n", "f.tsv:2: note holds a NUL character"),
    ],
)
def test_a_file_that_is_none_is_refused(text, expected):
    assert told(text)[0].startswith(expected)
