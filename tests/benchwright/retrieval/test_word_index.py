"""The index of words on disk: scores by the formula, order, excerpts, and what can go wrong."""

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.retrieval import word_index
from benchwright.retrieval.errors import StoreError
from benchwright.retrieval.sparse.analysis import stem_features, words_of
from benchwright.retrieval.word_index import excerpt, search_words, write_word_index

K1, B = 1.2, 0.75


def made(tmp_path, documents, language: str = "en"):
    path = tmp_path / "words.sqlite"
    write_word_index(path, documents.items(), language=language)
    return path


def features(text: str, language: str = "en") -> list[str]:
    words = words_of(text)
    return [piece for parts in stem_features(language)(words) for piece in parts]


def by_formula(documents: dict[str, str], query: str) -> dict[str, float]:
    """BM25 worked out from the texts: Robertson's weight with SQLite's floor of its logarithm."""
    bags = {docid: Counter(features(text)) for docid, text in documents.items()}
    lengths = {docid: sum(bag.values()) for docid, bag in bags.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores: dict[str, float] = {}
    for feature in set(features(query)):
        n = sum(feature in bag for bag in bags.values())
        weight = max(math.log((len(bags) - n + 0.5) / (n + 0.5)), 1e-6)
        for docid, bag in bags.items():
            if times := bag[feature]:
                norm = times + K1 * (1 - B + B * lengths[docid] / mean)
                scores[docid] = scores.get(docid, 0) + weight * times * (K1 + 1) / norm
    return scores


def test_scores_are_bm25_worked_out_by_hand(tmp_path):
    rng = random.Random(7)
    words = ["rotate", "rotating", "log", "logs", "file", "Müller", "zeit", "pool", "run", "data"]
    documents = {f"d{n}": " ".join(rng.choices(words, k=rng.randint(1, 30))) for n in range(60)}
    path = made(tmp_path, documents)

    for query in ("rotated logs", "müller", "file file data"):
        expected = by_formula(documents, query)
        hits = list(search_words(path, query, language="en"))
        assert {hit.docid for hit in hits} == set(expected)
        for hit in hits:
            assert hit.score == pytest.approx(expected[hit.docid], rel=1e-9)
        order = sorted(expected, key=lambda docid: (-round(expected[docid], 12), docid))
        assert [round(hit.score, 9) for hit in hits] == [round(expected[one], 9) for one in order]


def test_of_equal_documents_the_greater_id_goes_first(tmp_path):
    path = made(tmp_path, {"a": "red fish", "c": "red fish", "b": "red fish", "x": "blue"})

    assert [hit.docid for hit in search_words(path, "red", language="en")] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("text", "query", "language"),
    [
        ("日本語の検索エンジン", "検索", "ja"),
        ("हिन्दी में खोज", "खोज", "hi"),
        ("Die Häuser am See", "haus", "de"),
        ("naïve café", "CAFÉ", "fr"),
    ],
)
def test_words_of_other_scripts_are_found(tmp_path, text, query, language):
    path = made(tmp_path, {"d1": text, "d2": "something else"}, language)

    assert [hit.docid for hit in search_words(path, query, language=language)] == ["d1"]


@pytest.mark.parametrize(
    "words", ['"', "NEAR(a b)", "a OR", "-", "*", "", "   ", "col:x", "'; drop"]
)
def test_what_is_typed_is_words_and_no_language_of_queries(tmp_path, words):
    path = made(tmp_path, {"d1": "near drop col"})

    assert [hit.docid for hit in search_words(path, words, language="en")] in (["d1"], [])


def test_common_words_are_left_out_where_others_tell(tmp_path, monkeypatch):
    monkeypatch.setattr(word_index, "FEW_DOCUMENTS", 5)
    documents = {f"d{n}": "the same" + (" comet" if n == 3 else "") for n in range(20)}
    path = made(tmp_path, documents)

    assert [hit.docid for hit in search_words(path, "the comet", language="en")] == ["d3"]
    assert len(list(search_words(path, "the same", language="en"))) == 20


def test_a_search_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(word_index, "STEPS", 1)
    monkeypatch.setattr(word_index, "MOST_LOOKS", 3)
    path = made(tmp_path, {f"d{n}": "word" for n in range(500)})

    with pytest.raises(StoreError, match="cannot be searched"):
        list(search_words(path, "word", language="en"))


def test_without_an_index_there_is_a_message(tmp_path):
    with pytest.raises(StoreError, match="cannot be searched"):
        list(search_words(tmp_path / "none.sqlite", "word", language="en"))


def test_an_index_is_written_whole_or_not_at_all(tmp_path):
    path = made(tmp_path, {"d1": "old"})

    def breaks():
        yield "d1", "new"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"):
        write_word_index(path, breaks(), language="en")
    assert [hit.docid for hit in search_words(path, "old", language="en")] == ["d1"]


def test_an_excerpt_is_about_the_words():
    text = " ".join(["filler"] * 100 + ["rotate", "the", "log"] + ["filler"] * 100)
    pieces = excerpt(text, "rotating logs", language="en")

    assert [piece for piece, is_match in pieces if is_match] == ["rotate", "log"]
    assert pieces[0] == ("… ", False) and pieces[-1][0].endswith(" …")


def test_little_words_are_not_marked_beside_others():
    pieces = excerpt("a log in it", "a log in it", language="en")

    assert [piece for piece, is_match in pieces if is_match] == ["log"]
    assert excerpt("a b", "a", language="en")[0] == ("a", True)


@given(st.text(max_size=300), st.text(max_size=30))
def test_an_excerpt_is_the_text_and_nothing_else(text, words):
    pieces = excerpt(text, words, language="en", n_words=5)
    inner = "".join(piece for piece, _ in pieces)

    assert inner.removeprefix("… ").removesuffix(" …") in text or inner in text
