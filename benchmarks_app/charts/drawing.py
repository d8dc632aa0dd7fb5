"""Drawn charts: from the folder that keeps them, or by the process that draws."""

import atexit
import base64
import contextlib
import gzip
import hashlib
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings

from benchmarks_app.charts.chart import Chart
from benchwright.errors import BenchmarkError

ENGINE = Path(__file__).with_name("engine.py")
# The first drawing starts the engine; a busy machine takes its time.
PATIENCE_SECONDS = 60
MAX_FILES, MAX_BYTES = 2000, 64 * 1024 * 1024
SNIPPET = "window.vegaEmbed = vegaEmbed;"


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """To it and from it; it was started with both."""
    return cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)


class ChartError(BenchmarkError):
    code = "chart"
    status = 503
    message = "This chart could not be drawn: {reason}. Its numbers are in the CSV file."


def draw(chart: Chart, *, theme: str, format: str, size: str = "column") -> bytes:
    """The chart as `svg` or `png`.

    Raises
    ------
    ChartError
        If the specification is none, or the engine does not answer.
    """
    name = f"{chart.digest(theme, size, version('vl-convert-python'))}.{format}"
    spec = chart.vega_lite(theme, size)
    return _kept(name, lambda: _engine.ask({"format": format, "spec": spec}))


@cache
def bundle_digest() -> str:
    """What the bundle's name carries: another version of the library, another name."""
    text = f"{version('vl-convert-python')} {SNIPPET}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def bundle_gzipped() -> bytes:
    """Vega-Embed, Vega-Lite and Vega in one script, compressed."""
    question = {"format": "bundle", "snippet": SNIPPET}
    return _kept(f"vega-{bundle_digest()}.js.gz", lambda: gzip.compress(_engine.ask(question)))


# --- the folder ----------------------------------------------------------------------------------


def _kept(name: str, make: Callable[[], bytes]) -> bytes:
    """The file of this name, made where it is missing; the oldest go when there are too many."""
    path = _folder() / name
    with contextlib.suppress(FileNotFoundError):
        content = path.read_bytes()
        os.utime(path)
        return content
    content = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as out:
        out.write(content)
    Path(out.name).replace(path)
    _make_room(path.parent)
    return content


def drop_pictures() -> None:
    """Remove all that was drawn: names of runs stand in it, and may be those of people."""
    for path in [*_folder().glob("*.svg"), *_folder().glob("*.png")]:
        path.unlink(missing_ok=True)


def _folder() -> Path:
    return settings.DATA_DIR / "cache" / "charts"


def _make_room(folder: Path, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES) -> None:
    """Remove what was not asked for the longest, until the folder is within its bounds."""
    files = []
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another thread makes room as well
            files.append((path.stat().st_mtime, path.stat().st_size, path))
    n_bytes = sum(size for _, size, _ in files)
    for n_left, (_, size, path) in zip(range(len(files), 0, -1), sorted(files), strict=True):
        if n_left <= max_files and n_bytes <= max_bytes:
            return
        path.unlink(missing_ok=True)
        n_bytes -= size


# --- the process ---------------------------------------------------------------------------------


class _Engine:
    """One process for all threads of this one, started when first asked; it ends when idle."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: dict[str, Any]) -> bytes:
        line = json.dumps(question, default=str).encode() + b"\n"
        with self._lock:
            # It may have ended between two questions: then the second try finds a new one.
            answer = self._tried(line) or self._tried(line)
        if answer is None:
            raise ChartError(reason="the drawing process does not answer")
        if "error" in answer:
            raise ChartError(reason=" ".join(answer["error"].split("\n    at ")[0].split()))
        return base64.b64decode(answer["drawn"])

    def _tried(self, line: bytes) -> dict[str, str] | None:
        process = self._running()
        sending, answers = _pipes(process)
        try:
            sending.write(line)
            sending.flush()
            is_ready = select.select([answers], [], [], PATIENCE_SECONDS)[0]
            output = answers.readline() if is_ready else b""
        except OSError:
            output = b""
        if not output.endswith(b"\n"):
            self._end()
            return None
        return json.loads(output)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process and self._process.poll() is None:
            return self._process
        self._end()
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(ENGINE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return self._process

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        for pipe in _pipes(self._process):
            with contextlib.suppress(OSError):
                pipe.close()
        self._process.wait()
        self._process = None

    def end(self) -> None:
        with self._lock:
            self._end()


_engine = _Engine()
atexit.register(_engine.end)
