"""The documentation on the site: every file of docs/ is a chapter, every link leads there."""

import re
from pathlib import Path

import pytest
from django.urls import reverse

from benchmarks_app.site.manual import FOLDER, all_names, chapter, chapter_names

LINK = re.compile(r'href="([^"]+)"')


def test_every_file_is_a_chapter_once():
    files = {str(path.relative_to(FOLDER).with_suffix("")) for path in Path(FOLDER).rglob("*.md")}
    named = [name for names in chapter_names().values() for name in names]
    named.append("index")

    assert set(named) == files
    assert len(named) == len(files)


@pytest.mark.parametrize("name", sorted(all_names()))
def test_links_between_chapters_lead_to_a_heading(name):
    page = chapter(name)
    lost = []
    for link in LINK.findall(page.html):
        path, _, anchor = link.partition("#")
        if path.startswith(("http:", "https:")) or path == reverse("api-schema"):
            continue
        target = path.removeprefix("/docs/").rstrip("/") if path else name
        if target not in all_names() or (anchor and anchor not in chapter(target).anchors):
            lost.append(link)

    assert lost == []
    assert page.title


def test_what_is_no_chapter_is_not_found(client):
    assert client.get("/docs/pools/").status_code == 200
    for name in ("../settings", "%2e%2e/manage", "pools.md", "nothing"):
        assert client.get(f"/docs/{name}/").status_code == 404


def test_headings_have_the_anchors_that_github_gives():
    page = chapter("pools")

    assert {"which-documents-strategies", "speed"} <= page.anchors


def test_beside_a_page_comes_the_chapter_alone(client):
    whole = client.get("/docs/pools/").content.decode()
    part = client.get("/docs/pools/", headers={"HX-Request": "true"}).content.decode()

    assert "<html" in whole and "<html" not in part
    assert "Which documents: strategies" in part
