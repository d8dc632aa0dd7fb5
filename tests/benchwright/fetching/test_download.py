"""Downloads: whole, gone on with, checked, bounded, and never from where they must not come."""

import hashlib
from ipaddress import ip_address

import pytest

from benchwright.fetching.addresses import check_host, is_public, read_address
from benchwright.fetching.download import download
from benchwright.fetching.errors import (
    AddressRefusedError,
    ChecksumError,
    DownloadError,
    UnreachableError,
)
from tests.benchwright.fetching.conftest import Served

CONTENT = bytes(range(256)) * 40


def test_a_file_comes_whole_and_its_checksum_is_looked_at(server, limits, into):
    server.served["/set.zip"] = Served(CONTENT)
    md5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()
    results = []

    download(
        f"{server.address}/set.zip",
        into,
        limits=limits(),
        checksum=("md5", md5),
        tell=lambda *said: results.append(said),
    )

    assert into.read_bytes() == CONTENT
    assert results[-1][:2] == (len(CONTENT), len(CONTENT))
    assert list(into.parent.iterdir()) == [into]


def test_a_cut_connection_goes_on_where_it_ended(server, limits, into):
    server.served["/set.zip"] = Served(CONTENT, cuts=[1000, 500])

    download(f"{server.address}/set.zip", into, limits=limits())

    assert into.read_bytes() == CONTENT
    assert [wanted for _, wanted in server.asked] == ["", "bytes=1000-", "bytes=1500-"]


def test_a_later_attempt_goes_on_with_what_an_earlier_one_left(server, limits, into):
    server.served["/set.zip"] = Served(CONTENT, cuts=[1000, 0, 0, 0])
    with pytest.raises(DownloadError, match=r"broke off .* Start the job again: it goes on"):
        download(f"{server.address}/set.zip", into, limits=limits(n_tries=2))
    assert not into.exists()

    download(f"{server.address}/set.zip", into, limits=limits())

    assert into.read_bytes() == CONTENT
    assert server.asked[-1] == ("/set.zip", "bytes=1000-")


def test_a_file_that_has_changed_meanwhile_begins_anew(server, limits, into):
    server.served["/set.zip"] = Served(b"old" * 500, cuts=[600, 0])
    with pytest.raises(DownloadError):
        download(f"{server.address}/set.zip", into, limits=limits(n_tries=1))

    server.served["/set.zip"] = Served(CONTENT, etag='"two"')
    download(f"{server.address}/set.zip", into, limits=limits())

    assert into.read_bytes() == CONTENT


def test_without_a_version_nothing_is_put_together(server, limits, into):
    server.served["/set.zip"] = Served(CONTENT, etag="", cuts=[1000])

    download(f"{server.address}/set.zip", into, limits=limits())

    assert into.read_bytes() == CONTENT
    assert [wanted for _, wanted in server.asked] == ["", ""]


def test_what_was_complete_but_for_its_name_is_taken(server, limits, into):
    server.served["/set.zip"] = Served(CONTENT)
    into.with_name("set.zip.part").write_bytes(CONTENT)
    notes = f'{{"address": "{server.address}/set.zip", "version": "\\"one\\""}}'
    into.with_name("set.zip.part.json").write_text(notes)

    download(f"{server.address}/set.zip", into, limits=limits())

    assert into.read_bytes() == CONTENT
    assert server.asked == [("/set.zip", f"bytes={len(CONTENT)}-")]


def test_a_wrong_checksum_throws_the_file_away_and_names_both(server, limits, into):
    server.served["/set.zip"] = Served(CONTENT)

    with pytest.raises(ChecksumError, match=r"has the md5 .* expected 0000") as raised:
        download(f"{server.address}/set.zip", into, limits=limits(), checksum=("md5", "0" * 32))

    assert "thrown away" in str(raised.value)
    assert not list(into.parent.iterdir())


@pytest.mark.parametrize("has_length", [True, False])
def test_more_than_the_site_takes_is_refused_and_nothing_left(server, limits, into, has_length):
    server.served["/set.zip"] = Served(b"x" * (2 << 20), has_length=has_length)

    with pytest.raises(DownloadError, match=r"more than 1 MB.*UPLOAD_LIMIT_MB"):
        download(f"{server.address}/set.zip", into, limits=limits())

    assert not into.exists()
    assert not into.with_name("set.zip.part").exists()


def test_an_address_that_is_not_there_is_told_at_once(server, limits, into):
    with pytest.raises(DownloadError, match=r"404 Not Found\. Check the name"):
        download(f"{server.address}/no.zip", into, limits=limits())

    assert len(server.asked) == 1


def test_a_server_in_trouble_is_asked_again_and_then_given_up(server, limits, into):
    server.served["/set.zip"] = Served(status=503)

    with pytest.raises(DownloadError, match="503 Service Unavailable"):
        download(f"{server.address}/set.zip", into, limits=limits())

    assert len(server.asked) == 3


def test_a_server_that_recovers_gives_the_file(server, limits, into):
    server.served["/set.zip"] = Served(CONTENT, first=[500, 429])

    assert download(f"{server.address}/set.zip", into, limits=limits()).read_bytes() == CONTENT
    assert len(server.asked) == 3


def test_a_cut_that_no_length_tells_is_found_by_its_checksum(server, limits, into):
    server.served["/set.zip"] = Served(CONTENT, has_length=False, cuts=[1000])
    md5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()

    with pytest.raises(ChecksumError, match="fetch it again"):
        download(f"{server.address}/set.zip", into, limits=limits(), checksum=("md5", md5))
    assert not list(into.parent.iterdir())


def test_a_redirect_is_followed_and_a_circle_is_not(server, limits, into):
    server.served["/old.zip"] = Served(status=302, headers={"Location": "/set.zip"})
    server.served["/set.zip"] = Served(CONTENT)
    server.served["/round"] = Served(status=302, headers={"Location": "/round"})

    assert download(f"{server.address}/old.zip", into, limits=limits()).read_bytes() == CONTENT
    with pytest.raises(DownloadError, match="more than 5 times"):
        download(f"{server.address}/round", into.with_name("other"), limits=limits())


@pytest.mark.parametrize("leads_to", ["http://10.0.0.1/x", "file:///etc/passwd", "ftp://a.b/c"])
def test_a_redirect_to_what_may_not_be_asked_is_refused(
    server, limits, into, leads_to, monkeypatch
):
    server.served["/set.zip"] = Served(status=302, headers={"Location": leads_to})
    real = is_public
    monkeypatch.setattr(
        "benchwright.fetching.addresses.is_public",
        lambda ip: str(ip) == "127.0.0.1" or real(ip),
    )

    with pytest.raises(AddressRefusedError):
        download(f"{server.address}/set.zip", into, limits=limits(may_be_private=False))


def test_this_machine_is_not_asked_unless_that_is_allowed(server, limits, into):
    server.served["/set.zip"] = Served(CONTENT)

    with pytest.raises(
        AddressRefusedError, match=r"127.0.0.1 is not in the public network.*FETCH_"
    ):
        download(f"{server.address}/set.zip", into, limits=limits(may_be_private=False))

    assert not server.asked


PRIVATE = """
127.0.0.1 10.1.2.3 192.168.0.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1
::1 fe80::1 fc00::1 ::ffff:10.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: fec0::1 feff::1
"""


@pytest.mark.parametrize("ip", PRIVATE.split())
def test_no_notation_of_a_private_machine_is_public(ip):
    assert not is_public(ip_address(ip))


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("ftp://example.org/x", "'ftp' is not http or https"),
        ("file:///etc/passwd", "'file' is not http or https"),
        ("https:///x", "it names no host"),
        ("https://me:secret@example.org/x", "it carries a user name"),
        ("http://[::1", "it cannot be read"),
        ("http://example.org:99999/", "it cannot be read"),
    ],
)
def test_an_address_that_may_not_be_asked_says_why(address, why):
    with pytest.raises(AddressRefusedError, match=why):
        read_address(address)


def test_letters_of_an_address_are_asked_percent_encoded(server, limits, into):
    server.served["/b%C3%BCcher/%C3%BC%2Fa"] = Served(b"words")

    download(f"{server.address}/bücher/ü%2Fa?law=§1", into, limits=limits())

    assert into.read_bytes() == b"words"


def test_a_name_that_resolves_to_a_private_machine_is_refused(monkeypatch):
    inside = [(2, 1, 6, "", ("93.184.216.34", 443)), (2, 1, 6, "", ("10.0.0.7", 443))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *args, **more: inside)

    with pytest.raises(UnreachableError, match=r"or it is not in the public network.*FETCH_"):
        check_host("https://rebound.example.org/", may_be_private=False)
