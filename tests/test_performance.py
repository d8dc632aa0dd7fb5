"""The parts of `make bench`: each starts outside of a test run, as it does there."""

import os
import platform
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.made_once import FOLDER
from tests.performance.__main__ import PARTS
from tests.performance.results import FOLDER as RESULTS
from tests.performance.results import PAGE, store, stored, write_page
from tests.system.conftest import REDIS, needs_broker

ROOT = Path(__file__).parents[1]
OF_JUDGES = ("machine-judges", "learned-estimate", "drawn-documents")


@pytest.mark.parametrize("part", PARTS)
def test_part_can_be_started_and_has_a_place_on_the_page(part):
    assert callable(import_module(f"tests.performance.{PARTS[part]}").main)
    # Timings in this process are only printed; some tables stand in a page of their own.
    is_printed = part in {"in-process", "gate", *OF_JUDGES}
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


def test_page_is_what_the_stored_results_say(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")

    write_page(page, RESULTS)

    assert page.read_text("utf-8") == PAGE.read_text("utf-8")


def test_page_shows_the_newest_run_and_the_spread_of_all(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- sums: made by make bench -->\n<!-- end of sums -->\nprose\n", "utf-8")
    for seconds in ("1.5", "1,000.0", "3.0"):
        rows = [f"| 1,000 | benchwright | {seconds} s |", "| 1,000 | peer | 9.0 s |"]
        store("sums", ["| n | who | took |", "|---|---|---|", *rows], tmp_path, load=(0.5, 1.25))

    write_page(page, tmp_path)

    text = page.read_text("utf-8")
    assert "| 1,000 | benchwright | 3.0 s |" in text
    assert "| 1,000, benchwright | took | 3 | 1.5 | 3 | 1,000 |" in text
    assert "peer | took" not in text
    assert text.count("- In the range: Measured") == 2
    assert ", load 0.5 before it, 1.2 at its end; no peer." in text
    assert text.endswith("<!-- end of sums -->\nprose\n")


def test_run_of_one_size_is_in_the_range_alone(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("<!-- sums: made by make bench -->\n<!-- end of sums -->\n", "utf-8")
    head = ["| n | who | took |", "|---|---|---|"]
    rows = ["| 1,000 | benchwright | 3.0 s |", "| 1,000 | peer | 9.0 s |"]
    store("sums", [*head, "| 10 | benchwright | 1.0 s |", *rows], tmp_path, load=(0, 0))
    monkeypatch.setenv("BENCH_ONLY", "1000")
    store("sums", [*head, rows[0].replace("3.0", "2.0"), rows[1]], tmp_path, load=(0, 0))

    write_page(page, tmp_path)

    text = page.read_text("utf-8")
    assert "| 10 | benchwright | 1.0 s |" in text
    assert "| 1,000 | benchwright | 3.0 s |" in text
    assert "| 1,000, benchwright | took | 2 | 2 | 2.5 | 3 |" in text
    assert "- In the range: Measured" in text
    assert "(1000 only)" in text


def test_only_the_last_few_runs_are_kept_and_none_names_the_machine(tmp_path):
    for n in range(7):
        store("statistics", [f"run {n}"], tmp_path, load=(0, 0))

    runs = stored("statistics", tmp_path)

    assert [run["lines"] for run in runs] == [[f"run {n}"] for n in range(2, 7)]
    assert runs[-1]["versions"]["scipy"]
    assert platform.node() not in (tmp_path / "statistics.json").read_text("utf-8")


SITES = (
    "flame",
    "raw-export",
    "judging",
    "large-site",
    "boards",
    "board-readers",
    "run-pages",
    "campaigns",
    "idle-site",
)
OF_BROKER = ("scoring-service", "burst", "shards")
OF_DATA = ("simulation", "gate", *OF_JUDGES)  # all draw from real runs
OTHERS = tuple(part for part in PARTS if part not in {*SITES, *OF_BROKER, *OF_DATA})


# Those that start no site share a process: most of their time is imports.
@pytest.mark.parametrize(
    "parts",
    [
        OTHERS,
        pytest.param(OF_DATA, marks=pytest.mark.data),
        *(pytest.param((part,), marks=pytest.mark.in_thirds) for part in SITES),
        *(
            pytest.param((part,), marks=[pytest.mark.broker, pytest.mark.in_thirds])
            for part in OF_BROKER
        ),
    ],
    ids=" ".join,
)
def test_parts_run_at_toy_size(parts, tmp_path):
    """With no peer; the page and what is stored stay as they are."""
    before = PAGE.read_bytes(), sorted((path, path.read_bytes()) for path in RESULTS.iterdir())
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    if parts[0] in OF_BROKER:
        needs_broker(REDIS)
        environment["TEST_BROKER_URL"] = REDIS

    done = subprocess.run(
        [sys.executable, "-m", "tests.performance", "--toy", *parts],
        cwd=ROOT,
        env={**environment, "BENCHWRIGHT_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-2000:]
    after = PAGE.read_bytes(), sorted((path, path.read_bytes()) for path in RESULTS.iterdir())
    assert after == before
