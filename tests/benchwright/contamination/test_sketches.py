"""Sketches: near duplicates are found in them, and no text."""

import json

import numpy as np
import pytest

from benchwright.contamination.errors import SaltError, SketchFormatError
from benchwright.contamination.sketches import (
    ROW_BYTES,
    Hasher,
    SketchMatcher,
    check_salt,
    new_salt,
    read_documents,
    read_header,
    read_sketch,
    write_sketch,
)

SALT = "0123456789abcdef"
OUTSIDE = [
    "how long do goldfish live in a bowl",
    "cheapest flights from oslo to lisbon",
    "symptoms of vitamin d deficiency",
]


@pytest.fixture
def sketch(tmp_path):
    path = tmp_path / "train.sketch"
    rows = [(text, [f"d{n}"]) for n, text in enumerate(OUTSIDE)]
    write_sketch(rows, path, hasher=Hasher(SALT))
    return path


def found(path, texts, salt=SALT):
    matcher = SketchMatcher(texts, Hasher(salt))
    for block in read_sketch(path):
        matcher.take(block)
    return matcher.matches()


def test_same_text_is_found_in_whatever_case_and_punctuation(sketch):
    (match,) = found(sketch, ["Cheapest FLIGHTS from Oslo, to Lisbon!"])

    assert (match.is_exact, match.similarity) == (True, 1.0)


def test_same_words_in_another_order_are_found(sketch):
    (match,) = found(sketch, ["flights to lisbon cheapest from oslo"])

    assert (match.is_exact, match.has_same_words, match.n_bands) == (False, True, 32)


def test_a_typo_is_found_by_its_bands(sketch):
    (match,) = found(sketch, ["how long do goldfsh live in a bowl"])

    assert (match.is_exact, match.has_same_words) == (False, False)
    assert match.n_bands >= 8
    assert match.similarity > 0.6


def test_another_question_matches_in_nothing(sketch):
    (match,) = found(sketch, ["who painted the night watch"])

    assert (match.is_exact, match.has_same_words, match.n_bands) == (False, False, 0)


def test_with_another_salt_nothing_matches(sketch):
    (match,) = found(sketch, OUTSIDE[:1], salt=new_salt())

    assert (match.is_exact, match.has_same_words, match.n_bands) == (False, False, 0)


def test_number_of_equal_bands_estimates_how_alike_two_texts_are():
    """32 bands of 4 values each agree with a chance of Jaccard to the fourth."""
    words = [f"{'abcdefghij'[n % 10]}{n}xy{n * 7}" for n in range(400)]
    one, other = " ".join(words[:300]), " ".join(words[50:350])
    hasher = Hasher(SALT)
    ours, theirs = hasher.queries([one]), hasher.queries([other])
    from benchwright.contamination.sketches import _shingles

    a, b = set(_shingles(one)), set(_shingles(other))
    expected = 32 * (len(a & b) / len(a | b)) ** 4

    assert abs(int((ours.bands == theirs.bands).sum()) - expected) < 9


def test_sketch_holds_neither_text_nor_salt_nor_order(sketch, tmp_path):
    shuffled = tmp_path / "other.sketch"
    rows = [(text.upper(), [f"d{n}"]) for n, text in enumerate(OUTSIDE)][::-1]
    write_sketch([*rows, *rows], shuffled, hasher=Hasher(SALT))

    content = sketch.read_bytes()

    assert shuffled.read_bytes() == content
    assert not any(
        word.encode() in content for text in OUTSIDE for word in text.split() if len(word) > 4
    )
    assert SALT.encode() not in content
    assert not any(f"d{n}".encode() + b"\n" in content for n in range(3))


def test_sketch_says_how_it_was_made_and_is_as_long_as_it_says(sketch):
    header = read_header(sketch)

    assert (header.n_queries, header.n_documents, header.salt) == (3, 3, None)
    assert header.salt_check == Hasher(SALT).salt_check
    first, second, body = sketch.read_bytes().split(b"\n", 2)
    assert first == b"benchwright-sketch 1"
    assert json.loads(second)["bands"] == 32
    assert len(body) == 3 * ROW_BYTES + 3 * 8


def test_documents_are_kept_apart_from_queries(sketch):
    known = set(read_documents(sketch).tolist())

    assert set(Hasher(SALT).documents(["d0", "d2"]).tolist()) < known
    assert int(Hasher(SALT).documents(["d9"])[0]) not in known


def test_salt_may_be_put_into_the_file(tmp_path):
    path = tmp_path / "open.sketch"

    write_sketch([("one query", ())], path, hasher=Hasher(SALT), salt_inside=SALT)

    assert read_header(path).salt == SALT


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: b"something else", "is not a sketch"),
        (lambda content: content.replace(b"sketch 1", b"sketch 9", 1), "of version 9"),
        (lambda content: content[:-5], "it was cut short"),
        (lambda content: content.replace(b'"bands"', b'"bonds"', 1), "no header"),
        (lambda content: content.replace(b'"bands": 32', b'"bands": 16', 1), "other bands"),
    ],
)
def test_a_damaged_sketch_says_what_is_wrong(sketch, change, words):
    sketch.write_bytes(change(sketch.read_bytes()))

    with pytest.raises(SketchFormatError, match=words):
        read_header(sketch)


def test_a_short_salt_is_refused():
    with pytest.raises(SaltError, match="expected at least 16"):
        check_salt("salt")


def test_hashes_are_the_same_in_every_process_and_version():
    """A sketch made elsewhere must match; these values may never change within version 1."""
    hashed = Hasher(SALT).queries(["goldfish"])

    assert [hex(int(hashed.exact[0])), hex(int(hashed.bag[0]))] == EXPECTED_KEYS
    assert [int(n) for n in hashed.bands[0, :3]] == EXPECTED_BANDS
    assert hashed.bands.dtype == np.uint32


EXPECTED_KEYS = ["0x4a9fb25c13d5dcf2", "0x2b048e4a09b3bdcf"]
EXPECTED_BANDS = [1385886478, 988213233, 1653236550]
