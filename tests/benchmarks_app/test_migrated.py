"""Commands on a database that was not migrated say what is to be done, without a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("words", ["verify_store", "sweep", "up --no-migrate"])
def test_command_on_an_empty_database_names_the_one_to_run_first(tmp_path, words):
    env = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}

    done = subprocess.run(
        [sys.executable, "manage.py", *words.split()],
        cwd=ROOT,
        env={**env, "BENCHWRIGHT_DATA": str(tmp_path), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 1
    assert "migrations have not been applied. Run `manage.py migrate`" in done.stderr
    assert "Traceback" not in done.stderr
