import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import CutoffError, DuplicateDocumentError, UnknownSystemError
from benchwright.retrieval import SYSTEMS, build_index
from benchwright.retrieval.errors import ParameterError
from benchwright.retrieval.sparse.analysis import (
    character_ngrams,
    same_words,
    stem_features,
    words_of,
)

THREE = [("a", "red fish"), ("b", "red red bird"), ("c", "blue")]
WORDS = st.lists(st.sampled_from(["red", "blue", "fishes", "fish", "at", "é"]), max_size=6)
TEXTS = st.lists(WORDS.map(" ".join), max_size=8)


def search(system, documents, *texts, k=10, **options):
    queries = [(f"q{number}", text) for number, text in enumerate(texts)]
    return [found for _, found in build_index(system, documents).search(queries, k=k, **options)]


def test_bm25_equals_the_formula_done_by_hand():
    [answer] = search("bm25", THREE, "red fish")

    # 3 documents of 2, 3 and 1 words, mean 2; red is in 2 documents, fish in 1.
    red, fish = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    a = (red + fish) * 1 * 2.2 / (1 + 1.2 * 1.0)
    b = red * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 1.5))
    assert [docid for docid, _ in answer] == ["a", "b"]
    assert [score for _, score in answer] == pytest.approx([a, b])


def test_one_text_in_place_of_many_is_refused_before_its_letters_are_queries():
    with pytest.raises(ParameterError, match="texts is one text; expected a list of texts"):
        build_index("bm25", THREE).retrieve_many("red fish")


def test_documents_and_queries_may_be_texts_by_id_or_title_and_text():
    apart = {"a": {"title": "red", "text": "fish"}, "b": {"text": "red red bird"}, "c": "blue"}

    for documents in (dict(THREE), apart):
        answers = build_index("bm25", documents).search({"q0": "red fish"}, k=10)
        assert [found for _, found in answers] == search("bm25", THREE, "red fish")


def test_word_repeated_in_the_query_counts_twice_in_bm25():
    [once, twice] = search("bm25", THREE, "red", "red red")

    assert [score for _, score in twice] == pytest.approx([2 * score for _, score in once])


def test_tfidf_cosine_equals_the_formula_done_by_hand():
    [answer] = search("tfidf-word", THREE, "red")

    red, fish = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    b = (1 + math.log(2)) * red / math.hypot((1 + math.log(2)) * red, fish)
    assert answer == [("b", pytest.approx(b)), ("a", pytest.approx(red / math.hypot(red, fish)))]


def test_stemming_finds_another_form_of_the_word():
    documents = [("a", "two boundaries"), ("b", "none")]

    assert search("bm25", documents, "boundary") == [[]]
    assert [docid for docid, _ in search("bm25-stem", documents, "Boundary")[0]] == ["a"]


def test_character_ngrams_find_a_misspelled_word():
    [answer] = search("tfidf-char", [("a", "temperature"), ("b", "bird")], "temprature")

    assert [docid for docid, _ in answer] == ["a"]


def test_character_ngrams_stay_within_words():
    assert character_ngrams(["ab", "x"]) == [[" ab", "ab ", " ab "], [" x "]]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("text", ["", "   ", "?!", "qwxyz"])
def test_query_without_a_known_word_finds_nothing(system, text):
    assert search(system, THREE, text, "red")[0] == []


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("documents", [[], [("a", "")], [("a", ""), ("b", "...")]])
def test_corpus_without_words_finds_nothing(system, documents):
    assert search(system, documents, "red", "") == [[], []]


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_queries_give_no_results(system):
    assert search(system, THREE) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_ties_go_by_descending_bytes_of_the_id_also_at_the_cut(system):
    ids = ["d1", "d10", "d2", "é", "z", "\U0001f41f", "\uffee"]  # the last two swap in UTF-16
    documents = [(docid, "red fish") for docid in ids]

    [answer] = search(system, documents, "fish", k=5)

    assert [docid for docid, _ in answer] == ["\U0001f41f", "\uffee", "é", "z", "d2"]


def test_text_is_matched_whatever_its_case_and_width():
    documents = [("a", "Stra\u00dfe"), ("b", "\uff32\uff25\uff21\uff24")]

    [street, read] = search("bm25", documents, "STRASSE", "read")

    assert (street[0][0], read[0][0]) == ("a", "b")


@pytest.mark.parametrize("k", [0, -1])
def test_depth_below_one_is_refused_at_the_call(k):
    with pytest.raises(CutoffError, match="at least 1"):
        build_index("bm25", THREE).search([("q", "red")], k=k)


def test_unknown_system_is_refused_with_the_names_there_are():
    with pytest.raises(UnknownSystemError, match="bm25-stem"):
        build_index("bm26", THREE)


def test_document_given_twice_is_refused_by_name():
    with pytest.raises(DuplicateDocumentError, match="'b' is in the corpus 2 times"):
        build_index("bm25", [*THREE, ("b", "again")])


def test_progress_ends_at_all_queries(monkeypatch):
    monkeypatch.setattr("benchwright.retrieval.sparse.index.QUERIES", 2)
    results = []

    queries = [(str(number), "red") for number in range(5)]
    index = build_index("bm25", THREE)
    list(index.search(queries, k=1, progress=lambda *seen: results.append(seen)))

    assert results == [(2, 5), (4, 5), (5, 5)]


@pytest.mark.parametrize("system", SYSTEMS)
@given(texts=TEXTS, queries=TEXTS, k=st.integers(1, 9))
def test_order_of_the_corpus_and_company_of_a_query_change_nothing(system, texts, queries, k):
    documents = [(f"d{number}", text) for number, text in enumerate(texts)]

    whole = search(system, documents, *queries, k=k)

    backwards = build_index(system, documents[::-1])
    assert [backwards.retrieve(text, k) for text in queries] == whole


EXPANSIONS = {
    "bm25": same_words,
    "bm25-stem": stem_features("en"),
    "tfidf-word": same_words,
    "tfidf-char": character_ngrams,
}


@pytest.mark.parametrize("system", SYSTEMS)
@given(texts=TEXTS, query=WORDS.map(" ".join), k=st.integers(1, 9))
def test_results_equal_a_naive_scan_of_every_document(system, texts, query, k):
    documents = {f"d{number}": text for number, text in enumerate(texts)}

    [answer] = search(system, list(documents.items()), query, k=k)

    naive = naive_scores(system, documents, query)
    expected = sorted((score for score in naive.values() if score > 0), reverse=True)[:k]
    assert [score for _, score in answer] == pytest.approx(expected)
    assert [score for _, score in answer] == pytest.approx([naive[docid] for docid, _ in answer])
    assert answer == sorted(answer, key=lambda hit: (hit[1], hit[0].encode()), reverse=True)


def naive_scores(system, documents, query):
    """Scores of all documents by loops over every feature, straight from the formulas."""

    def features(text):
        return [item for items in EXPANSIONS[system](words_of(text)) for item in items]

    bags = {docid: features(text) for docid, text in documents.items()}
    every = {item for bag in bags.values() for item in bag}
    df = {item: sum(item in bag for bag in bags.values()) for item in every}
    idf = {item: math.log(1 + (len(bags) - n + 0.5) / (n + 0.5)) for item, n in df.items()}
    asked = [item for item in features(query) if item in every]
    if system.startswith("bm25"):
        return {docid: naive_bm25(bag, bags, asked, idf) for docid, bag in bags.items()}
    return {docid: naive_cosine(bag, asked, idf) for docid, bag in bags.items()}


def naive_bm25(bag, bags, asked, idf):
    mean = sum(map(len, bags.values())) / len(bags) or 1
    slowing = 1.2 * (0.25 + 0.75 * len(bag) / mean)
    return sum(idf[w] * bag.count(w) * 2.2 / (bag.count(w) + slowing) for w in asked)


def naive_cosine(bag, asked, idf):
    def vector(items):
        return {w: (1 + math.log(items.count(w))) * idf[w] for w in items}

    left, right = vector(bag), vector(asked)
    product = sum(left[w] * right[w] for w in left.keys() & right.keys())
    return product / math.hypot(*left.values()) / math.hypot(*right.values()) if product else 0.0
