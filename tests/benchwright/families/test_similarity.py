"""Pairs of like texts, against a plain computation over dictionaries."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.families import minhash, normalised, similar_pairs
from benchwright.families.errors import GroupingOptionError
from benchwright.families.similarity import similar_rows
from benchwright.families.vectors import weighted_grams
from tests.examples import examples

WORDS = st.sampled_from(
    ["card", "cards", "lost", "new", "york", "grow", "a", "why", "3.5", "c++", "é"]
)
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=5).map(" ".join), min_size=1, max_size=14)


def _grams(text):
    padded = f" {normalised(text)} ".ljust(4)
    return Counter(padded[n : n + 4] for n in range(len(padded) - 3))


def plain_cosines(texts_a, texts_b):
    """{(place, place): cosine}, as a person would write TF-IDF down."""
    counts = [_grams(text) for text in [*texts_a, *texts_b]]
    n_with = Counter(gram for count in counts for gram in count)
    rarity = {gram: math.log((1 + len(counts)) / (1 + n)) + 1 for gram, n in n_with.items()}
    weights = [{g: (1 + math.log(n)) * rarity[g] for g, n in c.items()} for c in counts]
    lengths = [math.sqrt(sum(w * w for w in weight.values())) for weight in weights]
    k = len(texts_a)
    return {
        (a, b): sum(w * weights[k + b].get(g, 0) for g, w in weights[a].items())
        / (lengths[a] * lengths[k + b])
        for a in range(k)
        for b in range(len(texts_b))
    }


@settings(max_examples=examples(60))
@given(TEXTS, TEXTS, st.sampled_from([0.3, 0.6, 0.8]))
def test_every_pair_above_the_threshold_is_found_and_no_other(texts_a, texts_b, threshold):
    results = {(a, b): s for a, b, s in similar_pairs(texts_a, texts_b, threshold=threshold)}

    expected = plain_cosines(texts_a, texts_b)

    assert {p for p, s in expected.items() if s > threshold + 1e-4} <= results.keys()
    assert all(abs(results[pair] - expected[pair]) < 1e-5 for pair in results)
    assert all(similarity >= threshold - 1e-4 for similarity in results.values())


@settings(max_examples=30)
@given(TEXTS)
def test_texts_compared_with_themselves_give_each_pair_once(texts):
    rows = weighted_grams(texts)

    alone = {(a, b) for a, b, _ in similar_rows(rows, threshold=0.5)}
    both = {(a, b) for a, b, _ in similar_rows(rows, rows, threshold=0.5)}

    assert alone == {(a, b) for a, b in both if a < b}


def test_pairs_come_in_the_order_of_their_places():
    pairs = similar_pairs(["aaaa bbbb", "cccc", "aaaa bbbb", "aaaa bbbb"], threshold=0.9)

    assert [(a, b) for a, b, _ in pairs] == [(0, 2), (0, 3), (2, 3)]


@pytest.mark.parametrize(("a", "b"), [([], []), ([], ["x"]), (["x"], [])])
def test_nothing_has_no_pairs(a, b):
    assert len(similar_pairs(a, b, threshold=0.5)) == 0


@pytest.mark.parametrize("text", ["a", "é", "?", "ab"])
def test_a_text_shorter_than_a_gram_is_like_itself(text):
    assert [(a, b) for a, b, _ in similar_pairs([text], [text], threshold=0.99)] == [(0, 0)]


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01])
def test_a_threshold_outside_its_range_is_refused(threshold):
    with pytest.raises(GroupingOptionError, match="expected above 0, at most 1"):
        similar_pairs(["a"], threshold=threshold)


def test_blocks_change_nothing(monkeypatch):
    texts = [f"question {n % 7} about {n % 5} things {n}" for n in range(60)]
    whole = list(similar_pairs(texts, threshold=0.6))

    monkeypatch.setattr("benchwright.families.similarity._PRODUCTS_AT_A_TIME", 50)
    monkeypatch.setattr("benchwright.families.similarity._PAIRS_AT_A_TIME", 7)
    monkeypatch.setattr("benchwright.families.vectors._CHUNK", 11)

    assert [p[:2] for p in similar_pairs(texts, threshold=0.6)] == [p[:2] for p in whole]
    assert whole


def test_signatures_estimate_the_jaccard_of_shingles():
    texts = ["the quick brown fox jumps over the lazy dog", "the quick brown fox jumps over a dog"]
    shingles = [{f" {t} "[n : n + 3] for n in range(len(t))} for t in texts]
    jaccard = len(shingles[0] & shingles[1]) / len(shingles[0] | shingles[1])

    signatures = minhash._signatures(texts)

    assert abs(np.mean(signatures[0] == signatures[1]) - jaccard) < 0.15


def test_minhash_finds_nearly_every_pair_of_near_copies():
    texts = [
        f"how do i change the {word} of my card number {n}"
        for n, word in enumerate(["pin", "limit", "name", "design", "colour", "bank"])
    ]
    typos = [text.replace("change", "chnage") for text in texts]

    both = [*texts, *typos]

    a, b, similarity = minhash.alike_pairs(both, weighted_grams(both), least=0.7)

    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert {(n, n + 6) for n in range(6)} <= set(pairs)
    assert pairs == sorted(set(pairs))  # each once, though it is met in many bands
    whole = {(a, b): near for a, b, near in similar_pairs(both, threshold=0.7)}
    assert dict(zip(pairs, similarity.tolist(), strict=True)).items() <= whole.items()


def test_a_crowded_bucket_stays_in_bounds(monkeypatch):
    monkeypatch.setattr(minhash, "_NEIGHBOURS", 3)
    texts = ["the same text"] * 40

    a, _, _ = minhash.alike_pairs(texts, weighted_grams(texts), least=0.9)

    assert a.size == 37 + 38 + 39
