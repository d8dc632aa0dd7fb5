"""Both scanners: a test that takes `scanner` is run with the extension and with the twin."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchwright.reading import choosing, scan_qrels, scan_run
from benchwright.reading.hits import QueryHits

IS_REQUIRED = os.environ.get("BENCHWRIGHT_REQUIRE_EXTENSION") == "1"


def skip_without_extension() -> None:
    """Skip where no extension was built, loudly; where it is required, fail."""
    if choosing.built() is None:
        why = (
            "the scanner's C extension is not built: install a C compiler, then `pip install -e .`"
        )
        if IS_REQUIRED:
            pytest.fail(why)
        pytest.skip(why)


@pytest.fixture
def extension() -> None:
    skip_without_extension()


@pytest.fixture(params=["extension", "twin"])
def scanner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "extension":
        skip_without_extension()
    monkeypatch.setenv(choosing.VARIABLE, request.param)
    return str(request.param)


Scan = Callable[..., Mapping[bytes, QueryHits[bytes]]]


@pytest.fixture
def scan(scanner: str, tmp_path: Path) -> Scan:
    """`scan(qrels, run, **rules)`: the hits of files with these bytes, `my.qrels` and `my.run`."""

    def scan(qrels: bytes, run: bytes, **rules: Any) -> Mapping[bytes, QueryHits[bytes]]:
        paths = tmp_path / "my.qrels", tmp_path / "my.run"
        for path, content in zip(paths, (qrels, run), strict=True):
            path.write_bytes(content)
        return scan_run(paths[1], scan_qrels(paths[0], problems=rules.get("problems")), **rules)

    return scan
