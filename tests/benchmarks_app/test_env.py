"""A wrong setting stops the start, and says what is accepted."""

from pathlib import Path

import pytest

from benchmarks_app import env
from benchmarks_app.env import EnvError

NAME = "BENCHWRIGHT_TEST_SETTING"


@pytest.fixture
def given(monkeypatch):
    """A function that sets the variable, or takes it away."""

    def give(value: str | None) -> None:
        monkeypatch.delenv(NAME, raising=False)
        if value is not None:
            monkeypatch.setenv(NAME, value)

    return give


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (None, True),
        ("1", True),
        ("Yes", True),
        ("on", True),
        ("0", False),
        ("OFF", False),
        ("", False),
    ],
)
def test_switch_is_read(given, value, read):
    given(value)

    assert env.env_bool(NAME, default=True) is read


@pytest.mark.parametrize("value", ["maybe", "2", " "])
def test_switch_that_is_neither_on_nor_off_is_refused(given, value):
    given(value)

    with pytest.raises(EnvError) as caught:
        env.env_bool(NAME, default=False)

    assert str(caught.value) == (
        f"{NAME} is '{value}'; accepted: 1, true, yes, on, 0, false, no, off."
    )


@pytest.mark.parametrize(("value", "read"), [(None, 7), ("1", 1), ("0010", 10)])
def test_number_is_read(given, value, read):
    given(value)

    assert env.env_int(NAME, 7, minimum=1) == read


@pytest.mark.parametrize("value", ["", "ten", "1.5", "-1", "0", "²", "1 "])
def test_number_that_is_none_or_too_small_is_refused(given, value):
    given(value)

    with pytest.raises(EnvError) as caught:
        env.env_int(NAME, 7, minimum=1)

    assert str(caught.value) == f"{NAME} is '{value}'; accepted: a whole number from 1."


@pytest.mark.parametrize(
    ("value", "read"), [(None, ["a"]), ("", []), ("b, c ,", ["b", "c"]), ("b", ["b"])]
)
def test_list_is_read(given, value, read):
    given(value)

    assert env.env_list(NAME, ["a"]) == read


def test_folder_is_made_absolute(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given("site")

    assert env.env_path(NAME, Path("other")) == tmp_path / "site"


def test_folder_under_home_is_found(given, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    given("~/site")

    assert env.env_path(NAME, Path("other")) == tmp_path / "site"


@pytest.mark.parametrize("value", [None, ""])
def test_folder_that_is_not_given_is_the_default(given, tmp_path, value):
    given(value)

    assert env.env_path(NAME, tmp_path) == tmp_path


def test_file_in_place_of_a_folder_is_refused(given, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    given(str(file))

    with pytest.raises(EnvError) as caught:
        env.env_path(NAME, tmp_path)

    assert str(caught.value) == f"{NAME} is '{file}'; accepted: a folder, existing or to be made."


@pytest.mark.parametrize(
    ("value", "read"), [(None, ("US",)), ("ch, fr", ("CH", "FR")), ("none", ()), ("", ())]
)
def test_countries_are_read(given, value, read):
    given(value)

    assert env.env_regions(NAME, ["US"]) == read


@pytest.mark.parametrize("value", ["CH;FR", "Schweiz", "C1"])
def test_countries_that_are_none_are_refused(given, value):
    given(value)

    with pytest.raises(EnvError, match="accepted: two letters a country"):
        env.env_regions(NAME, ["US"])
