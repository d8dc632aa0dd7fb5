"""Addresses of static files say what is in them."""

import hashlib
import re
from pathlib import Path

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
