"""Commands on a database that was not migrated say what is to be done, without a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def ended(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A command that was refused, by Python, on a site of this folder."""
    others = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**others, "BENCHWRIGHT_DATA": str(folder), "NO_COLOR": "1", **env},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("words", ["verify_store", "sweep", "up --no-migrate"])
def test_command_on_an_empty_database_names_the_one_to_run_first(tmp_path, words):
    done = ended(tmp_path, "manage.py", *words.split())

    assert done.returncode == 1
    assert "migrations have not been applied. Run `manage.py migrate`" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", ["manage.py migrate", "-m benchwright up"])
def test_database_that_does_not_answer_is_told(tmp_path, words):
    address = "postgres://ada:secret@127.0.0.1:1/bench"

    done = ended(tmp_path, *words.split(), DATABASE_URL=address)

    assert done.returncode == 1
    assert "The database does not answer: " in done.stderr
    assert "Start it, or correct DATABASE_URL." in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr
