"""What other evaluators get wrong or differently in reading, case by case, with both scanners.

The cases are those of a survey of trec_eval 9 and 10, pytrec_eval, ir_measures, ranx and BEIR; the
rules are in docs/formats.md.
"""

import pytest

from benchwright import evaluate
from benchwright.errors import (
    EmptyQrelsError,
    EmptyRunError,
    FileProblemsError,
    NoCommonQueryError,
    Problems,
)
from benchwright.reading import Hit, QueryHits

# Grades by document, so that the order of the hits shows the order of the documents.
QRELS = b"q 0 a 1\nq 0 b 2\nq 0 c 3\nq 0 d 4\n"


def run_of(*rows, qid=b"q"):
    """Lines `q Q0 DOCUMENT 1 SCORE t`, for scores that are ranked whatever the rank column says."""
    return b"".join(b"%b Q0 %b 1 %b t\n" % (qid, docid, score) for docid, score in rows)


def grades_in_order(found, qid=b"q"):
    hits = found[qid].hits
    assert [hit.rank for hit in hits] == sorted({hit.rank for hit in hits})
    return [hit.grade for hit in hits]


# --- ties ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ties", "grades"),
    [
        ("trec", [4, 3, 2, 1]),
        ("trec9", [4, 3, 2, 1]),
        ("docid-asc", [4, 1, 2, 3]),
        ("file", [4, 3, 1, 2]),
        ("expected", [4, 3, 2, 1]),
    ],
)
@pytest.mark.parametrize("n_more", [0, 40])
def test_rule_decides_a_tie_however_many_tie(scan, ties, grades, n_more):
    more = [(b"x%d" % n, b"0.5") for n in range(n_more)]
    run = run_of((b"d", b"1"), (b"c", b"0.5"), (b"a", b"0.5"), (b"b", b"0.5"), *more)

    assert grades_in_order(scan(QRELS, run, ties=ties)) == grades


def test_scores_that_differ_beyond_32_bits_tie_only_under_trec9(scan):
    run = run_of((b"a", b"0.100000001"), (b"b", b"0.1"))

    assert grades_in_order(scan(QRELS, run)) == [1, 2]
    assert grades_in_order(scan(QRELS, run, ties="trec9")) == [2, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [(b"9007199254740993", b"9007199254740992"), (b"-0.0", b"0.0"), (b"1e999", b"inf")],
)
def test_scores_that_are_one_double_tie(scan, one, other):
    assert grades_in_order(scan(QRELS, run_of((b"a", one), (b"b", other)))) == [2, 1]


def test_ties_are_broken_by_bytes_and_not_by_letters(scan):
    qrels = "q 0 z 1\nq 0 é 2\nq 0 Z 3\nq 0 zz 4\n".encode()
    run = run_of(*((docid.encode(), b"1") for docid in ("z", "é", "Z", "zz")))

    assert grades_in_order(scan(qrels, run)) == [2, 4, 1, 3]


def test_expected_ties_are_told_with_their_first_rank_and_size(scan):
    run = run_of(
        *((b"x", b"9"), (b"y", b"9"), (b"a", b"5"), (b"u", b"5"), (b"v", b"5"), (b"b", b"1")),
        *((b"c", b"0"), (b"d", b"-0.0")),
    )

    hits = scan(QRELS, run, ties="expected")[b"q"]

    assert hits.hits == (Hit(5, 1), Hit(6, 2), Hit(7, 4), Hit(8, 3))
    assert hits.ties == ((3, 3), (7, 2))
    assert scan(QRELS, run)[b"q"].ties == ()


# --- rows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("document", ["a", "unjudged"])
def test_document_twice_in_a_query_is_refused_with_both_lines_also_when_unjudged(scan, document):
    docid = document.encode()
    run = run_of((b"b", b"2"), (docid, b"1"), (b"c", b"1"), (docid, b"0.5"))

    with pytest.raises(FileProblemsError) as caught:
        scan(QRELS, run)

    assert str(caught.value) == (
        f"my.run:4: document '{document}' of query 'q' was in line 2 already; "
        "expected it once a query. Drop one of the two."
    )


def test_document_twice_is_found_when_its_query_comes_back_later(scan):
    with pytest.raises(FileProblemsError, match=r"my\.run:3: document 'a' of query 'q' was in lin"):
        scan(QRELS, run_of((b"a", b"2")) + run_of((b"a", b"2"), qid=b"p") + run_of((b"a", b"1")))


def test_qrels_row_twice_is_refused_when_the_grades_differ(scan):
    with pytest.raises(FileProblemsError, match="with grade 1 and here 2; expected one grade"):
        scan(QRELS + b"q 0 a 2\n", run_of((b"a", b"1")))


def test_qrels_rows_twice_are_noted_when_the_grades_are_equal(scan):
    problems = Problems()
    qrels = b"p 0 a 1\n" + QRELS + b"q 0 b 2\np 0 a 1\np 0 c 0\n"

    hits = scan(qrels, run_of((b"b", b"1"), (b"a", b"0")), problems=problems)

    assert grades_in_order(hits) == [2, 1]
    assert [(warning.line, warning.text[:48]) for warning in problems.warnings] == [
        (6, "document 'b' of query 'q' was in line 3 already,"),
        (7, "document 'a' of query 'p' was in line 1 already,"),
    ]


def test_queries_that_only_one_side_has_are_kept_apart(scan):
    hits = scan(QRELS + b"missing 0 a 1\n", run_of((b"a", b"1")) + run_of((b"a", b"1"), qid=b"x"))

    assert hits == {
        b"q": QueryHits(b"q", (Hit(1, 1),), 1),
        b"x": QueryHits(b"x", (), 1),
    }


def test_missing_query_counts_zero_or_is_left_out(scan, tmp_path):
    scan(QRELS + b"missing 0 a 1\n", run_of((b"d", b"1")))
    files = tmp_path / "my.qrels", tmp_path / "my.run"

    assert evaluate(*files, ["RR"]).means == {"RR": 0.5}
    assert evaluate(*files, ["RR"], missing="skip").means == {"RR": 1.0}


def test_no_common_query_shows_ids_of_both_sides(scan, tmp_path):
    scan(b"01 0 a 1\n", run_of((b"a", b"1"), qid=b"1"))

    with pytest.raises(NoCommonQueryError, match="run has '1', the qrels have '01'"):
        evaluate(tmp_path / "my.qrels", tmp_path / "my.run", ["RR"])


def test_query_without_a_relevant_document_stays_in_the_mean(scan, tmp_path):
    scan(
        b"p 0 a 0\nq 0 a 1\nn 0 a -1\n", b"".join(run_of((b"a", b"1"), qid=q) for q in (b"p", b"q"))
    )

    assert evaluate(tmp_path / "my.qrels", tmp_path / "my.run", ["RR"]).means == {"RR": 1 / 3}


def test_negative_grade_is_among_the_hits(scan):
    hits = scan(b"q 0 a -1\nq 0 b -127\n", run_of((b"a", b"1"), (b"b", b"0")))

    assert hits[b"q"].hits == (Hit(1, -1), Hit(2, -127))


def test_depth_cuts_hits_and_results(scan):
    run = run_of((b"x", b"9"), (b"a", b"3"), (b"b", b"2"), (b"c", b"2"))

    assert scan(QRELS, run, depth=3)[b"q"] == QueryHits(b"q", (Hit(2, 1), Hit(3, 3)), 3)


# --- scores --------------------------------------------------------------------------------


def test_infinite_and_scientific_scores_are_ordered(scan):
    run = run_of((b"a", b"-inf"), (b"b", b"2e-3"), (b"c", b"1.5E+2"), (b"d", b"1e999"))

    assert grades_in_order(scan(QRELS, run)) == [4, 3, 2, 1]


@pytest.mark.parametrize("token", ["NaN", "high", "9,5", "1_0", "0x10", "1e", "--1", "infin", "."])
def test_score_that_is_no_number_is_refused_with_its_line(scan, token):
    with pytest.raises(FileProblemsError) as caught:
        scan(QRELS, run_of((b"a", b"2"), (b"b", token.encode()), (b"c", b"1")))

    assert str(caught.value) == (
        f"my.run:2: score is '{token}'; expected a number. Drop the line or give it a score."
    )


def test_rank_that_contradicts_the_score_is_warned_of_and_ignored(scan):
    problems = Problems()

    hits = scan(QRELS, b"q Q0 a 1 0.1 t\nq Q0 b 2 0.25 t\nq Q0 c 3 9 t\n", problems=problems)

    assert grades_in_order(hits) == [3, 2, 1]
    assert [str(warning) for warning in problems.warnings] == [
        "my.run:2: rank 2 has score 0.25 and rank 1 has 0.1; expected scores that fall as ranks "
        "rise. The scores decide: correct the ranks."
    ]


# --- files ---------------------------------------------------------------------------------


def test_interleaved_queries_are_put_together(scan):
    rows = [(b"q", b"a", b"1"), (b"p", b"x", b"5"), (b"q", b"b", b"3"), (b"p", b"a", b"9")]
    run = b"".join(run_of((docid, score), qid=qid) for qid, docid, score in rows)

    hits = scan(QRELS + b"p 0 a 7\n", run + run_of((b"c", b"2")))

    assert list(hits) == [b"q", b"p"]
    assert hits[b"q"] == QueryHits(b"q", (Hit(1, 2), Hit(2, 3), Hit(3, 1)), 3)
    assert hits[b"p"] == QueryHits(b"p", (Hit(1, 7),), 2)


def test_scores_out_of_order_are_ranked_with_few_hits_and_with_many(scan):
    scores = [(n * 37) % 101 for n in range(100)]
    run = run_of(*((b"d%d" % n, b"%d" % score) for n, score in enumerate(scores)))
    grade = b"".join(b"q 0 d%d %d\n" % (n, n) for n in range(100))
    best_first = sorted(range(100), key=scores.__getitem__, reverse=True)

    assert grades_in_order(scan(grade, run)) == best_first
    assert scan(b"q 0 d7 5\n", run)[b"q"].hits == (Hit(best_first.index(7) + 1, 5),)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"# nothing\n"])
def test_empty_files_are_refused_unless_asked_for(scan, tmp_path, content):
    files = tmp_path / "my.qrels", tmp_path / "my.run"

    assert scan(QRELS, content) == {}
    with pytest.raises(EmptyRunError):
        evaluate(*files, ["RR"])
    assert evaluate(*files, ["RR"], allow_empty=True).means == {"RR": 0.0}
    scan(content, run_of((b"a", b"1")))
    with pytest.raises(EmptyQrelsError):
        evaluate(*files, ["RR"])


@pytest.mark.parametrize(
    "run",
    [
        b"q\tQ0\ta\t1\t2\tt\nq\tQ0\tb\t2\t1\tt\n",
        b"  q   Q0 a 1   2 t  \n\tq Q0 \t b 2 1 t\t\n",
        b"# ours\n\nq Q0 a 1 2 t\n   \n\t# q Q0 c 1 9 t\nq Q0 b 2 1 t\n\n",
        b"q Q0 a 1 2 t\nq Q0 b 2 1 t",
        b"q Q0 a 1 2 t\r\nq Q0 b 2 1 t\r\n",
        b"q Q0 a 1 2 t \r\r\n\rq Q0 b 2 1 t\r",
        b"q Q0 a 1 2 a tag of words\nq Q0 b 2 1 t 7\n",
    ],
    ids=["tabs", "blanks", "comments", "no end", "crlf", "many returns", "columns"],
)
def test_layout_changes_nothing(scan, run):
    problems = Problems()

    hits = scan(QRELS.replace(b" ", b"\t").replace(b"\n", b"\r\n\n#\n"), run, problems=problems)

    assert hits == {b"q": QueryHits(b"q", (Hit(1, 1), Hit(2, 2)), 2)}
    assert problems.warnings == []


def test_lines_that_end_in_a_carriage_return_alone_are_refused(scan):
    with pytest.raises(FileProblemsError, match=r"my\.run:1: holds a carriage return; expected"):
        scan(QRELS, b"q Q0 a 1 2 t\rq Q0 b 2 1 t\r")
    with pytest.raises(FileProblemsError, match=r"my\.qrels:1: holds a carriage return; expected"):
        scan(b"q 0 a 1\rq 0 b 1\r", b"")


def test_byte_order_mark_is_left_out_and_told(scan):
    problems, mark = Problems(), b"\xef\xbb\xbf"

    hits = scan(mark + QRELS, mark + run_of((b"a", b"1")), problems=problems)

    assert hits == {b"q": QueryHits(b"q", (Hit(1, 1),), 1)}
    assert [str(warning) for warning in problems.warnings] == [
        f"{file}:1: begins with a byte order mark; expected none. It was left out: remove it."
        for file in ("my.qrels", "my.run")
    ]


def test_missing_tag_is_warned_of_once(scan):
    problems = Problems()

    hits = scan(QRELS, b"q Q0 a 1 2 t\nq Q0 b 2 1\nq Q0 c 3 0 \n", problems=problems)

    assert grades_in_order(hits) == [1, 2, 3]
    assert [str(warning) for warning in problems.warnings] == [
        "my.run:2: 5 columns; expected 6. The tag is missing: add one."
    ]


@pytest.mark.parametrize("line", [b"q", b"q Q0", b"q Q0 a", b"q Q0 a 1", b"q Q0 7"])
def test_too_few_columns_are_refused(scan, line):
    with pytest.raises(FileProblemsError, match=r"my\.run:2: \d columns?; expected 6 \(query, Q0"):
        scan(QRELS, b"#\n" + line + b"\n" + run_of((b"b", b"1")))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"q 0 a", "3 columns; expected 4"),
        (b"q 0 a 1 1", "5 columns; expected 4"),
        (b"q 0 a 1,0", "grade is '1,0'; expected a whole number"),
        (b"q 0 a 0.5", "grade is '0.5'; expected a whole number"),
        (b"query-id 0 corpus-id score", "grade is 'score'; expected a whole number"),
    ],
)
def test_qrels_line_that_is_none_is_refused(scan, line, text):
    with pytest.raises(FileProblemsError) as caught:
        scan(line + b"\n" + QRELS, run_of((b"a", b"1")))

    assert str(caught.value).startswith(f"my.qrels:1: {text}")


def test_a_grade_written_as_2_0_is_2(scan):
    whole = scan(b"q 0 a 2\nq 0 b 0\n", run_of((b"a", b"1"), (b"b", b"2")))

    assert scan(b"q 0 a 2.0\nq 0 b 0.0\n", run_of((b"a", b"1"), (b"b", b"2"))) == whole


@pytest.mark.parametrize(
    "header",
    [b"query-id\tcorpus-id\tscore\n", b"qid\tdocid\trelevance\n", b"#\n\nQuery_ID Doc_ID rel\n"],
)
def test_beir_qrels_are_read_by_their_header(scan, header):
    problems = Problems()

    hits = scan(header + b"q\ta\t1\nq\tb\t2\n", run_of((b"b", b"1")), problems=problems)

    assert hits[b"q"].hits == (Hit(1, 2),)
    assert problems.warnings == []


def test_qrels_of_three_columns_are_read_and_told_and_lose_no_row(scan):
    problems = Problems()

    hits = scan(b"\nq a 1\nq b 2\n", run_of((b"a", b"1")), problems=problems)

    assert hits[b"q"].hits == (Hit(1, 1),)
    assert [str(warning)[:41] for warning in problems.warnings] == [
        "my.qrels:2: 3 columns and no header; expe"
    ]


def test_qrels_of_three_columns_with_a_line_of_four_are_refused(scan):
    with pytest.raises(FileProblemsError, match=r"my\.qrels:2: expected 3 columns \(query, docu"):
        scan(b"q a 1\nq 0 b 2\n", b"")


def test_grade_of_three_columns_that_is_none_is_quoted(scan):
    with pytest.raises(FileProblemsError, match=r"my\.qrels:2: grade is 'high'"):
        scan(b"q a 1\nq 2 high\n", b"")


# --- ids -----------------------------------------------------------------------------------


def test_ids_that_look_like_one_number_are_different(scan):
    assert scan(QRELS, run_of((b"a", b"1"), qid=b"0q")) == {b"0q": QueryHits(b"0q", (), 1)}
    assert scan(b"1 0 01 1\n", run_of((b"1", b"1"), qid=b"1"))[b"1"].hits == ()


@pytest.mark.parametrize(
    "docid",
    [
        "a\u00a0b",
        "a\u3000b",
        "a\u2028b",
        "\x0b",
        "a\x0cb",
        "a\x1cb",
        "d#1",
        '"a"b',
        "a,b",
        "a/b",
        "q",
    ],
)
def test_id_is_read_as_it_is_written(scan, docid):
    docid = docid.encode()

    assert scan(b"q 0 %b 3\n" % docid, run_of((docid, b"1")))[b"q"].hits == (Hit(1, 3),)


@pytest.mark.parametrize("docid", [b"\xff\xfe", b"a\x00b", b"\x00", b"\xed\xa0\x80"])
def test_id_may_be_any_bytes(scan, docid):
    assert scan(b"q 0 %b 3\n" % docid, run_of((docid, b"1")))[b"q"].hits == (Hit(1, 3),)


def test_composed_and_decomposed_letters_are_different(scan):
    hits = scan("q 0 caf\u00e9 1\n".encode(), run_of(("cafe\u0301".encode(), b"1")))

    assert hits[b"q"].hits == ()


def test_id_that_begins_with_a_hash_begins_a_comment_only_as_a_query(scan):
    hits = scan(b"q 0 #1 3\n#q 0 #1 2\n", run_of((b"#1", b"1")) + run_of((b"#1", b"1"), qid=b"#q"))

    assert hits == {b"q": QueryHits(b"q", (Hit(1, 3),), 1)}
