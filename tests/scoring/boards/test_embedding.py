"""Boards on other sites: where the owner allows it, what an outsider sees, for anybody."""

import re
import xml.etree.ElementTree as ET
from datetime import timedelta

import pytest
from django.utils import timezone

from benchmarks_app.models import Benchmark, Run
from tests import factories

PERFECT = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d4 1 1 s\nq3 Q0 d6 1 1 s"
HALF = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s"
AT = "/b/stdlib/leaderboard/"
VIEWS = ("embed/", "badge.svg", "badge.json")


@pytest.fixture
def embedded(benchmark, scored) -> Benchmark:
    scored(PERFECT, "best <&> run")
    scored(HALF, "half")
    scored(PERFECT, "own", visibility=Run.Visibility.OWNER)
    benchmark.name = "A <b>&]( lot"
    benchmark.visibility, benchmark.may_embed = "public", True
    benchmark.save()
    return benchmark


def test_nothing_is_shown_unless_the_benchmark_is_public_and_its_owner_allows_it(
    embedded, client, signed_in, owner
):
    page = signed_in(owner).get(AT).content.decode()
    assert "&lt;iframe src=&quot;http://testserver/b/stdlib/leaderboard/embed/" in page
    for change in ({"may_embed": False}, {"visibility": "private"}):
        before = {name: getattr(embedded, name) for name in change}
        Benchmark.objects.update(**change)
        assert [client.get(AT + view).status_code for view in VIEWS] == [404, 404, 404]
        page = signed_in(owner).get(AT).content.decode()
        assert "embed-frame" not in page
        Benchmark.objects.update(**before)
    assert client.get(f"{AT}embed/?release=9.9.9").status_code == 404
    assert client.get(f"{AT}embed/?m=none").status_code == 404


def test_everybody_gets_the_same_bytes_and_they_are_an_outsiders(
    embedded, client, signed_in, owner
):
    later = timezone.now() + timedelta(days=3)
    Run.objects.filter(name="half").update(anonymous_until=later)
    outside = {view: client.get(AT + view) for view in VIEWS}
    signed_in(owner)
    for view, answer in outside.items():
        own = client.get(AT + view, headers={"Accept-Language": "de"})
        assert own.content == answer.content
        assert "own" not in re.findall(r"\w+", own.content.decode())
        assert own["Cache-Control"] == "public, max-age=300"
        assert not own.cookies
        again = client.get(AT + view, headers={"If-None-Match": own["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert "anonymous" in outside["embed/"].content.decode()


def test_a_page_that_a_browser_opens_again_keeps_its_styles(embedded, client):
    opening = {"Sec-Fetch-Dest": "document"}
    page = client.get(f"{AT}embed/", headers=opening)

    again = client.get(f"{AT}embed/", headers={**opening, "If-None-Match": page["ETag"]})

    # Styles inside it would need a policy that names them, which the 304 has not.
    assert "<style" not in page.content.decode()
    assert again.status_code == 304
    assert again["Content-Security-Policy"] == page["Content-Security-Policy"]
    assert not page.cookies


def test_page_alone_may_be_framed_and_runs_nothing(embedded, client):
    page = client.get(f"{AT}embed/")

    # A browser keeps the headers of a 304 in place of those it had.
    again = client.get(f"{AT}embed/", headers={"If-None-Match": page["ETag"]})
    for answer in (page, again):
        policy = answer["Content-Security-Policy"]
        assert "frame-ancestors *" in policy
        assert "script-src 'none'" in policy
        assert not answer.has_header("X-Frame-Options")
    words = page.content.decode()
    assert "best &lt;&amp;&gt; run" in words
    assert "<script" not in words
    assert "csrfmiddlewaretoken" not in words
    for other in (AT, f"{AT}badge.svg", "/b/stdlib/"):
        answer = client.get(other)
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
        assert answer["X-Frame-Options"] == "DENY"


def test_badge_is_one_line_escaped_in_its_picture(embedded, client):
    badge = client.get(f"{AT}badge.json")
    assert badge["Access-Control-Allow-Origin"] == "*"
    assert badge.json() == {
        "schemaVersion": 1,
        "label": "A <b>&]( lot",
        "message": "best <&> run nDCG@10 0.6667",
        "color": "blue",
        "cacheSeconds": 300,
    }
    half = client.get(f"{AT}badge.json?run=half&m=nDCG@10").json()["message"]
    assert re.fullmatch(r"nDCG@10 0\.\d{4}, rank 1-2 of 2", half)
    for unseen in ("own", "no such run"):
        assert client.get(f"{AT}badge.json?run={unseen}").json()["message"] == "not on this board"

    picture = client.get(f"{AT}badge.svg")
    assert picture["Content-Type"].startswith("image/svg+xml")
    texts = [element.text for element in ET.fromstring(picture.content).iter() if element.text]
    assert texts == [
        "A <b>&]( lot: best <&> run nDCG@10 0.6667",
        "A <b>&]( lot",
        "best <&> run nDCG@10 0.6667",
    ]


def test_owner_allows_it_in_the_settings_and_by_api(benchmark, signed_in, owner):
    client = signed_in(owner)
    fields = {"name": "n", "description": "", "visibility": "public", "guideline": ""}

    client.post("/b/stdlib/settings/", {**fields, "may_embed": "on"})
    assert client.get("/api/v1/benchmarks/stdlib/").json()["may_embed"] is True
    client.patch(
        "/api/v1/benchmarks/stdlib/", {"may_embed": False}, content_type="application/json"
    )

    benchmark.refresh_from_db()
    assert benchmark.may_embed is False
    assert factories.benchmark().may_embed is False
