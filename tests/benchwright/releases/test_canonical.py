"""The digest of a release's content: equal for the same content, however it is written."""

import hashlib
import json

import pytest

from benchwright.corpora.store import StoredDocument
from benchwright.formats.beir_writing import metadata_shape
from benchwright.releases.canonical import content_parts, content_sha256, document_lines
from tests.benchwright.sources import SCALE, made_source

GRADES = {"test": {("q1", "d1"): 2, ("q2", "d1"): 0}, "dev": {("q3", "d2"): 1}}
DOCUMENTS = {"d1": "one", "d2": "two"}


def source(grades=GRADES, **values):
    return made_source(grades, documents=values.pop("documents", DOCUMENTS), **values)


def test_digest_by_hand():
    """Two queries, one grade: every line written out as the module describes it."""
    source = made_source({"test": {("q1", "d1"): 2}}, texts={"q2": "zwei"}, documents={"d1": "one"})

    def of(*lines: str) -> str:
        return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()

    parts = {
        "documents": of('{"_id": "d1", "title": "", "text": "one", "metadata": {}}'),
        "families": of("q1\tq1", "q2\tq2"),
        "queries": of(
            '{"_id": "q1", "text": "about q1", "metadata": {}}',
            '{"_id": "q2", "text": "zwei", "metadata": {}}',
        ),
        "scale": of("[[[0, false], [1, false], [2, true]], 2]"),
        "slices": of(),
        "splits": of('"test"', "q1\td1\t2"),
        "unit": of("document"),
    }
    assert content_parts(source) == parts
    assert content_sha256(source) == hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def test_labels_of_families_do_not_matter_but_who_is_together_does():
    digests = [
        content_sha256(source(families=families))
        for families in ({"q1": "7", "q2": "7"}, {"q1": "q1", "q2": "q1", "q3": "q3"}, {})
    ]

    assert digests[0] == digests[1] != digests[2]


def test_keys_that_say_nothing_do_not_matter():
    bare = source(metadata={})
    result = source(metadata={"q1": {"description": "", "frequency": None, "family": "x"}})

    assert content_sha256(bare) == content_sha256(result)


def test_documents_are_the_same_after_their_metadata_went_through_an_export():
    """A number and a text under one key are written as JSON text; read again they stay so."""
    first = [StoredDocument("a", "", "", '{"n": 1}'), StoredDocument("b", "", "", '{"n": "x"}')]
    shape = metadata_shape(document.metadata for document in first)
    again = [
        StoredDocument(document.docid, "", "", json.dumps(shape.applied(document.metadata)))
        for document in first
    ]
    again.append(StoredDocument("c", "", "", '{"n": null}'))
    first.append(StoredDocument("c", "", "", "{}"))

    lines = [
        list(document_lines(rows, metadata_shape(row.metadata for row in rows)))
        for rows in (first, again)
    ]

    assert lines[0] == lines[1]
    assert json.loads(lines[0][2])["metadata"] == {}


CHANGED = {
    "a grade": {"grades": {**GRADES, "dev": {("q3", "d2"): 2}}},
    "a split": {"grades": {"test": {**GRADES["test"], ("q3", "d2"): 1}}},
    "a text": {"texts": {"q1": "another"}},
    "a query without grades": {"texts": {"q9": "more"}},
    "what is known of a query": {"metadata": {"q1": {"description": "said"}}},
    "a document": {"documents": {**DOCUMENTS, "d2": "zwei"}},
    "a document's metadata": {"document_metadata": '{"year": 1999}'},
    "no texts": {"documents": None},
    "a slice": {"slices": {"short": ("q1",)}},
    "a weight": {"weights": {"q1": 2.0}},
    "the unit": {"unit": "passage"},
    "the threshold": {"threshold": 1},
    "the scale": {"scale": (*SCALE, {"value": 3, "name": "best", "is_relevant": True})},
}


@pytest.mark.parametrize("change", CHANGED)
def test_digest_tells_of_a_change_in(change):
    values = dict(CHANGED[change])
    if "scale" in values:
        values["grades_"] = values.pop("scale")
        made = made_source(GRADES, documents=DOCUMENTS)
        changed = type(made)(**{**made.__dict__, "grades": values["grades_"]})
    else:
        changed = source(values.pop("grades", GRADES), **values)

    assert content_sha256(changed) != content_sha256(source())


def test_digest_does_not_tell_of_what_is_no_content():
    changed = source(version="2.0.0", licence="none", title="Another", weights={"q8": 1.0})

    assert content_sha256(changed) == content_sha256(source())


def test_pair_that_was_pooled_and_not_judged_is_no_grade():
    more = {**GRADES, "test": {**GRADES["test"], ("q1", "d2"): -1}}

    assert content_sha256(source(more)) == content_sha256(source())
