import gzip
import io
import math
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import FileProblemsError, Problems
from benchwright.formats.errors import UnwritableRowError
from benchwright.formats.trec import QrelRow, RunRow, read_qrels, read_run, write_qrels, write_run
from benchwright.formats.trec_topics import read_topics

DATA = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))


def read(reader, content):
    problems = Problems()
    result = content if reader is read_topics else io.BytesIO(content)
    return list(reader(result, file="f", problems=problems)), problems


def told(problems):
    return [str(problem) for problem in problems.found]


def warned(problems):
    return [str(problem) for problem in problems.warnings]


@pytest.mark.parametrize(
    ("token", "score"),
    [
        (b"1", 1.0),
        (b"-0.25", -0.25),
        (b"+.5", 0.5),
        (b"5.", 5.0),
        (b"1.5E+2", 150.0),
        (b"2e-3", 0.002),
        (b"inf", math.inf),
        (b"-Infinity", -math.inf),
        (b"1e999", math.inf),
        (b"0.100000001", 0.100000001),
        (b"9007199254740993", 9007199254740992.0),
    ],
)
def test_score_is_read_as_a_double(token, score):
    [row], problems = read(read_run, b"q Q0 d 1 %b t" % token)

    assert row == RunRow(1, b"q", b"d", score, 1, b"t")
    assert told(problems) + warned(problems) == []


@pytest.mark.parametrize(
    "token",
    [b"n/a", b"high", b"9,5", b"1_0", b"0x10", b"NaN", b"-nan", b"1\x0c", b"1\x00", b"\xd9\xa1"],
)
def test_score_that_is_no_number_is_told_with_its_line_and_the_next_line_is_read(token):
    rows, problems = read(read_run, b"q Q0 a 1 2 t\nq Q0 b 2 %b t\nq Q0 c 3 1 t" % token)

    assert [row.docid for row in rows] == [b"a", b"c"]
    [problem] = told(problems)
    assert problem.startswith("f:2: score is '")
    assert problem.endswith("'; expected a number. Drop the line or give it a score.")


def test_message_shows_the_score_as_it_was_written():
    _, problems = read(read_run, b"q Q0 b 2 n/a t")

    assert told(problems) == [
        "f:1: score is 'n/a'; expected a number. Drop the line or give it a score."
    ]


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4])
def test_run_line_with_fewer_than_five_columns_is_told(n_columns):
    rows, problems = read(read_run, b" ".join([b"q", b"Q0", b"d", b"1"][:n_columns]))

    assert rows == []
    assert "expected 6 (query, Q0, document, rank, score, tag)" in told(problems)[0]
    assert told(problems)[0].startswith(f"f:1: {n_columns} column")
    assert ("Lines of qrels are so" in told(problems)[0]) == (n_columns == 4)


def test_missing_tag_is_warned_of_once_a_file():
    rows, problems = read(read_run, b"q Q0 a 1 2\nq Q0 b 2 1")

    assert [row.tag for row in rows] == [b"", b""]
    assert warned(problems) == ["f:1: 5 columns; expected 6. The tag is missing: add one."]
    assert told(problems) == []


def test_columns_after_the_sixth_are_ignored():
    assert read(read_run, b"q Q0 d 1 2 my run")[0] == [RunRow(1, b"q", b"d", 2.0, 1, b"my")]


def test_tabs_many_blanks_and_crlf_separate():
    rows, problems = read(read_run, b"  q\tQ0   d \t 1 2 t \r\nq Q0 e 2 1 t\r\n")

    assert [(row.line, row.docid, row.tag) for row in rows] == [(1, b"d", b"t"), (2, b"e", b"t")]
    assert told(problems) == []


def test_blank_lines_and_comments_are_passed_over_and_counted():
    content = b"# run of ours\n\n   \nq Q0 d#1 1 2 t\n\t# end\n"

    assert read(read_run, content)[0] == [RunRow(4, b"q", b"d#1", 2.0, 1, b"t")]
    assert read(read_qrels, b"#\n\nq 0 d#1 1")[0] == [QrelRow(3, b"q", b"d#1", 1)]


@pytest.mark.parametrize(
    "docid", ["a\u00a0b", "a\u3000b", "a\u2028b", "a\x85b", "a\x0bb", "a\x1cb"]
)
def test_only_ascii_blanks_tabs_and_carriage_returns_separate(docid):
    docid = docid.encode()

    assert read(read_run, b"q Q0 %b 1 2 t" % docid)[0][0].docid == docid
    assert read(read_qrels, b"q 0 %b 1" % docid)[0][0].docid == docid


def test_ids_are_never_decoded():
    assert read(read_run, b"01 Q0 \xff\x00 1 2 t")[0] == [
        RunRow(1, b"01", b"\xff\x00", 2.0, 1, b"t")
    ]


@pytest.mark.parametrize("reader", [read_run, read_qrels])
def test_one_byte_order_mark_is_left_out_and_warned_of(reader):
    rest = b" Q0 d 1 2 t" if reader is read_run else b" 0 d 1"

    [once], problems = read(reader, b"\xef\xbb\xbfq" + rest)
    [twice], _ = read(reader, b"\xef\xbb\xbf\xef\xbb\xbfq" + rest)

    assert once.qid == b"q"
    assert "f:1: begins with a byte order mark" in warned(problems)[0]
    assert twice.qid == b"\xef\xbb\xbfq"


@pytest.mark.parametrize("reader", [read_run, read_qrels])
def test_lines_that_end_in_carriage_returns_alone_are_told_and_not_swallowed(reader):
    rows, problems = read(reader, b"q Q0 a 1 2 t\rq Q0 b 2 1 t\r")

    assert rows == []
    assert "f:1: holds a carriage return; expected lines to end in LF" in told(problems)[0]


def test_ranks_that_contradict_the_scores_are_warned_of_once():
    rows, problems = read(read_run, b"q Q0 a 1 1 t\nq Q0 b 2 2 t\nq Q0 c 3 3 t")

    assert [row.rank for row in rows] == [1, 2, 3]
    [warning] = warned(problems)
    assert warning.startswith("f:2: rank 2 has score 2.0 and rank 1 has 1.0;")


@pytest.mark.parametrize(
    "content",
    [
        b"q Q0 a 1 2 t\nq Q0 b 2 2 t\nq Q0 c 3 1 t",
        b"q Q0 a 0 9 t\np Q0 b 1 10 t\nq Q0 c 1 8 t",
        b"q Q0 a 2 1 t\nq Q0 b 1 2 t",
        b"q Q0 a x 1 t\nq Q0 b 1.5 2 t",
    ],
)
def test_ranks_that_agree_or_say_nothing_are_not_warned_of(content):
    assert warned(read(read_run, content)[1]) == []


@pytest.mark.parametrize(("token", "grade"), [(b"2", 2), (b"-1", -1), (b"+3", 3), (b"007", 7)])
def test_grade_is_a_whole_number(token, grade):
    assert read(read_qrels, b"q 0 d %b" % token)[0] == [QrelRow(1, b"q", b"d", grade)]


@pytest.mark.parametrize(
    "token", [b"1.5", b"0.5", b"1,0", b"yes", b"1_0", b"0x1", b"\xd9\xa1", b"9" * 5000]
)
def test_grade_that_is_no_whole_number_is_told(token):
    rows, problems = read(read_qrels, b"q 0 d %b\nq 0 e 1" % token)

    assert [row.docid for row in rows] == [b"e"]
    assert "; expected a whole number. Drop the line or give it a grade." in told(problems)[0]
    assert len(told(problems)[0]) < 200


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (b"q d 1", "3 columns; expected 4 (query, 0, document, grade)"),
        (b"q d 1", "BEIR qrels"),
        (b"q 0 d 1 1", "5 columns"),
        (b"q Q0 d 1 9.5 tag", "Lines of a run are so: perhaps the two files stand in the other"),
        (b"q", "1 column;"),
    ],
)
def test_qrels_line_without_four_columns_is_told(line, advice):
    rows, problems = read(read_qrels, line)

    assert rows == []
    assert advice in told(problems)[0]


def test_reading_stops_when_there_are_too_many_problems():
    with pytest.raises(FileProblemsError) as caught:
        list(read_run([b"x"] * 99, file="f", problems=Problems(limit=3)))

    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]


IDS = st.binary(min_size=1, max_size=6).filter(
    lambda token: not set(token) & set(b" \t\r\n") and not token.startswith((b"#", b"\xef"))
)
RUN_ROWS = st.builds(
    RunRow,
    st.just(0),
    IDS,
    IDS,
    st.floats(allow_nan=False),
    st.none() | st.integers(-9, 999999999),
    st.sampled_from([b"t", b"bm25-\xff"]),
)


@given(rows=st.lists(RUN_ROWS, max_size=5))
def test_run_that_is_written_and_read_again_is_the_same(rows):
    back = list(read_run(write_run(rows), file="f", problems=Problems()))

    assert [(r.qid, r.docid, r.score, r.tag) for r in back] == [
        (r.qid, r.docid, r.score, r.tag) for r in rows
    ]
    assert list(write_run(back)) == list(write_run(rows))


@given(rows=st.lists(st.builds(QrelRow, st.just(0), IDS, IDS, st.integers(-127, 127)), max_size=5))
def test_qrels_that_are_written_and_read_again_are_the_same(rows):
    back = list(read_qrels(write_qrels(rows), file="f", problems=Problems()))

    assert [row[1:] for row in back] == [row[1:] for row in rows]


def test_written_run_counts_ranks_in_each_query_and_always_has_six_columns():
    rows = [RunRow(0, b"q", b"a", 2.0), RunRow(0, b"p", b"b", 1.0), RunRow(0, b"q", b"c", 1e-7)]

    tagged = [row._replace(tag=b"my run") for row in rows[:1]]

    assert list(write_run(rows)) == [
        b"q Q0 a 1 2.0 run\n",
        b"p Q0 b 1 1.0 run\n",
        b"q Q0 c 2 1e-07 run\n",
    ]
    assert list(write_run(tagged)) == [b"q Q0 a 1 2.0 my_run\n"]


CLASSIC = b"""
<top>
<num> Number: 307
<title> Topic: Hydro-electric Projects &amp; AT&T

<desc> Description:
Identify projects
under construction.

<narr> Narrative:
Anything <b>clear</b> counts, if x < y.
</top>

<top>
<num> Number: 0310 </num><title>
Radio   Waves
</title>
<desc>Do they?</desc>
</top>
"""


def test_classic_topics_are_read_with_or_without_end_tags_and_labels():
    [first, second], problems = read(read_topics, CLASSIC)

    assert (first.line, first.qid, first.text) == (2, "307", "Hydro-electric Projects & AT&T")
    assert first.description == "Identify projects under construction."
    assert first.narrative == "Anything clear counts, if x < y."
    assert (second.line, second.qid, second.text) == (14, "0310", "Radio Waves")
    assert (second.description, second.narrative, second.others) == ("Do they?", "", {})
    assert told(problems) == []


def test_block_whose_end_tag_is_missing_ends_where_the_next_begins():
    rows, _ = read(read_topics, b"<top><num>1<title>one\n<top><num>2<title>two")

    assert [(row.qid, row.text, row.line) for row in rows] == [("1", "one", 1), ("2", "two", 2)]


def test_fields_of_other_names_are_kept():
    content = b"<TOP><NUM> Number: MB1 </NUM><query> a b </query><querytime> Tue </querytime></TOP>"

    [row], _ = read(read_topics, content)

    assert (row.qid, row.text, row.others) == ("MB1", "a b", {"querytime": "Tue"})


def test_xml_topics_are_read():
    content = b"""\xef\xbb\xbf<?xml version="1.0"?>
    <!-- two
         <topic number="9"><query>not me</query></topic> -->
    <topics task="x"><topic number="1" type='y'>
      <query>what &lt;is&gt; it</query><question>What is it?</question>
      <narrative>All &#233;t&#xe9; of &undefined; it</narrative></topic>
    <topic number='2'>bare text</topic></topics>"""

    [first, second], problems = read(read_topics, content)

    assert (first.line, first.qid, first.text) == (4, "1", "what <is> it")
    assert first.description == "What is it?"
    assert first.narrative == "All \u00e9t\u00e9 of &undefined; it"
    assert (second.line, second.qid, second.text) == (7, "2", "bare text")
    assert "byte order mark" in warned(problems)[0]


def test_topic_without_title_takes_its_description():
    [row], _ = read(read_topics, b"<top><num>1<desc>why so</top>")

    assert (row.text, row.description) == ("why so", "why so")


def test_tabbed_topics_are_read_and_keep_all_that_follows_the_first_tab():
    content = "# ours\nq1\tred  fish\r\n\nq#2\ta <top> b\tc\u3000d\n".encode()

    rows, problems = read(read_topics, content)

    assert [(row.line, row.qid, row.text) for row in rows] == [
        (2, "q1", "red fish"),
        (4, "q#2", "a <top> b c\u3000d"),
    ]
    assert told(problems) == []


def test_header_of_tabbed_topics_is_left_out_and_warned_of():
    rows, problems = read(read_topics, b"query_id\ttext\n1\tred")

    assert [row.qid for row in rows] == ["1"]
    assert "header" in warned(problems)[0]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"q1 red", "f:1: no tab; expected query id, TAB, text. Put a tab after the id."),
        (b"a\tx\n\tred", "f:2: topic has no id; expected one word, such as 301. "),
        (b"q 1\tred", "f:1: topic id is 'q 1'; expected one word, such as 301. "),
        (b"q\x017\tx", "f:1: topic id is 'q\x017': the id holds a control character (U+0001); "),
        pytest.param(
            *(b"q" * 513 + b"\tx", f"f:1: topic id is '{'q' * 60}': the id has 513 bytes; at most"),
            id="long",
        ),
        (b"q1\ta\x00b", "f:1: topic 'q1' holds a NUL character (U+0000); remove it"),
        (b"q1\t ", "f:1: topic 'q1' has no text; expected a title or query. "),
        (b"q\tx\nq\ty", "f:2: topic 'q' was in line 1 already; expected every id once. "),
        (
            2 * b'<topic number="q"><query>x</query></topic>',
            "f:1: topic 'q' was in line 1 already; expected every id once. ",
        ),
        (b"\n<top><title>x</top>", "f:2: topic has no id; expected one word, such as 301. "),
        (b"<top><num>1</top>", "f:1: topic '1' has no text; expected a title or query. "),
        (b"a\tx\nb\t\xff", "f:2: byte 0xFF is not UTF-8; expected UTF-8. "),
        (b"", "f: no topic found; expected <top> or <topic> blocks, or lines of id, TAB, text. "),
        (b"<html></html>", "f: no topic found; expected <top> or <topic> blocks, "),
    ],
)
def test_topic_that_cannot_be_read_is_told(content, problem):
    _, problems = read(read_topics, content)

    assert len(told(problems)) == 1
    assert told(problems)[0].startswith(problem)


@pytest.mark.parametrize(
    "piece", [b"<top><num>", b"<num>", b"<title>", b"<a>", b"<top ", b"<!--", b"<a></b>", b"</num>"]
)
def test_hostile_topics_are_read_in_linear_time(piece):
    started = time.process_time()

    problems = Problems(limit=10**9)
    list(read_topics(b"<top><num>1<title>x " + piece * 100_000, file="f", problems=problems))

    assert time.process_time() - started < 10


REAL = [
    ("cranfield/qrels_derived.txt", read_qrels, 1837),
    ("vaswani/qrels", read_qrels, 2083),
    ("cacm/qrels.text", read_qrels, 796),
    ("trec_covid_round1/qrels.covid-round1.txt", read_qrels, 8691),
    ("timestamped_topics/qrels.microblog2011.txt.gz", read_qrels, 60129),
    ("qrels_topics_only/miracl/qrels.miracl-v1.0-te-dev.tsv", read_qrels, 1606),
    ("trec_eval_test/qrels.test.with-comments", read_qrels, 3681),
    ("trec_eval_test/results.test", read_run, 1500),
    ("trec_eval_test/results.comment.test.gz", read_run, 30100),
    ("cranfield/runs/lsa200.gz", read_run, 22500),
    ("trec_covid_round1/runs/OHSU_RUN2.gz", read_run, 29977),
    ("vaswani/query-text.trec", read_topics, 93),
    ("cacm/topics.cacm.txt", read_topics, 64),
    ("query_families/core17_uqv/topics_core17.txt", read_topics, 50),
    ("timestamped_topics/topics.microblog2012.txt", read_topics, 60),
    ("trec_covid_round1/topics.covid-round1.xml", read_topics, 30),
    ("qrels_topics_only/miracl/topics.miracl-v1.0-bn-dev.tsv", read_topics, 411),
    ("qrels_topics_only/beir/topics.beir-v1.0.0-nfcorpus.test.tsv.gz", read_topics, 323),
]


@pytest.mark.data
@pytest.mark.parametrize(("name", "reader", "n_rows"), REAL, ids=[name for name, _, _ in REAL])
def test_real_files_are_read_without_a_problem(name, reader, n_rows):
    if not (DATA / name).exists():
        pytest.skip(f"no {DATA / name}: set BENCHWRIGHT_TEST_DATA")
    content = (DATA / name).read_bytes()

    rows, problems = read(reader, gzip.decompress(content) if name.endswith(".gz") else content)

    assert len(rows) == n_rows
    assert told(problems) == []
    assert reader is not read_topics or all(row.qid and row.text for row in rows)


@pytest.mark.parametrize("ids", [(b"q 1", b"d"), (b"q", b"d\t1"), (b"q", b""), (b"", b"d 1")])
def test_ids_that_would_be_read_as_others_are_not_written(ids):
    with pytest.raises(UnwritableRowError, match=r"TREC run: query .*: the id "):
        list(write_run([RunRow(0, *ids, 1.0)]))
    with pytest.raises(UnwritableRowError, match=r"TREC qrels: query .*: the id "):
        list(write_qrels([QrelRow(0, *ids, 1)]))


def test_ids_of_odd_white_space_are_written_as_they_are_read():
    rows = [QrelRow(0, b"q\x0b1", "d\u00a01".encode(), 1)]

    back = list(read_qrels(write_qrels(rows), file="f", problems=Problems()))
    assert [row[1:] for row in back] == [row[1:] for row in rows]
