"""The documentation as a site: built whole once, and then served file by file."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks_app.site.manual import all_names, chapter
from tests.made_once import made_once

ROOT = Path(__file__).resolve().parents[3]
# What a policy without 'unsafe-inline' lets no browser run or use, unless it is words of a text.
INLINE = re.compile(
    r"<script(?![^>]*\ssrc=)|<style|<[a-z][^>]*\s(?:on[a-z]+|style)=", re.IGNORECASE
)


def _build(folder: Path) -> None:
    """Build; a link or anchor that leads nowhere is a warning, and each of those fails it."""
    script = [sys.executable, ROOT / "docs" / "site" / "build.py", folder]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def built(settings) -> Path:
    folder = made_once("docs", _build)
    settings.DOCS_SITE = folder
    return folder


def test_every_chapter_is_built_with_its_anchors_and_nothing_inline(built):
    for name in all_names() - {"index"}:
        page = (built / name / "index.html").read_text("utf-8")
        ids = set(re.findall(r'id="([^"]+)"', page))
        assert chapter(name).anchors - ids - {chapter(name).title.lower()} == set(), name
    for path in built.rglob("*.html"):
        assert INLINE.findall(path.read_text("utf-8")) == [], path
    assert not [path for path in built.rglob("*") if path.stat().st_size > 1_000_000]


def test_what_came_of_a_cell_is_told_from_its_code(built):
    page = (built / "notebooks" / "score-two-runs" / "index.html").read_text("utf-8")
    outputs = page.split("notebook-output")[1:]

    assert [
        ("(60, 48)" in out[:400], "<table" in out[:400], "True" in out[:400]) for out in outputs
    ] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
        (False, True, False),
    ]


def test_a_drawing_that_no_script_draws_is_a_list_of_its_arrows(built):
    page = (built / "architecture" / "index.html").read_text("utf-8")
    words = " ".join(re.sub(r"<[^>]+>", "", page).split())

    assert "flowchart" not in words
    assert "corpus, queries, qrels, runs import → collection" in words
    assert "release: files, written once → per-query values, means → leaderboard" in words


def test_search_knows_which_chapter_is_called_so(built):
    """Sphinx's own order puts a list that says a word in a heading before the chapter of it."""
    scorer = (ROOT / "docs" / "site" / "scorer.js").read_text("utf-8")

    assert scorer.strip() in (built / "_static" / "language_data.js").read_text("utf-8")


def test_built_pages_are_served_to_anybody_with_the_site_s_policy(built, client):
    first, page = client.get("/docs/"), client.get("/docs/metrics/")
    words = client.get("/docs/searchindex.js", headers={"Accept-Encoding": "gzip"})

    assert "annotators/" in first.content.decode()
    assert '<a class="button is-quiet is-small" href="/">Site</a>' in page.content.decode()
    assert "script-src 'self'" in page["Content-Security-Policy"]
    assert "unsafe-inline" not in page["Content-Security-Policy"]
    assert words["Content-Type"].startswith("text/javascript")
    assert (words["Content-Encoding"], words["Cache-Control"]) == ("gzip", "public, max-age=3600")
    assert client.get("/docs/search/?q=kappa").status_code == 200
    assert client.get("/docs/_static/theme.js").status_code == 200
    for name in ("_static/../../manage.py", "%2e%2e/manage.py", "/etc/passwd", "metrics.md"):
        assert client.get(f"/docs/{name}").status_code == 404


def test_help_beside_a_page_is_the_chapter_alone_though_it_is_built(built, client):
    part = client.get("/docs/pools/", headers={"HX-Request": "true"}).content.decode()

    assert "<html" not in part
    assert "Which documents: strategies" in part
