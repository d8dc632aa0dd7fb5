"""`benchwright up` and `demo` hand their words on, and say which extra has the site."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from benchwright.cli.main import main
from benchwright.cli.sites import up
from benchwright.errors import SITE, TOOLS

PROJECT = Path(__file__).resolve().parents[4] / "pyproject.toml"


def distributions(extra: str) -> set[str]:
    extras = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    return {re.match(r"[\w-]+", requirement)[0] for requirement in extras[extra]} - {"benchwright"}


def test_packages_of_the_extras_are_those_of_the_project():
    assert set(TOOLS.values()) == distributions("tools")
    assert set(SITE.values()) == distributions("site")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["up"], ["benchwright", "up"]),
        (["up", "--port", "8080", "--help"], ["benchwright", "up", "--port", "8080", "--help"]),
        (["demo", "--host", "::1"], ["benchwright", "demo", "--serve", "--host", "::1"]),
    ],
)
def test_words_are_handed_to_the_server_command(words, expected, monkeypatch):
    calls = []
    monkeypatch.setattr(import_module(up.SERVER_COMMANDS), "main", calls.append)

    with pytest.raises(SystemExit) as end:
        main.main(words)

    assert (end.value.code, calls) == (0, [expected])


def test_missing_package_of_the_site_is_named_with_its_extra(monkeypatch, capsys):
    monkeypatch.setattr(up, "find_spec", lambda name: None if name == "axes" else name)

    with pytest.raises(SystemExit) as end:
        main.main(["up"])

    assert end.value.code == 1
    assert capsys.readouterr().err == (
        "Error: `benchwright up` needs django-axes, which is not installed; the extra 'site' "
        "brings it: pip install 'benchwright[site]'.\n"
    )
