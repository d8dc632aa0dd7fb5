"""Where an installed site keeps its data."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks_app.data_folder import choose_site, make_data_folder, user_data_folder
from benchmarks_app.env import EnvError, env_path

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "~/.local/share/benchwright"),
        ("linux", {"XDG_DATA_HOME": "/srv/share"}, "/srv/share/benchwright"),
        ("linux", {"XDG_DATA_HOME": "share"}, "~/.local/share/benchwright"),
        ("darwin", {"XDG_DATA_HOME": "/srv"}, "~/Library/Application Support/Benchwright"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/Benchwright"),
        ("win32", {}, "~/AppData/Local/Benchwright"),
    ],
)
def test_folder_is_by_the_convention_of_the_platform(platform, environment, expected):
    assert user_data_folder(environment, platform) == Path(expected)


@pytest.mark.parametrize("words", [["--data", "there"], ["--port", "1", "--data=there"]])
def test_option_goes_before_the_environment_and_is_absolute(words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHWRIGHT_DATA", "elsewhere")

    choose_site(words)

    assert os.environ["BENCHWRIGHT_DATA"] == str(tmp_path / "there")


def test_relative_folder_of_the_environment_becomes_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHWRIGHT_DATA", "elsewhere")

    choose_site([])

    assert os.environ["BENCHWRIGHT_DATA"] == str(tmp_path / "elsewhere")


def test_host_and_port_of_a_command_are_those_of_links(monkeypatch):
    for name in ("HOST", "PORT"):
        monkeypatch.setenv(name, "8000")

    choose_site(["--host", "bench.local", "--port=9000", "--no-migrate"])

    assert (os.environ["HOST"], os.environ["PORT"]) == ("bench.local", "9000")


def test_private_folder_is_for_its_owner_alone(tmp_path):
    make_data_folder(tmp_path / "a" / "b", is_private=True)

    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_home_that_nobody_knows_is_a_wrong_setting(monkeypatch):
    monkeypatch.delenv("BENCHWRIGHT_DATA", raising=False)

    def nowhere(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", nowhere)

    with pytest.raises(EnvError, match="nothing says where the home of this user is"):
        env_path("BENCHWRIGHT_DATA", Path("~/x"))


def test_folder_that_cannot_be_made_ends_a_command_with_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "data"

    done = subprocess.run(
        [sys.executable, ROOT / "manage.py", "up", "--data", folder],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    )

    expected = (
        f"BENCHWRIGHT_DATA is '{folder}'; accepted: a folder that can be made (Not a directory).\n"
    )
    assert (done.returncode, done.stderr) == (1, expected)
