"""The demo's queries and grades are whole, and fit the corpus and pool of this interpreter."""

import csv
import json
import re
from collections import Counter
from datetime import date
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

from benchwright.datasets.demo import collect_docstrings
from benchwright.detection import FileKind, Part, guess
from benchwright.detection.rows import query_rows
from benchwright.errors import Problems
from benchwright.files.inputs import FileInput
from benchwright.ids import text_hash
from benchwright.retrieval import SYSTEMS, build_index

DEMO = Path(__file__).resolve().parent.parent / "fixtures" / "demo"
GRADES_HEADER = "query-id\tcorpus-id\tgrade\treason\ttext-hash"
DEPTH = 10
# Ranks 6 to 10 were not graded for the queries that wait: their grades are for looking things up.
N_WAITING, DEPTH_OF_WAITING = 12, 5
# Docstrings change with every Python; beyond these shares the grades should be given anew.
MOST_STALE = 0.15
MOST_UNGRADED = 0.05

Pair = tuple[str, str]


class Label(NamedTuple):
    """One line of the grades."""

    qid: str
    docid: str
    grade: str
    reason: str
    text_hash: str

    @property
    def pair(self) -> Pair:
        return self.qid, self.docid


@cache
def queries() -> list[dict]:
    lines = (DEMO / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@cache
def grade_lines() -> list[str]:
    return (DEMO / "grades.tsv").read_text(encoding="utf-8").splitlines()


@cache
def labels() -> list[Label]:
    return [Label(*line.split("\t")) for line in grade_lines()[1:]]


@cache
def second_sample() -> list[Pair]:
    with (DEMO / "second_sample.tsv").open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["query-id"], row["corpus-id"]) for row in rows]


@cache
def documents() -> dict[str, tuple[str, str]]:
    return {d.docid: (d.title, d.text) for d in collect_docstrings()}


@cache
def results() -> list[tuple[str, list[str]]]:
    """The first ten documents of each of the four systems, for every query."""
    texts = [(docid, f"{title} {text}") for docid, (title, text) in documents().items()]
    asked = [(query["_id"], query["text"]) for query in queries()]
    indexes = (build_index(system, texts) for system in SYSTEMS)
    result = chain.from_iterable(index.search(asked, k=DEPTH) for index in indexes)
    return [(qid, [docid for docid, _ in hits]) for qid, hits in result]


@cache
def waiting() -> frozenset[str]:
    return frozenset(query["_id"] for query in queries()[-N_WAITING:])


@cache
def pool() -> frozenset[Pair]:
    """What the grades are of: ten documents of each system, five for queries that wait."""
    depths = {qid: DEPTH_OF_WAITING if qid in waiting() else DEPTH for qid, _ in results()}
    return frozenset((qid, docid) for qid, hits in results() for docid in hits[: depths[qid]])


def test_there_are_sixty_queries_with_ids_in_order():
    assert [query["_id"] for query in queries()] == [f"d-q{n:02d}" for n in range(1, 61)]


def test_every_query_has_the_same_fields_and_none_is_empty():
    fields = ["_id", "text", "family", "description", "narrative", "frequency", "first_seen"]

    assert [query["_id"] for query in queries() if list(query) != fields] == []
    assert [query["_id"] for query in queries() if not all(query.values())] == []


def test_the_query_reader_of_the_site_accepts_all_queries(tmp_path):
    problems, queries = Problems(), FileInput(DEMO / "queries.jsonl")
    part = Part("", FileKind.QUERIES, guess(queries, tmp_path).mapping)
    rows = list(query_rows(part, queries, folder=tmp_path, problems=problems))

    assert len(rows) == 60
    assert problems.found == []


def test_frequencies_are_counts_and_dates_lie_in_2025_and_2026():
    assert all(type(query["frequency"]) is int and query["frequency"] > 0 for query in queries())
    assert {date.fromisoformat(query["first_seen"]).year for query in queries()} == {2025, 2026}


def test_texts_differ_and_are_single_lines():
    texts = [query["text"] for query in queries()]

    assert len(set(map(str.casefold, texts))) == 60
    assert [text for text in texts if text != " ".join(text.split())] == []


def test_24_families_have_two_or_three_wordings_each():
    sizes = Counter(query["family"] for query in queries())

    assert Counter(sizes.values()) == {2: 12, 3: 12}


def test_a_family_shares_one_need_and_one_narrative():
    needs = {(query["family"], query["description"], query["narrative"]) for query in queries()}

    assert len(needs) == 24


def test_grades_are_a_table_of_five_columns_sorted_by_ids_without_repeats():
    pairs = [label.pair for label in labels()]

    assert grade_lines()[0] == GRADES_HEADER
    assert pairs == sorted(set(pairs))


def test_every_grade_is_0_to_3_and_of_a_known_query():
    known = {query["_id"] for query in queries()}

    assert {label.grade for label in labels()} == {"0", "1", "2", "3"}
    assert {label.qid for label in labels()} == known


def test_every_grade_from_2_up_has_a_reason_and_lower_ones_have_none():
    odd = [label.pair for label in labels() if bool(label.reason) != (label.grade >= "2")]

    assert odd == []
    assert all(label.reason == label.reason.strip() for label in labels())


def test_a_document_has_one_grade_for_all_wordings_of_a_family():
    family = {query["_id"]: query["family"] for query in queries()}
    grades = {(family[label.qid], label.docid, label.grade) for label in labels()}

    assert len(grades) == len({(name, docid) for name, docid, _ in grades})


def test_a_document_was_graded_for_one_and_the_same_text_everywhere():
    hashes = {(label.docid, label.text_hash) for label in labels()}

    assert len(hashes) == len({docid for docid, _ in hashes})
    assert [h for _, h in hashes if not re.fullmatch("[0-9a-f]{16}", h)] == []


def test_the_pool_of_this_interpreter_is_graded(record_property):
    graded = {label.pair for label in labels()}

    missing = sorted(pool() - graded)

    record_property("ungraded_pairs", f"{len(missing)} of {len(pool())}")
    assert len(missing) <= MOST_UNGRADED * len(pool()), (
        f"{len(missing)} of {len(pool())} pooled pairs have no grade, the first: {missing[:5]}"
    )


def test_most_grades_were_given_for_the_text_of_this_interpreter(record_property):
    pooled = [label for label in labels() if label.pair in pool()]

    stale = [x.pair for x in pooled if text_hash(*documents()[x.docid]) != x.text_hash]

    record_property("stale_labels", f"{len(stale)} of {len(pooled)}")
    assert len(stale) <= MOST_STALE * len(pooled), (
        f"{len(stale)} of {len(pooled)} labels are stale, the first: {stale[:5]}"
    )


def test_the_grades_hold_nothing_that_no_python_pools():
    """Other versions add about one pair in ten; much more would be grades of forgotten wordings."""
    foreign = {label.pair for label in labels()} - pool()

    assert len(foreign) < 0.2 * len(labels())


def test_the_second_sample_is_100_graded_pairs_in_no_order():
    sample = second_sample()

    assert len(set(sample)) == 100
    assert set(sample) <= {label.pair for label in labels()}
    assert sample != sorted(sample)


@pytest.mark.parametrize(("grade", "expected"), [("0", 40), ("1", 20), ("2", 20), ("3", 20)])
def test_the_second_sample_has_every_first_grade(grade: str, expected: int):
    first = {label.pair: label.grade for label in labels()}

    assert [first[pair] for pair in second_sample()].count(grade) == expected


def test_the_second_sample_does_not_show_the_first_grades():
    header = (DEMO / "second_sample.tsv").read_text(encoding="utf-8").splitlines()[0]

    assert header == "query-id\tcorpus-id"


def test_the_second_grades_are_those_of_the_sample():
    rows = (DEMO / "second_grades.tsv").read_text("utf-8").splitlines()
    sample = (DEMO / "second_sample.tsv").read_text("utf-8").splitlines()

    assert {tuple(row.split("\t")[:2]) for row in rows} == {tuple(r.split("\t")) for r in sample}
    assert len(rows) == 101
    assert {row.split("\t")[2] for row in rows[1:]} == {"0", "1", "2", "3"}


# --- practice and hidden checks ------------------------------------------------------------------


def known() -> list[dict[str, str]]:
    with (DEMO / "known.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_ten_documents_are_for_practice_and_show_every_grade():
    practice = [row for row in known() if row["purpose"] == "practice"]

    assert len(practice) == 10
    assert {row["grade"] for row in practice} == {"0", "1", "2", "3"}
    assert [row for row in known() if not row["explanation"]] == []
    assert {row["corpus-id"] for row in known()} <= documents().keys()


def test_known_grades_are_ours_of_the_same_need():
    """A check is a document that was graded for another wording of its query's family."""
    family = {query["_id"]: query["family"] for query in queries()}
    ours = {(family[label.qid], label.docid): label.grade for label in labels()}

    for row in known():
        assert ours[family[row["query-id"]], row["corpus-id"]] == row["grade"], row


def test_practice_is_of_graded_queries_and_checks_of_waiting_ones():
    """Checks come with the query that is judged, and only beside its pool are they ready."""
    checks = {(row["query-id"], row["corpus-id"]) for row in known() if row["purpose"] == "gold"}

    for row in known():
        assert (row["query-id"] in waiting()) == (row["purpose"] == "gold"), row
    # Another release of Python may pool one of them.
    assert len(checks & {(qid, docid) for qid, hits in results() for docid in hits}) <= 2
