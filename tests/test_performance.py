"""The parts of `make bench`: each starts outside of a test run, as it does there."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.made_once import FOLDER
from tests.performance.__main__ import PAGE, PARTS

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("part", PARTS)
def test_part_can_be_started_and_has_a_place_on_the_page(part):
    assert callable(import_module(f"tests.performance.{PARTS[part]}").main)
    # Timings in this process are only printed, and the gate's tables stand in docs/gate.md.
    is_printed = part in {"in-process", "gate"}
    assert is_printed or f"<!-- {part}: made by make bench -->" in PAGE.read_text("utf-8")


def test_part_has_a_folder_for_its_sites_and_removes_it():
    asked = "import tests.performance, os; from tests.made_once import FOLDER, run_name"
    environment = {name: value for name, value in os.environ.items() if name != FOLDER}

    done = subprocess.run(
        [sys.executable, "-c", f"{asked}; print(run_name(), os.environ[FOLDER])"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    name, folder = done.stdout.split()
    assert name
    assert not Path(folder).exists()
