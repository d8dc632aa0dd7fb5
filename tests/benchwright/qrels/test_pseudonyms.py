"""Names that stand for people."""

import base64
import hashlib
import re

from benchwright.qrels.raw_judgments import pseudonym


def by_hand(person: int, benchmark: int, secret: bytes) -> str:
    """HMAC-SHA256 as RFC 2104 writes it, for a secret that fits a block."""
    key = secret.ljust(64, b"\0")
    inner = hashlib.sha256(
        bytes(b ^ 0x36 for b in key) + f"pseudonym\n{benchmark}\n{person}".encode()
    )
    outer = hashlib.sha256(bytes(b ^ 0x5C for b in key) + inner.digest()).digest()
    return "annotator-" + base64.b32encode(outer[:5]).decode().lower()


def test_name_is_the_start_of_an_hmac_with_the_sites_secret():
    assert pseudonym(7, benchmark=3, secret="kept") == by_hand(7, 3, b"kept")


def test_name_is_the_same_each_time_and_looks_like_one():
    name = pseudonym(7, benchmark=3, secret="kept")

    assert name == pseudonym(7, benchmark=3, secret="kept")
    assert re.fullmatch(r"annotator-[a-z2-7]{8}", name)


def test_name_is_another_for_another_person_benchmark_or_secret():
    names = {
        pseudonym(person, benchmark=benchmark, secret=secret)
        for person in (1, 11)
        for benchmark in (1, 11)
        for secret in ("kept", "other")
    }

    assert len(names) == 8


def test_thousand_people_have_a_thousand_names():
    assert len({pseudonym(n, benchmark=1, secret="kept") for n in range(1000)}) == 1000
