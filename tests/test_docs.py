"""Documentation under test: what there is has a heading, what is linked exists."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from scoring.core.measures.registry import FAMILIES

ROOT = Path(__file__).resolve().parent.parent
APPS = ("benchmarks_app", "annotation", "scoring")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def headings(page: str) -> str:
    text = (ROOT / "docs" / page).read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if line.startswith("#"))


def test_every_command_has_a_heading():
    ours = {name for name, app in get_commands().items() if app in APPS}

    assert {name for name in ours if f"`{name}`" not in headings("commands.md")} == set()


def test_every_documented_command_exists():
    documented = set(re.findall(r"^### `(\w+)`", headings("commands.md"), re.MULTILINE))

    assert documented <= set(get_commands())


def test_every_setting_has_a_heading():
    source = (ROOT / "benchmarks_app" / "settings.py").read_text("utf-8")
    settings = set(re.findall(r'env_\w+\(\s*"([A-Z_]+)"', source))

    assert settings
    assert {name for name in settings if f"`{name}`" not in headings("settings.md")} == set()


def test_every_measure_has_a_heading():
    known = headings("metrics.md")

    assert {name for name in FAMILIES if f"`{name}" not in known} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text("utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []
