"""Queries against a list from outside: as a file of any shape, and as a sketch."""

import gzip
import json

import pytest

from benchwright.contamination import (
    Degree,
    OurQuery,
    OutsideQuery,
    by_slice,
    check_queries,
    check_sketch,
    checking,
    read_outside,
)
from benchwright.contamination.errors import OutsideColumnError
from benchwright.contamination.sketches import Hasher, read_header, write_sketch
from benchwright.errors import FileProblemsError, Problems
from benchwright.families.vectors import weighted_grams

SALT = "0123456789abcdef"
OURS = [
    OurQuery("case", "How long do GOLDFISH live in a bowl?"),
    OurQuery("order", "to lisbon cheapest flights from oslo"),
    OurQuery("typo", "symptoms of vitamin d deficiancy"),
    OurQuery("clean", "who painted the night watch", frozenset({"d1"})),
    OurQuery("document", "reset a forgotten router password", frozenset({"d2", "d9"})),
]
OUTSIDE = [
    "how long do goldfish live in a bowl",
    "cheapest flights from oslo to lisbon",
    "symptoms of vitamin d deficiency",
]


def read(path, name=""):
    problems = Problems()
    rows = read_outside(path, file=name or path.name, folder=path.parent, problems=problems)
    results = [(row.text, row.documents) for row in rows]
    problems.raise_found()
    return results


def degrees(matches):
    return {match.qid: match.degree for match in matches}


def test_long_outside_queries_are_compared_few_at_a_time(monkeypatch):
    monkeypatch.setattr(checking, "CHARACTERS_AT_ONCE", 60)
    results = []

    check_queries(
        OURS,
        (OutsideQuery(n, "words " * 6) for n in range(5)),
        tell=lambda done, total, what: results.append(done),
    )

    assert results == [2, 4, 5]


def test_each_kind_of_contamination_is_named_with_the_outside_text():
    rows = [OutsideQuery(1, OUTSIDE[0]), OutsideQuery(2, OUTSIDE[1])]
    rows += [OutsideQuery(3, OUTSIDE[2]), OutsideQuery(4, "something else", ("d2",))]

    matches, n = check_queries(OURS, rows)

    assert n == 4
    assert degrees(matches) == {
        "case": Degree.EXACT,
        "order": Degree.NEAR,
        "typo": Degree.NEAR,
        "document": Degree.DOCUMENT,
    }
    by_qid = {match.qid: match for match in matches}
    assert by_qid["typo"].outside == OUTSIDE[2]
    assert by_qid["document"].similarity == 0.5
    assert by_qid["document"].outside == "d2"


def test_the_surest_match_of_a_query_is_kept():
    rows = [OutsideQuery(1, "how long does goldfish live in bowls"), OutsideQuery(2, OUTSIDE[0])]

    matches, _ = check_queries(OURS[:1], rows)

    assert [(match.degree, match.similarity) for match in matches] == [(Degree.EXACT, 1.0)]


def test_an_outside_query_that_is_one_of_ours_is_alike_to_another_of_ours():
    ours = [OURS[0], OurQuery("near", "how long do goldfish live in a bowl please")]

    matches, _ = check_queries(ours, [OutsideQuery(1, OUTSIDE[0])])

    assert degrees(matches) == {"case": Degree.EXACT, "near": Degree.POSSIBLE}


def test_a_list_that_has_nothing_of_ours_finds_nothing():
    matches, n = check_queries(OURS, [OutsideQuery(1, "tallest building in chicago")])

    assert (matches, n) == ([], 1)


def test_the_same_is_found_in_a_sketch_without_its_texts(tmp_path):
    path = tmp_path / "train.sketch"
    hasher = Hasher(SALT)
    write_sketch([(text, ["d2"]) for text in OUTSIDE], path, hasher=hasher)

    matches = check_sketch(OURS, path, header=read_header(path), hasher=hasher)

    assert degrees(matches) == {
        "case": Degree.EXACT,
        "order": Degree.NEAR,
        "typo": Degree.NEAR,
        "document": Degree.DOCUMENT,
    }
    assert not any(match.outside for match in matches if match.degree is not Degree.DOCUMENT)


def test_counts_by_slice_and_the_clean_subset_are_those_computed_by_hand():
    matches, _ = check_queries(OURS, [OutsideQuery(n, text) for n, text in enumerate(OUTSIDE)])
    qids = [query.qid for query in OURS]

    rows = by_slice(qids, matches, {"travel": ["order", "clean"], "empty": []})

    assert rows[0] == {
        "name": "all queries",
        "n": 5,
        "n_exact": 1,
        "n_near": 2,
        "n_possible": 0,
        "n_document": 0,
        "n_clean": 2,
    }
    assert [(row["name"], row["n"], row["n_clean"]) for row in rows[1:]] == [
        ("empty", 0, 0),
        ("travel", 2, 1),
    ]


# --- files of any shape --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", "one, two\n\nthree\n", [("one, two", ()), ("three", ())]),
        ("a.txt", "what is text\nhow\n", [("what is text", ()), ("how", ())]),
        ("a.tsv", "1\tone two\n2\tthree\n", [("one two", ()), ("three", ())]),
        ("a.tsv", "1\tone\td1 d2\n", [("one", ("d1", "d2"))]),
        ("a.tsv", "qid\tquery\tdocid\n1\tone\td1\n", [("one", ("d1",))]),
        ("a.csv", 'query,relevant\n"one, two",d1\n', [("one, two", ("d1",))]),
        ("a.csv", "query;relevant\none, two;d1\n", [("one, two", ("d1",))]),
        ("a.csv", "sep=;\nquery;relevant\none, two;d1\n", [("one, two", ("d1",))]),
        ("a.jsonl", '{"_id": "1", "text": "one"}\n', [("one", ())]),
        (
            "a.jsonl",
            '{"query": "one", "positive_passages": [{"docid": "d1"}, {"docid": "d2"}]}\n',
            [("one", ("d1", "d2"))],
        ),
    ],
)
def test_a_list_of_queries_is_read_in_whatever_shape(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_text(content)
    packed = tmp_path / f"packed-{name}.gz"
    packed.write_bytes(gzip.compress(content.encode()))

    assert read(path) == expected
    assert read(packed, f"{name}.gz") == expected


def test_parquet_is_read(tmp_path):
    import polars as pl

    path = tmp_path / "a.parquet"
    pl.DataFrame({"query": ["one", "two"], "pos": [["d1"], []]}).write_parquet(path)

    assert read(path) == [("one", ("d1",)), ("two", ())]


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("a.jsonl", '{"body": "one"}\n', OutsideColumnError, "the columns are body"),
        ("a.jsonl", '{"text": 7}\n', FileProblemsError, "a.jsonl:1: text is 7"),
        ("a.jsonl", '{"text": "x \\ud800"}\n', FileProblemsError, "a.jsonl:1: text holds half a"),
        ("a.txt", b"one \xc3\xa9\n\xff\n", FileProblemsError, "a.txt:2: byte 1 is not UTF-8"),
        ("a.tsv", "1\tone\n2\t \n", FileProblemsError, "a.tsv:2: column 2 is"),
    ],
)
def test_a_list_that_cannot_be_read_says_where(tmp_path, name, content, error, words):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(error) as raised:
        read(path)

    assert words in str(raised.value)


def test_metadata_beside_the_text_does_no_harm(tmp_path):
    path = tmp_path / "queries.jsonl"
    row = {"_id": "1", "text": "one", "metadata": {"family": "a"}}
    path.write_text(json.dumps(row) + "\n")

    assert read(path) == [("one", ())]


def test_likeness_of_the_same_words_is_that_of_the_two_texts():
    ours = [OurQuery("q", "red door handle for an old house"), OurQuery("other", "goldfish")]
    text = "an old house red handle for door"

    matches, _ = check_queries(ours, [OutsideQuery(1, text)])

    rows = weighted_grams([query.text for query in ours] + [text])
    [match] = matches
    assert match.degree == Degree.NEAR
    assert match.similarity == pytest.approx((rows @ rows.T).toarray()[0, 2])
    assert match.similarity != pytest.approx(0.8)
