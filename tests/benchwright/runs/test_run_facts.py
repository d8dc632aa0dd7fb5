"""What a run says of its system: the fields, their bounds, ir_metadata, and what is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.runs.facts import (
    BY_NAME,
    FIELDS,
    MAX_OTHERS,
    MAX_TEXT,
    RunFactsError,
    checked,
    facts_of_tree,
    is_safe_link,
    shown_facts,
)
from benchwright.runs.metadata import MetadataFormatError, read_metadata_text

FILE = "ir_metadata.yml"
TREE = {
    "tag": "bm25-rm3",
    "actor": {"team": "Owls"},
    "platform": {"hardware": {"cpu": {"model": "EPYC 7763"}, "gpu": {"model": "A100"}}},
    "implementation": {"source": {"repository": "https://example.org/r", "commit": "ab12cd3"}},
    "data": {"training_data": [{"name": "MS MARCO"}, {"name": "NQ"}]},
    "method": {"retrieval": [{"name": "bm25", "method": "BM25"}, {"name": "rm3"}]},
    "research goal": {"publication": {"doi": "10.1145/1234567.1234568"}},
}


def test_every_field_is_taken_as_it_is_stored():
    fields = {
        "system": "Lucene 9.11",
        "method": "BM25",
        "type": "Sparse",
        "repository": "https://example.org/x",
        "commit": "ab12cd3",
        "training": ["MS MARCO", "NQ"],
        "index": "ann",
        "index_parameters": "HNSW M=32",
        "hardware": "8 cores",
        "latency_ms": 12,
        "paper": "10.1145/1234567.1234568",
        "licence": "Apache-2.0",
    }

    facts = checked(fields)

    assert facts.keys() == BY_NAME.keys()
    assert (facts["type"], facts["training"], facts["latency_ms"]) == ("sparse", "MS MARCO, NQ", 12)
    assert facts["paper"] == "https://doi.org/10.1145/1234567.1234568"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"type": "neural"}, "type: is 'neural'; expected one of sparse"),
        ({"index": "hnsw"}, "expected one of exact, ann, none"),
        ({"latency_ms": "-1"}, "expected a number from 0"),
        ({"latency_ms": "nan"}, "expected a number from 0"),
        ({"latency_ms": "inf"}, "expected a number from 0"),
        ({"repository": "git@example.org:x"}, "repository: is no web address"),
        ({"repository": "https://user:secret@example.org"}, "is no web address"),
        ({"paper": "javascript:alert(1)"}, "paper: is no web address"),
        ({"commit": "ab 12"}, "is no commit"),
        ({"commit": "<b>"}, "is no commit"),
        ({"method": "x" * (MAX_TEXT + 1)}, "at most 500 are kept"),
        ({"method": "a\x1bb"}, "holds a control character"),
        ({"of my own": {"nested": 1}}, "is nested"),
        ({"n" * 81: "x"}, "a name has 1 to 80 characters"),
        ({"ir_metadata": "a text"}, "is no mapping"),
        ({"ir_metadata": {"x": "y" * (65 << 10)}}, "is too large"),
        ({"ir_metadata": {"x": ["\ud800"]}}, "holds a NUL character (U+0000) or half a character"),
        ({str(number): "x" for number in range(MAX_OTHERS + 1)}, "at most 40 facts"),
    ],
)
def test_wrong_fact_is_refused_with_its_name(given, words):
    with pytest.raises(RunFactsError) as caught:
        checked(given)

    assert words in str(caught.value)


def test_all_wrong_fields_are_told_together():
    with pytest.raises(RunFactsError) as caught:
        checked({"type": "x", "latency_ms": "y", "commit": "z z"})

    assert caught.value.fields.keys() == {"type", "latency_ms", "commit"}


def test_description_fills_what_is_left_out_and_is_kept_whole():
    facts = checked({"system": "ours", "ir_metadata": TREE, "seed": 7})

    assert facts == {
        "system": "ours",
        "method": "BM25, rm3",
        "repository": "https://example.org/r",
        "commit": "ab12cd3",
        "training": "MS MARCO, NQ",
        "hardware": "EPYC 7763, A100",
        "paper": "https://doi.org/10.1145/1234567.1234568",
        "seed": "7",
        "ir_metadata": TREE,
    }


def test_reranking_is_a_type_of_its_own():
    assert facts_of_tree({"method": {"reranking": [{"name": "monoT5"}]}}) == {"type": "rerank"}


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_description_breaks_the_reading_of_its_fields(tree):
    result = facts_of_tree({"implementation": tree, "method": tree, "platform": tree, "tag": tree})

    assert all(isinstance(value, str) and value for value in result.values())


@given(st.dictionaries(st.sampled_from([field.name for field in FIELDS]), st.text()))
def test_whatever_is_taken_is_bounded_and_taken_again_as_it_is(given):
    try:
        facts = checked(given)
    except RunFactsError:
        return

    assert checked(facts) == facts
    assert all(len(str(value)) <= MAX_TEXT for value in facts.values())


@pytest.mark.parametrize(
    ("address", "is_safe"),
    [
        ("https://example.org/a?b=c#d", True),
        ("http://127.0.0.1:8000/x", True),
        ("HTTPS://EXAMPLE.ORG", True),
        ("//example.org", False),
        ("https://", False),
        ("https://[", False),
        ("ftp://example.org", False),
        ("data:text/html,x", False),
        ("https://example.org/ x", False),
        ('https://example.org/"onclick', False),
        ("https://example.org/" + "x" * 500, False),
    ],
)
def test_only_web_addresses_become_links(address, is_safe):
    assert is_safe_link(address) is is_safe
    (fact,) = shown_facts({"paper": address})
    assert (fact.href == address) is is_safe


def test_what_is_shown_has_labels_and_no_tree():
    facts = shown_facts({"ir_metadata": TREE, "index": "ann", "latency_ms": 12.5, "own": "x"})

    assert [(fact.label, fact.value) for fact in facts] == [
        ("Index", "approximate (ANN)"),
        ("Latency", "12.5 ms a query"),
        ("own", "x"),
    ]


# --- the text of a description -------------------------------------------------------------


def test_description_is_read_with_and_without_the_marks_of_a_run():
    plain = b"tag: mine\nactor:\n  team: Owls\n"
    comments = b"# ir_metadata.start\n# tag: mine\n# actor:\n#   team: Owls\n# ir_metadata.end\n"

    assert read_metadata_text(plain, file=FILE) == read_metadata_text(comments, file=FILE)
    assert read_metadata_text(plain, file=FILE) == {"tag": "mine", "actor": {"team": "Owls"}}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a: [", "is not YAML (line 1)"),
        (b'a: "\\0"', "holds a NUL character (U+0000) or half a character; remove it"),
        (b"- a\n- b\n", "holds no `name: value`"),
        (b"\xff\xfe\x00", "is not YAML"),
        (b"a: &x [1]\nb: *x\n", "holds an alias (*name) on line 2"),
        (b"a: " + b"x" * (257 << 10), "has more than 256 KiB"),
        (b"a: 1\nb: " + b"[" * 100_000, "is nested more than 64 levels deep on line 2"),
        (b"a: !!python/object/apply:os.system [ls]", "is not YAML"),
    ],
)
def test_text_that_is_no_description_is_refused(content, words):
    with pytest.raises(MetadataFormatError) as caught:
        read_metadata_text(content, file=FILE)

    assert words in str(caught.value)


def test_few_lines_do_not_become_gigabytes():
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]

    with pytest.raises(MetadataFormatError, match="alias"):
        read_metadata_text("\n".join(lines).encode(), file=FILE)
