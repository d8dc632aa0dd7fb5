import random
import struct
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import FileProblemsError, Problems
from benchwright.runs import store as run_store
from benchwright.runs.store import document_ids, hits_against, query_ids, top_k, write_run


def write(results, directory, problems=None, **options):
    """Write `(qid, docid, score)` as a run, lines counted from 1."""
    rows = ((line, *result) for line, result in enumerate(results, start=1))
    return write_run(
        rows, directory=directory, problems=problems or Problems(), file="bm25.run", **options
    )


def ranking(summary):
    return list(top_k(summary.parquet, 1_000_000))


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(run_store, "FRAME_ROWS", 25)
    monkeypatch.setattr(run_store, "PART_ROWS", 50)
    monkeypatch.setattr(run_store, "BUCKET_ROWS", 70)


def test_rank_is_score_descending_and_ties_are_document_id_bytes_descending(tmp_path):
    results = [
        ("q", "d1", 1.0),
        ("q", "d2", 1.0),
        ("q", "d10", 1.0),
        ("q", "é", 1.0),
        ("q", "a", 2),
    ]

    assert ranking(write(results, tmp_path)) == [
        ("q", "a", 1),
        ("q", "é", 2),
        ("q", "d2", 3),
        ("q", "d10", 4),
        ("q", "d1", 5),
    ]


@pytest.mark.parametrize(("ties", "first"), [("trec", "a"), ("trec9", "b")])
def test_scores_that_only_doubles_tell_apart_tie_at_32_bits(tmp_path, ties, first):
    results = [("q", "a", 1.0 + 1e-9), ("q", "b", 1.0)]

    summary = write(results, tmp_path, ties=ties)

    assert next(docid for _, docid, *_ in ranking(summary)) == first


def test_scores_are_doubles_and_minus_zero_ties_with_zero(tmp_path):
    one_up = struct.unpack(
        "<d", struct.pack("<q", struct.unpack("<q", struct.pack("<d", 1))[0] + 1)
    )
    results = [("q", "a", one_up[0]), ("q", "b", 1.0), ("q", "c", -0.0), ("q", "d", 0.0)]

    assert [docid for _, docid, _ in ranking(write(results, tmp_path))] == ["a", "b", "d", "c"]


@pytest.mark.parametrize("step", [1, -1], ids=["rising", "falling"])
def test_infinite_scores_rank_first_and_last_and_are_told(tmp_path, step):
    results = [("q", "a", float("-inf")), ("q", "b", 0.5), ("q", "c", float("inf"))]

    summary = write(results[::step], tmp_path)

    assert [docid for _, docid, _ in ranking(summary)] == ["c", "b", "a"]
    assert "2 scores are infinite" in summary.warnings[0]


@pytest.mark.parametrize("score_of", [random.Random(4).uniform, lambda d, n: 1 - d / n])
def test_interleaved_queries_are_ranked_each_on_its_own(tmp_path, small_parts, score_of):
    results = [(f"q{q}", f"d{d:02}", score_of(d, 20)) for d in range(20) for q in range(11)]
    expected = defaultdict(list)
    for qid, docid, score in results:
        expected[qid].append((-score, docid))

    summary = write(results, tmp_path)

    assert (summary.n_rows, summary.n_queries, summary.depth) == (220, 11, 20)
    assert ranking(summary) == [
        (qid, docid, rank)
        for qid in sorted(expected, key=str.encode)
        for rank, (_, docid) in enumerate(sorted(expected[qid]), start=1)
    ]


def test_the_file_is_the_same_bytes_in_any_order_and_however_it_was_cut(tmp_path, monkeypatch):
    results = [(f"q{n % 7}", f"d{n}", n % 13) for n in range(500)]
    first = write(results, tmp_path / "a")
    random.Random(1).shuffle(results)
    monkeypatch.setattr(run_store, "FRAME_ROWS", 20)
    monkeypatch.setattr(run_store, "PART_ROWS", 33)
    monkeypatch.setattr(run_store, "BUCKET_ROWS", 1)

    second = write(results, tmp_path / "b")

    assert first.sha256 == second.sha256


ids = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.tuples(ids, ids), st.sampled_from([0.0, 1.0, -2.5, 1e300]), min_size=1))
def test_order_is_that_of_python_over_encoded_bytes(tmp_path_factory, scores):
    results = [(qid, docid, score) for (qid, docid), score in scores.items()]
    # Twice sorted: stable, so that equal scores stay in the order of their ids, descending.
    by_id = sorted(results, key=lambda row: row[1].encode(), reverse=True)
    expected = sorted(by_id, key=lambda row: (row[0].encode(), -row[2]))

    result = ranking(write(results, tmp_path_factory.mktemp("run")))

    assert [pair[:2] for pair in result] == [pair[:2] for pair in expected]


def test_a_document_twice_where_scores_fall_is_told_too(tmp_path):
    with pytest.raises(FileProblemsError, match="line 1 already"):
        write([("q", "a", 3.0), ("q", "b", 2.0), ("q", "a", 1.0)], tmp_path)


def test_a_document_twice_in_a_query_is_told_with_both_lines_and_nothing_is_left(
    tmp_path, small_parts
):
    results = [(f"q{n % 3}", f"d{n}", 1 / n) for n in range(1, 200)]
    results += [("q1", "d4", 0.1), ("q2", "d4", 0.1), ("q1", "d4", 9.0)]

    with pytest.raises(FileProblemsError) as raised:
        write(results, tmp_path / "made")

    assert [str(problem) for problem in raised.value.problems] == [
        f"bm25.run:{line}: query q1 had document d4 on line 4 already; keep one of them"
        for line in (200, 202)
    ]
    assert list((tmp_path / "made").iterdir()) == []


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("q", "d", float("nan")), "score is NaN"),
        (("q 1", "d", 1.0), "query id 'q 1': the id holds white space"),
        (("q", "", 1.0), "document id '': the id is empty"),
        ((b"q", b"d\xff", 1.0), "lone surrogate"),
    ],
)
def test_a_row_that_cannot_be_taken_is_told_with_its_line(tmp_path, row, words):
    with pytest.raises(FileProblemsError) as raised:
        write([("q", "good", 1.0), row], tmp_path)

    assert [problem.line for problem in raised.value.problems] == [2]
    assert words in raised.value.problems[0].text


def test_ids_may_come_as_bytes_and_rows_may_have_more_fields(tmp_path):
    rows = [(1, "文".encode(), b"d1", 2.0, 1, b"tag"), (2, "文".encode(), b"d2", 1.0, 2, b"tag")]

    summary = write_run(rows, directory=tmp_path, problems=Problems(), file="f")

    assert ranking(summary) == [("文", "d1", 1), ("文", "d2", 2)]


def test_a_run_without_rows_says_so_in_its_summary(tmp_path):
    summary = write([], tmp_path)

    assert (summary.n_rows, summary.n_queries, summary.depth, summary.warnings) == (0, 0, 0, ())
    assert ranking(summary) == query_ids(summary.parquet) == []
    assert hits_against(summary.parquet, {"q": {"d": 1}}) == {}


def test_problems_of_the_reader_are_raised_and_nothing_is_left(tmp_path):
    problems = Problems()
    problems.add("bm25.run", 7, "score is 'n/a'")

    with pytest.raises(FileProblemsError, match=r"bm25\.run:7"):
        write([("q", "d", 1.0)], tmp_path / "made", problems)

    assert list((tmp_path / "made").iterdir()) == []


def test_ties_at_the_top_and_constant_scores_are_warned_of(tmp_path):
    results = [("flat", f"d{n}", 1.0) for n in range(3)]
    results += [("tied", f"d{n}", float(n // 2)) for n in range(4)]
    results += [("deep", f"d{n}", -float(min(n, 10))) for n in range(13)]  # ties from rank 11 on
    results += [("single", "d", 1.0)]

    summary = write(results, tmp_path)

    assert [warning[:20] for warning in summary.warnings] == [
        "1 of 4 queries give ",
        "2 of 4 queries have ",
    ]


def test_top_k_cuts_each_query_and_query_ids_are_in_byte_order(tmp_path):
    results = [(qid, f"d{n}", -float(n)) for qid in ("é", "b", "Z") for n in range(4)]

    summary = write(results, tmp_path)

    assert list(top_k(summary.parquet, 2)) == [
        (qid, f"d{n}", n + 1) for qid in ("Z", "b", "é") for n in range(2)
    ]
    assert query_ids(summary.parquet) == ["Z", "b", "é"]
    assert document_ids(summary.parquet) == ["d0", "d1", "d2", "d3"]


def test_hits_are_the_judged_documents_with_rank_and_grade(tmp_path):
    results = [("q1", f"d{n}", -float(n)) for n in range(5)] + [("q2", "d0", 1.0)]
    qrels = {"q1": {"d3": 2, "d1": 0, "d4": -1, "elsewhere": 3}, "q3": {"d0": 1}}

    hits = hits_against(write(results, tmp_path).parquet, qrels)

    assert hits == {"q1": (5, [(2, 0), (4, 2), (5, -1)]), "q2": (1, [])}


@pytest.mark.parametrize("small_bytes", [0, 1 << 20], ids=["streamed", "in memory"])
def test_hits_are_the_same_however_the_run_is_read(small_bytes, tmp_path, monkeypatch):
    qids = ("é", "b", "q10", "q9", "Z")
    results = [(qid, f"d{n}", n * 7 % 5) for n in range(40) for qid in qids]
    qrels = {qid: {f"d{n}": n % 4 - 1 for n in range(35, 3, -2)} for qid in (*qids[1:], "absent")}
    summary = write(results, tmp_path)
    ranks = {(row.qid, row.docid): row.rank for row in top_k(summary.parquet, 40)}
    monkeypatch.setattr("benchwright.runs.store.SMALL_BYTES", small_bytes)

    hits = hits_against(summary.parquet, qrels)

    judged = {
        qid: sorted((ranks[qid, docid], grade) for docid, grade in qrels.get(qid, {}).items())
        for qid in qids
    }
    assert hits == {qid: (40, judged[qid]) for qid in qids}
    assert list(hits) == ["Z", "b", "q10", "q9", "é"]


def test_hits_take_qrels_as_a_frame_too(tmp_path):
    import polars as pl

    qrels = pl.DataFrame({"qid": ["q"], "docid": ["b"], "grade": [3], "more": ["x"]})

    hits = hits_against(write([("q", "a", 2.0), ("q", "b", 1.0)], tmp_path).parquet, qrels)

    assert hits == {"q": (2, [(2, 3)])}


def test_hits_against_no_qrels_are_none(tmp_path):
    assert hits_against(write([("q", "a", 2.0)], tmp_path).parquet, {}) == {"q": (1, [])}
