"""Every language: its code, its words, its stems."""

import pytest
import Stemmer

from benchwright.languages import NAMES, OTHER_CODES, stemmer_of
from benchwright.retrieval import Parameters, build_index
from benchwright.retrieval.errors import ParameterError, UnknownLanguageError
from benchwright.retrieval.languages import SPACELESS, language_code
from benchwright.retrieval.sparse.analysis import (
    character_bigrams,
    stem_features,
    word_features,
    words_of,
)
from benchwright.retrieval.sparse.systems import SYSTEMS, described

VARIANTS = {"porter", "dutch_porter"}  # other stemmers of English and Dutch


def test_every_language_of_snowball_is_known_by_name_and_code():
    names = set(Stemmer.algorithms()) - VARIANTS

    assert names - set(NAMES.values()) == set()
    assert {stemmer_of(language_code(name)) for name in names} == names


@pytest.mark.parametrize("code", NAMES)
def test_every_known_language_searches_its_own_text(code):
    text = {"zh": "信息检索", "ja": "情報検索", "ko": "정보검색", "th": "ค้นหา"}.get(
        code, "abcdef 7"
    )
    for system in SYSTEMS:
        index = build_index(
            system, [("a", text), ("b", "xyz")], parameters=Parameters(language=NAMES[code])
        )
        assert [docid for docid, _ in index.retrieve(text)] == ["a"]


def test_other_codes_lead_to_languages_that_are_known():
    assert set(OTHER_CODES.values()) - set(NAMES) == set()
    assert not set(OTHER_CODES) & set(NAMES)


@pytest.mark.parametrize("language", ["klingon", "", "e", "12", "englisch sprache"])
def test_word_that_is_no_language_is_refused_with_the_names(language):
    with pytest.raises(UnknownLanguageError, match="yoruba"):
        language_code(language)


def test_language_without_a_stemmer_is_searched_by_its_words():
    assert stemmer_of("vi") is None
    assert stem_features("vi")(["nước"]) == [["nước"]]
    assert stem_features("mi")(["kupu"]) == [["kupu"]]


@pytest.mark.parametrize(
    ("code", "word", "stem"),
    [
        ("de", "häuser", "haus"),
        ("ru", "книгами", "книг"),
        ("fr", "chevaux", "cheval"),
        ("fi", "taloissa", "talo"),
        ("hi", "लड़कों", "लड़क"),
    ],
)
def test_words_of_other_languages_have_their_stems(code, word, stem):
    assert stem_features(code)(words_of(word)) == [words_of(stem)]


def test_vowel_signs_do_not_cut_a_word():
    assert words_of("हिन्दी वाक्य") == ["हिन्दी", "वाक्य"]
    assert words_of("ที่นี่") == ["ที่นี่"]
    assert len(words_of("الْعَرَبِيَّة لُغَة")) == 2


@pytest.mark.parametrize("code", sorted(SPACELESS))
def test_scripts_without_spaces_are_searched_by_pairs(code):
    assert word_features(code) is character_bigrams


def test_pairs_stay_within_a_script_and_lone_characters_stay():
    assert character_bigrams(["漢", "かな2024年", "abc"]) == [
        ["漢"],
        ["かな", "2024", "年"],
        ["abc"],
    ]


def test_part_of_a_chinese_clause_is_found():
    index = build_index(
        "bm25", [("a", "信息检索系统"), ("b", "天气预报")], parameters=Parameters(language="zh")
    )

    assert [docid for docid, _ in index.retrieve("检索")] == ["a"]


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"k1": -0.1}, "k1 is -0.1; expected a number of at least 0"),
        ({"k1": float("nan")}, "k1 is nan"),
        ({"b": 1.1}, "b is 1.1; expected a number from 0 to 1"),
    ],
)
def test_parameters_out_of_range_are_refused(chosen, words):
    with pytest.raises(ParameterError, match=words):
        Parameters(**chosen)


@pytest.mark.parametrize(
    ("system", "language", "words"),
    [
        ("bm25-stem", "sv", "BM25 (k1 = 1.2, b = 0.75) over Snowball Swedish stems"),
        ("bm25-stem", "sw", "BM25 (k1 = 1.2, b = 0.75) over words"),
        ("bm25-stem", "ja", "BM25 (k1 = 1.2, b = 0.75) over character bigrams"),
        ("tfidf-char", "ja", "TF-IDF cosine over 3 to 5 characters within words"),
    ],
)
def test_description_says_what_is_counted(system, language, words):
    assert described(SYSTEMS[system], Parameters(language=language)) == words


def test_descriptions_of_the_systems_are_those_of_their_defaults():
    for system in SYSTEMS.values():
        assert described(system, Parameters()) == system.description


def test_parameters_change_the_weights_as_the_formula_says():
    import math

    index = build_index(
        "bm25", [("a", "red red fish"), ("b", "blue")], parameters=Parameters(k1=2.0, b=0.5)
    )

    [(_, score)] = index.retrieve("red")
    slowing = 2.0 * (0.5 + 0.5 * 3 / 2)
    assert score == pytest.approx(math.log(1 + 1.5 / 1.5) * 2 * 3 / (2 + slowing))


def test_facts_of_an_index_say_how_it_was_made():
    chosen = Parameters(language="de", k1=0.9)
    facts = build_index("bm25-stem", [("a", "x")], parameters=chosen).facts()
    cosine = build_index("tfidf-word", [("a", "x")]).facts()

    assert (facts["language"], facts["k1"], facts["n_documents"]) == ("de", 0.9, 1)
    assert facts["kernel"] == "scipy"
    assert "k1" not in cosine
