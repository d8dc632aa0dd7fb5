"""Names of collections, and what is said of those that are none."""

import re

import pytest

from benchwright.fetching.errors import CollectionNameError
from benchwright.fetching.names import KNOWN_BEIR, Collection, Kind, read_collection


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" beir:scifact ", Collection(Kind.BEIR, "scifact")),
        ("BEIR:SciFact", Collection(Kind.BEIR, "scifact")),
        ("beir:cqadupstack/tex", Collection(Kind.BEIR, "cqadupstack", "tex")),
        ("hub:mteb/scifact", Collection(Kind.HUB, "mteb/scifact")),
        ("hub:a/b@v1.0", Collection(Kind.HUB, "a/b", "v1.0")),
        ("hub:a/b/data/de-*@main", Collection(Kind.HUB, "a/b", "main", "data/de-*")),
        ("irds:beir/scifact/test", Collection(Kind.IRDS, "beir/scifact/test")),
    ],
)
def test_a_name_is_read(text, expected):
    collection = read_collection(text)

    assert collection == expected
    assert read_collection(str(collection)) == collection


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("scifact", "write beir:scifact, hub:owner/name or irds:vaswani"),
        ("http://example.org/x.zip", "write beir:scifact"),
        ("beir:", "write beir:scifact"),
        ("beir:scifakt", "BEIR has arguana, climate-fever,"),
        ("beir:robust04", "its texts may not be passed on"),
        ("beir:cqadupstack", "it is twelve collections"),
        ("beir:cqadupstack/php", "it is twelve collections"),
        ("beir:scifact/test", "scifact has no parts; write beir:scifact"),
        ("hub:scifact", "write owner and name"),
        ("hub:../../etc", "write owner and name"),
        ("hub:a/b/../c", "after the name comes a folder or a pattern"),
        ("hub:a/b/c d", "after the name comes a folder or a pattern"),
        ("hub:a/b@", "a revision is a branch, a tag or a commit"),
        ("hub:a/b@../x", "a revision is a branch, a tag or a commit"),
        ("irds:../x", "is written as in irds:beir/scifact/test"),
    ],
)
def test_what_is_no_name_says_what_would_be(text, why):
    with pytest.raises(CollectionNameError, match=re.escape(why)):
        read_collection(text)


def test_every_set_of_beir_has_a_whole_md5():
    assert all(re.fullmatch(r"[0-9a-f]{32}", md5) for md5 in KNOWN_BEIR.values())
    assert len(set(KNOWN_BEIR.values())) == len(KNOWN_BEIR) == 15
