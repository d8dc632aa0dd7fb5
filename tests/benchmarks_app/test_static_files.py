"""Addresses of static files say what is in them; pages and texts go compressed."""

import gzip
import hashlib
import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.templatetags.static import static

from benchmarks_app.static_files import version_of


def test_address_carries_the_digest_of_the_file():
    said = Path(finders.find("annotation/judge.js")).read_bytes()

    address = static("annotation/judge.js")

    assert address == f"/static/annotation/judge.js?v={hashlib.sha256(said).hexdigest()[:10]}"


def test_another_content_is_another_address(tmp_path, monkeypatch):
    file = tmp_path / "page.js"
    monkeypatch.setattr(finders, "find", lambda name: str(file))
    versions = set()
    for text in ("old", "new"):
        file.write_text(text)
        version_of.cache_clear()
        versions.add(version_of("page.js"))
    version_of.cache_clear()

    assert len(versions) == 2
    assert all(re.fullmatch("[0-9a-f]{10}", version) for version in versions)


def test_a_file_that_is_not_there_has_a_plain_address():
    assert static("annotation/none.js") == "/static/annotation/none.js"


STYLES = "benchmarks_app/benchwright.css"


def asked(client, address: str, **headers: str) -> tuple[dict[str, str], bytes]:
    answer = client.get(address, headers=headers)
    content = b"".join(answer) if answer.streaming else answer.content
    return dict(answer.headers), content


def test_styles_go_compressed_to_who_takes_it(client):
    plain_headers, plain = asked(client, static(STYLES))
    headers, small = asked(client, static(STYLES), accept_encoding="gzip, br")
    again, _ = asked(client, static(STYLES), accept_encoding="gzip", range="bytes=0-9")

    assert plain == Path(finders.find(STYLES)).read_bytes() == gzip.decompress(small)
    assert "Content-Encoding" not in plain_headers
    assert headers["Content-Encoding"] == "gzip"
    assert headers["Content-Length"] == str(len(small))
    assert headers["Vary"] == plain_headers["Vary"] == "Accept-Encoding"
    assert headers["Content-Type"] == plain_headers["Content-Type"]
    assert len(small) < len(plain) / 4
    assert again["Content-Length"] == "10"


def test_what_gains_nothing_stays_as_it_is(client):
    headers, _ = asked(client, static("benchmarks_app/logo.svg"), accept_encoding="gzip")

    assert "Content-Encoding" not in headers


@pytest.mark.django_db
def test_pages_go_compressed_and_files_do_not(benchmark, owner, signed_in):
    client = signed_in(owner)
    headers, page = asked(client, benchmark.get_absolute_url(), accept_encoding="gzip")
    of_api, _ = asked(client, "/api/v1/schema/", accept_encoding="gzip")

    assert headers["Content-Encoding"] == "gzip"
    assert b"<main" in gzip.decompress(page)
    assert "Content-Encoding" not in of_api
