"""What is masked, what is not, and that what looks alike is left alone."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.logs.errors import MaskKindError
from benchwright.logs.masking import KIND_LABELS, checked_kinds, masked

PERSONAL = [
    ("mail jo.doe+news@mail.example.org now", "mail [email] now", "email"),
    ("jürgen@müller.de", "[email]", "email"),
    ("call +47 22 85 50 50", "call [phone]", "phone"),
    ("00 49 30 123456 fax", "00 49 30 123456 fax", ""),
    ("0049 30 1234567 fax", "[phone] fax", "phone"),
    ("(555) 234-5678 who is it", "[phone] who is it", "phone"),
    ("555-234-5678", "[phone]", "phone"),
    ("030/1234 5678 berlin", "[phone] berlin", "phone"),
    ("pay DE89 3704 0044 0532 0130 00 today", "pay [iban] today", "iban"),
    ("gb82west12345698765432", "[iban]", "iban"),
    ("4111 1111 1111 1111 declined", "[card] declined", "card"),
    ("5500-0055-5555-5559", "[card]", "card"),
    ("who is 81.2.69.142", "who is [ip]", "ip"),
    ("ping 2a00:1450:4001:81b::200e", "ping [ip]", "ip"),
    ("parcel 00340434161094042557", "parcel [number]", "number"),
    ("account 12345678901", "account [number]", "number"),
    ("http://bo:secret@host/x", "http://[credentials]host/x", "credentials"),
    ("site.org/a?b=1&token=abc123&c=2", "site.org/a?b=1&token=[credentials]&c=2", "credentials"),
    ("password: hunter2", "password: [credentials]", "credentials"),
    ("api_key=9f8a7c6b5d", "api_key=[credentials]", "credentials"),
    ("Passwort = sonnenschein", "Passwort = [credentials]", "credentials"),
    ("my password is hunter2", "my password is [credentials]", "credentials"),
    ("anna (at) example.org", "[email]", "email"),
    ("anna[at]example[dot]org", "[email]", "email"),
    ("write anna at example dot org", "write [email]", "email"),
    ("AHV 756.9217.0769.85", "AHV [id]", "id"),
    ("ssn 123-45-6789", "ssn [id]", "id"),
    ("my name is Mary Ann Smith and i need help", "my name is [name] and i need help", "name"),
    ("hallo ich heiße jürgen", "hallo ich heiße [name]", "name"),
    ("jeg heter kari nordmann", "jeg heter [name]", "name"),
]
HARMLESS = [
    "c++ 3.5",
    "python 3.11.4 vs 3.12.0",
    "java 1.8.0.202 download",
    "chrome 120.0.6099.109",
    "error 0x80070005",
    "error 0x800700050000",
    "ORA-00942",
    "HTTP 404 not found",
    "world war 1939-1945",
    "2019 2020 2021 2022 2023",
    "2024-05-31 12:30:45",
    "isbn 978-3-16-148410-0",
    "9783161484100",
    "isbn 0-306-40615-2",
    "issn 2049-3630",
    "0018-7267",
    "00187267",
    "part 30223095107951-a",
    "doi 10.1080/00223891003670166",
    "10.1007/978-3-030-12345-6_7",
    "arxiv 2301.12345",
    "pmid 31234567",
    "127.0.0.1 refused to connect",
    "192.168.100.100 router login",
    "8.8.8.8",
    "npm @angular/core@15.2.1",
    "icon@2x.png",
    "std::vector::push_back",
    "00:1a:2b:3c:4d:5e",
    "1 2 3 4 5 6 7 8 9 10 11 12",
    "1,000,000 usd in eur",
    "what is my name",
    "the name of the rose",
    "my name is",
    "part 1234-5678-90",
    "sku AB12CD34EF56",
    "at&t",
    "password manager",
    "how to use token=abc in curl",
    "gb18030 encoding",
    "€ 20.000.000",
    "password: what to do when forgotten",
    "look at polka dot dress",
    "meet @ noon",
    "30223095107951",
    "999920501011402204",
    "71499613630002201",
    "published in 2008, j pediatr otorhinolaryngol vol of that year 2008723299314",
    "isbn 2125551236",
    "600.000.000",
    "lov om arbeidsmiljø 2005-06-17-62",
]


@pytest.mark.parametrize(("text", "expected", "kind"), PERSONAL, ids=[row[0] for row in PERSONAL])
def test_personal_data_is_replaced_by_its_kind(text, expected, kind):
    text_masked = masked(text)

    assert (text_masked.text, text_masked.kinds) == (expected, (kind,) if kind else ())


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_alike_stays(text):
    assert masked(text).text == text


def test_several_kinds_in_one_query_are_all_masked():
    text_masked = masked("jo@x.org or +49 170 1234567")

    assert text_masked.text == "[email] or [phone]"
    assert text_masked.kinds == ("email", "phone")


def test_a_query_of_masks_alone_is_empty():
    assert masked("jo@x.org, +49 170 1234567").is_empty
    assert not masked("reset jo@x.org").is_empty
    assert not masked("email").is_empty


def test_a_kind_can_be_left_out():
    assert masked("my name is Jo, jo@x.org", {"email"}).text == "my name is Jo, [email]"


def test_an_unknown_kind_is_named_with_the_known_ones():
    with pytest.raises(MaskKindError, match=r"'mail' is no kind.*email, iban"):
        checked_kinds({"mail"})


@given(st.text(max_size=60))
def test_masking_twice_changes_nothing_more(text):
    once = masked(text).text

    assert masked(once).text == once


@pytest.mark.parametrize(
    "text", ["AB12" + "1" * 26 + "_", "1 " * 250, "a@" * 250, "(1) " * 200, "key=" * 200]
)
def test_no_query_takes_long(text):
    began = process_time()

    masked(text)

    assert process_time() - began < 2


def test_every_kind_has_a_test():
    assert {kind for _, _, kind in PERSONAL} - {""} == set(KIND_LABELS)
