"""A small benchmark in files, and the command line in this process and in one of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchwright.cli.main import main

ROOT = Path(__file__).resolve().parents[3]

# q3 has no relevant document; the run lacks q2 and has q9 beyond the qrels.
QRELS = "q1 0 d1 3\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d4 2\nq3 0 d6 0\n"
RUN = "q1 Q0 d1 1 3.0 tag\nq1 Q0 d9 2 2.0 tag\nq1 Q0 d2 3 1.0 tag\nq3 Q0 d6 1 1.0 tag\n"
RUN += "q9 Q0 d1 1 1.0 tag\n"
BETTER = "q1 Q0 d1 1 3.0 b\nq1 Q0 d2 2 2.0 b\nq2 Q0 d4 1 1.0 b\nq3 Q0 d6 1 1.0 b\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of qrels.txt, a.run and b.run, which commands run in."""
    for name, content in (("qrels.txt", QRELS), ("a.run", RUN), ("b.run", BETTER)):
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def benchwright() -> Callable[..., Result]:
    """`benchwright(*arguments)` in this process."""

    def run(*arguments: str | Path, **settings: object) -> Result:
        return CliRunner().invoke(main, [str(each) for each in arguments], **settings)

    return run


def in_process(
    *arguments: str | Path, python: tuple[str, ...] = (), **settings: object
) -> subprocess.CompletedProcess[str]:
    """`benchwright` in a process of its own."""
    # What a person has set must not decide a test.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("BENCHWRIGHT_D")}
    environment = {**kept, "PYTHONPATH": str(ROOT), **settings.pop("env", {})}
    return subprocess.run(
        [sys.executable, *python, "-m", "benchwright", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        **settings,
    )
