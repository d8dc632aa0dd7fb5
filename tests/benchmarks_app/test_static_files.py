"""Addresses of static files say what is in them; pages and texts go compressed."""

import base64
import gzip
import hashlib
import re
from pathlib import Path

import pytest
import zstandard
from django.contrib.staticfiles import finders
from django.http import HttpResponse
from django.templatetags.static import static
from django.urls import reverse

from benchmarks_app.middleware import CompressedPagesMiddleware
from benchmarks_app.static_files import version_of


def test_address_carries_the_digest_of_the_file():
    content = Path(finders.find("annotation/judge.js")).read_bytes()

    address = static("annotation/judge.js")

    assert address == f"/static/annotation/judge.js?v={hashlib.sha256(content).hexdigest()[:10]}"


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


def test_what_a_page_of_another_version_asks_for_is_given_and_not_kept(client):
    ours, content = asked(client, static(STYLES))
    others, same = asked(client, f"/static/{STYLES}?v=0123456789")

    assert ours["Cache-Control"] == "max-age=3600, public"
    assert others["Cache-Control"] == "no-cache"
    assert same == content


def test_what_gains_nothing_stays_as_it_is(client):
    headers, _ = asked(client, static("benchmarks_app/logo.svg"), accept_encoding="gzip")

    assert "Content-Encoding" not in headers


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("accepted", "encoding", "unpack"),
    [
        ("gzip, br", "gzip", gzip.decompress),
        ("gzip, deflate, br, zstd", "zstd", zstandard.decompress),
    ],
)
def test_pages_go_compressed_and_files_do_not(
    benchmark, owner, signed_in, accepted, encoding, unpack
):
    client = signed_in(owner)
    headers, page = asked(client, benchmark.get_absolute_url(), accept_encoding=accepted)
    of_api, _ = asked(client, "/api/v1/schema/", accept_encoding=accepted)

    assert headers["Content-Encoding"] == encoding
    assert headers["Content-Length"] == str(len(page))
    assert "Accept-Encoding" in headers["Vary"]
    assert unpack(page).rstrip().endswith(b"</html>")
    assert "Content-Encoding" not in of_api


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_length_tells_nothing_and_a_tag_is_of_the_words(rf, encoding):
    """Of one page sent often: lengths differ, by a hundred bytes at most."""
    compressing = CompressedPagesMiddleware(
        lambda request: HttpResponse("word " * 100, headers={"ETag": '"a"'})
    )
    answers = [compressing(rf.get("/", headers={"accept-encoding": encoding})) for _ in range(40)]

    lengths = {len(answer.content) for answer in answers}
    assert len(lengths) > 10
    assert max(lengths) - min(lengths) <= 100
    assert {(answer["ETag"], answer["Content-Encoding"]) for answer in answers} == {
        ('W/"a"', encoding)
    }


def test_a_short_part_of_a_page_goes_as_it_is(rf):
    compressing = CompressedPagesMiddleware(lambda request: HttpResponse("short"))

    answer = compressing(rf.get("/", headers={"accept-encoding": "zstd"}))

    assert (answer.content, answer.get("Content-Encoding")) == (b"short", None)


# --- styles inside the first page that a browser opens (ADR 43) ---------------------------------

OPENS = {"sec_fetch_dest": "document"}
INSIDE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def directive(headers: dict[str, str], name: str) -> list[str]:
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    return policy[name].split(" ")


def test_styles_go_inside_the_first_page_and_never_again(client):
    link = f'<link rel="stylesheet" href="{static(STYLES)}">'
    headers, first = asked(client, reverse("sign-in"), **OPENS)
    again_headers, again = asked(client, reverse("sign-in"), **OPENS)

    [inside] = INSIDE.findall(first.decode())
    assert inside == Path(finders.find(STYLES)).read_text()
    assert link not in first.decode()
    assert f'<link rel="prefetch" as="style" href="{static(STYLES)}">' in first.decode()
    digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
    assert directive(headers, "style-src") == ["'self'", f"'sha256-{digest}'"]
    assert headers["Content-Length"] == str(len(first))
    assert {"private", "no-store"} <= set(headers["Cache-Control"].split(", "))
    assert client.cookies["styles"].value == version_of(STYLES)
    assert client.cookies["styles"]["httponly"]
    assert link in again.decode()
    assert b"<style>" not in again
    assert directive(again_headers, "style-src") == ["'self'"]


def test_another_version_is_brought_again_and_the_cookie_stays_short(client):
    client.cookies["styles"] = ".".join(f"{n:010x}" for n in range(80)) + ";<script>"

    _, page = asked(client, reverse("sign-in"), **OPENS)

    versions = client.cookies["styles"].value.split(".")
    assert len(INSIDE.findall(page.decode())) == 1
    assert versions[0] == version_of(STYLES)
    assert len(versions) == 50
    assert all(re.fullmatch("[0-9a-f]{10}", version) for version in versions)


@pytest.mark.parametrize("headers", [{}, {"sec_fetch_dest": "empty"}])
def test_who_does_not_open_a_page_gets_links(client, headers):
    _, page = asked(client, reverse("sign-in"), **headers)

    assert b"<style>" not in page
    assert "styles" not in client.cookies


def test_large_styles_of_others_stay_a_link_beside_a_policy_of_their_own(client, owner):
    client.force_login(owner)

    headers, page = asked(client, reverse("api-docs"), **OPENS)

    assert len(INSIDE.findall(page.decode())) == 1
    assert re.search(r'<link rel="stylesheet" href="[^"]*swagger-ui.css', page.decode())
    assert "data:" in directive(headers, "img-src")
    assert len(directive(headers, "style-src")) == 2


def test_what_people_write_is_no_link_to_styles(client, benchmark, owner):
    benchmark.description = f'<link rel="stylesheet" href="{static("annotation/judge.css")}">'
    benchmark.save()
    client.force_login(owner)

    headers, page = asked(client, benchmark.get_absolute_url(), **OPENS)

    assert "&lt;link" in page.decode()
    written = Path(finders.find("annotation/judge.css")).read_text()
    assert written not in INSIDE.findall(page.decode())
    assert len(directive(headers, "style-src")) == 1 + len(INSIDE.findall(page.decode()))


@pytest.mark.parametrize(
    ("cookie", "theme"),
    [
        ("dark", "dark"),
        ("light", "light"),
        ("auto", "auto"),
        ('"><script>', "auto"),
        (None, "auto"),
    ],
)
def test_the_theme_is_in_the_page_before_any_script(client, cookie, theme):
    if cookie:
        client.cookies["theme"] = cookie

    _, page = asked(client, reverse("sign-in"))

    assert f'data-theme="{theme}"' in page.decode()
