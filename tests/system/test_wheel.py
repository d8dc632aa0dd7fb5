"""What people install: a wheel, made from the sdist, in environments that know no checkout.

With `BENCHWRIGHT_FROM_INDEX=1`, as in CI, every interpreter that is there gets environments of its
own, with what pip brings from the index. Otherwise nothing is downloaded: this interpreter alone,
and what Benchwright needs comes from the environment of the tests.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.made_once import made_once
from tests.system.site import ROOT, free_port

FROM_INDEX = os.environ.get("BENCHWRIGHT_FROM_INDEX") == "1"
OURS = {"annotation", "benchmarks_app", "benchwright", "scoring"}
NOT_OF_THE_CHECKOUT = shutil.ignore_patterns(
    *(".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__", "*.so", "*.egg-info"),
    *("build", "data", "var"),
)
DOCS_SITE = "benchmarks_app/docs_site/"
BUILT = ("index.html", "metrics/index.html", "searchindex.js", "_static/manual.css")
LONGEST_IMPORT_MS = 40
SCRIPT = """
from collections.abc import Mapping
from pathlib import Path

from benchwright import Comparison, compare, compare_runs, evaluate, read_qrels, read_run


def means(folder: Path) -> Mapping[str, float]:
    qrels = read_qrels(folder / "qrels.txt")
    run = read_run(folder / "bm25.run")
    found = evaluate(qrels, run, ["nDCG@10"])
    again = evaluate(qrels, folder / "dense.run", ["nDCG@10"])
    print(compare({"bm25": found, "dense": again}, measures=["nDCG@10"]))
    best: float = found["MRR"]
    both: Comparison = compare_runs(qrels, [folder / "bm25.run", run], ["nDCG@10"])
    heights: int = both.to_frame().height + found.to_frame(by="query").height
    print(best, heights, both._repr_html_())
    return found.means


wrong: int = evaluate("qrels.txt", "bm25.run", ["nDCG@10"]).means  # type: ignore[assignment]
"""


@dataclass(frozen=True)
class Environment:
    """A virtual environment of one interpreter, with Benchwright from the wheel."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        (path,) = self.folder.glob("lib/python3.*/site-packages")
        return path

    def run(
        self, *words: object, cwd: Path, typed: str = "", **more: str
    ) -> subprocess.CompletedProcess[str]:
        command = [str(self.folder / "bin" / str(words[0])), *map(str, words[1:])]
        return subprocess.run(
            command,
            cwd=cwd,
            input=typed,
            env=surroundings(cwd) | more,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    def output(self, *words: object, cwd: Path) -> str:
        done = self.run(*words, cwd=cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()


def surroundings(home: Path) -> dict[str, str]:
    """The environment variables of somebody who has only a home."""
    passed = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    # What was installed stays as it was, as where only an administrator writes.
    return {**passed, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}


SYSTEM = "of the system"


def interpreter(version: str) -> str | None:
    """A Python of that version, as a path; None where there is none.

    That of the system may be an earlier one of the same name: Debian 12 has 3.11.2.
    """
    if version == SYSTEM:
        return _system_interpreter()
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = shutil.which(f"python{version}")
    for path in (on_path, *map(str, sorted(kept.glob(f"{version}.*/bin/python")))):
        # A name on the path may be a stand-in for an interpreter that was not chosen.
        with contextlib.suppress(OSError):
            if path and subprocess.run([path, "-V"], capture_output=True).returncode == 0:
                return path
    return None


def _system_interpreter() -> str | None:
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        code = "import sys; assert sys.version_info >= (3, 11); print(sys.version)"
        command = ["/usr/bin/python3", "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return command[0] if done.stdout.strip() != sys.version else None
    return None


@pytest.fixture(scope="module")
def built() -> Path:
    """A folder with the sdist, its content, and the wheel that was built from that."""

    def build(folder: Path) -> None:
        source = folder / "source"
        shutil.copytree(ROOT, source, ignore=NOT_OF_THE_CHECKOUT)
        _build("build_sdist", source, folder)
        (sdist,) = folder.glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            archive.extractall(folder / "sdist", filter="data")
        (content,) = (folder / "sdist").iterdir()
        _build("build_wheel", content, folder)

    return made_once("wheel", build)


def _build(what: str, source: Path, folder: Path) -> None:
    code = f"from setuptools import build_meta; build_meta.{what}({str(folder)!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=source, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(built) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module", params=[SYSTEM, "3.11", "3.12", "3.13", "3.14"])
def python(request) -> str:
    version = request.param
    if not FROM_INDEX and version != f"{sys.version_info.major}.{sys.version_info.minor}":
        pytest.skip(f"Python {version}: only with BENCHWRIGHT_FROM_INDEX=1")
    if result := interpreter(version):
        return result
    pytest.skip(f"there is no Python {version}, or no other")


@pytest.fixture(scope="module")
def bare(python, wheel, tmp_path_factory) -> Environment:
    """Benchwright and click."""
    environment = _environment(python, tmp_path_factory.mktemp("bare"))
    _install(environment, wheel)
    if not FROM_INDEX:
        click = Path(sysconfig.get_path("purelib")) / "click"
        shutil.copytree(click, environment.packages / "click")
    return environment


@pytest.fixture(scope="module")
def whole(python, wheel, tmp_path_factory) -> Environment:
    """Benchwright with the extra `site`."""
    environment = _environment(python, tmp_path_factory.mktemp("whole"))
    _install(environment, f"{wheel}[site]" if FROM_INDEX else wheel)
    if not FROM_INDEX:
        # A folder alone: how the checkout is found stands in a .pth there, which is not followed.
        (environment.packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment


def _environment(python: str, folder: Path) -> Environment:
    subprocess.run([python, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    return Environment(folder / "venv")


def _install(environment: Environment, what: Path | str) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    offline = [] if FROM_INDEX else ["--no-index", "--no-deps"]
    command = [*pip, "--python", str(environment.python), "install", "--no-compile", *offline]
    subprocess.run([*command, str(what)], check=True, timeout=900)


# --- what is in them -----------------------------------------------------------------------------


def carried_files() -> set[str]:
    """What the wheel has to hold beside modules, by its name there."""
    static = {
        str(path.relative_to(ROOT))
        for app in OURS
        for path in (ROOT / app / "static").rglob("*")
        if path.is_file()
    }
    folders = {"docs": "*.md", "templates": "*", "fixtures/demo": "*"}
    carried = {
        f"benchmarks_app/{folder}/{path.relative_to(ROOT / folder)}"
        for folder, files in folders.items()
        for path in (ROOT / folder).rglob(files)
        if path.is_file()
    }
    carried.add("benchmarks_app/docs/contents.toml")
    catalogues = (ROOT / "benchmarks_app" / "locale").rglob("*.mo")
    carried |= {str(path.relative_to(ROOT)) for path in catalogues}
    types = {"benchwright/evaluation/_mappings.pyi", "benchwright/reading/_scanner.pyi"}
    return static | carried | types | {"benchwright/py.typed"}


def test_wheel_holds_the_whole_site_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    modules = {str(path.relative_to(ROOT)) for app in OURS for path in (ROOT / app).rglob("*.py")}
    others = {
        name
        for name in names
        if ".dist-info/" not in name and not name.endswith((".py", ".abi3.so"))
    }
    pages = {name for name in others if name.startswith(DOCS_SITE)}

    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == OURS
    assert {name for name in names if name.endswith(".py")} == modules
    assert others - pages == carried_files()
    assert {f"{DOCS_SITE}{name}" for name in BUILT} <= pages
    assert wheel.name.split("-")[2:4] == ["cp311", "abi3"]


def test_sdist_holds_the_tests_and_what_they_read(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    kept = ("tests", "docs", "fixtures", "templates", "Makefile", "manage.py", ".ci")
    kept += ("benchmarks_app/locale",)
    expected = {
        str(path.relative_to(ROOT))
        for top in kept
        for path in ((ROOT / top).rglob("*") if (ROOT / top).is_dir() else [ROOT / top])
        if path.is_file() and path.suffix != ".pyc"
    }

    assert expected - names == set()
    assert [name for name in names if name.endswith((".pyc", ".so", "__pycache__"))] == []


# --- without anything else -----------------------------------------------------------------------


def test_scoring_needs_click_alone_and_up_names_the_extra(bare, tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "bm25.run").write_text("q1 Q0 d1 1 1.0 bm25\n")

    scored = bare.output(
        "benchwright", "score", "qrels.txt", "bm25.run", "-m", "nDCG@10", cwd=tmp_path
    )
    refused = bare.run("benchwright", "up", cwd=tmp_path)

    assert "1.0000" in scored
    assert bare.run("python", "-c", "import numpy", cwd=tmp_path).returncode == 1
    assert refused.returncode == 1
    assert "`benchwright up` needs " in refused.stderr
    assert "pip install 'benchwright[site]'" in refused.stderr


def test_import_takes_little_time(bare, tmp_path):
    code = (
        "import time; began = time.process_time(); import benchwright; "
        "print(1000 * (time.process_time() - began), benchwright.__file__)"
    )

    answers = [bare.output("python", "-c", code, cwd=tmp_path).split() for _ in range(5)]

    assert {file for _, file in answers} == {str(bare.packages / "benchwright" / "__init__.py")}
    assert min(float(ms) for ms, _ in answers) < LONGEST_IMPORT_MS


def test_types_reach_a_script_under_strict_mypy(whole, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--python-executable",
            whole.python,
            "script.py",
        ],
        cwd=tmp_path,
        env=surroundings(tmp_path),
        capture_output=True,
        text=True,
    )

    # The line that is wrong is only found, and its comment used, where types are known.
    assert done.stdout == "Success: no issues found in 1 source file\n", done.stdout + done.stderr


# --- the site ------------------------------------------------------------------------------------


@contextlib.contextmanager
def started(environment: Environment, *words: str, cwd: Path) -> Iterator[tuple[str, Path]]:
    """A command that serves: its address, once it answers there, and its log."""
    port, log = free_port(), cwd / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [environment.folder / "bin" / "benchwright", *words, "--port", str(port)],
            cwd=cwd,
            env=surroundings(cwd / "home"),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 300
        while not answers(address):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield address, log
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0, log.read_text()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)  # it ends its children
        process.wait(timeout=60)


def answers(address: str) -> bool:
    try:
        return bool(page(f"{address}/"))
    except (urllib.error.URLError, OSError):
        return False


def page(address: str, language: str = "en") -> str:
    asked = urllib.request.Request(address, headers={"Accept-Language": language})
    with urllib.request.urlopen(asked, timeout=30) as answer:
        assert answer.status == 200
        return str(answer.read().decode())


def content(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def misleading(folder: Path) -> Path:
    """A working folder that looks like a checkout of something."""
    (folder / "templates").mkdir(parents=True)
    (folder / "home").mkdir()
    for name in ("manage.py", "benchmarks_app.py", "benchwright.py", "django.py"):
        (folder / name).write_text("raise SystemExit('the wrong one')\n")
    return folder


def test_up_serves_the_site_from_any_folder_and_keeps_data_in_the_users(whole, tmp_path):
    before = content(whole.folder)

    with started(whole, "up", cwd=misleading(tmp_path / "anywhere")) as (address, log):
        front = page(f"{address}/")
        manual = page(f"{address}/docs/metrics/")
        german = page(f"{address}/sign-in/", "de")
        scripts = page(f"{address}/static/annotation/judge.css")
        text = log.read_text()

    data = tmp_path / "anywhere" / "home" / ".local" / "share" / "benchwright"
    assert "· Benchwright</title>" in front
    assert "<h1>Anmelden</h1>" in german
    assert "docs-prose" in manual and "/_static/theme.js" in manual
    assert scripts == (ROOT / "annotation/static/annotation/judge.css").read_text()
    assert f"The data of this site is in {data}" in text
    assert f"Benchwright is at {address}/" in text
    assert (data / "benchwright.sqlite3").is_file()
    assert data.stat().st_mode & 0o077 == 0
    assert content(whole.folder) == before
    assert {path.name for path in (tmp_path / "anywhere").iterdir()} == {
        *("benchmarks_app.py", "benchwright.py", "django.py", "home", "log", "manage.py"),
        "templates",
    }


def test_demo_finds_what_it_is_built_of(whole, tmp_path):
    code = (
        "import django; django.setup()\n"
        "from benchmarks_app.importing.services.demo import FIXTURES\n"
        "print(*sorted(str(path) for path in FIXTURES.iterdir()), sep='\\n')"
    )
    done = whole.run(
        "python", "-c", code, cwd=tmp_path, DJANGO_SETTINGS_MODULE="benchmarks_app.settings"
    )

    folder = whole.packages / "benchmarks_app" / "fixtures" / "demo"
    names = sorted(path.name for path in (ROOT / "fixtures" / "demo").iterdir())
    assert done.stdout.splitlines() == [str(folder / name) for name in names], done.stderr


def test_files_are_imported_by_commands_alone(whole, tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "one"}\n')
    (tmp_path / "asked.csv").write_text("topic;query\n1;one or two\n")
    (tmp_path / "a.run").write_text("1 Q0 d1 1 1.0 a\n")
    imported = [
        ("import_file", "mine", file, "--user", "olga")
        for file in ("corpus.jsonl", "asked.csv", "a.run")
    ]
    commands = [
        ("migrate", "-v0"),
        ("create_user", "olga", "--email", "olga@example.org", "--password-stdin"),
        ("create_benchmark", "mine", "--name", "Mine", "--owner", "olga"),
        *imported,
    ]
    code = (
        "import django; django.setup()\n"
        "from django.core.management import call_command\n"
        f"for words in {commands}: call_command(*words)"
    )
    settings = {"DJANGO_SETTINGS_MODULE": "benchmarks_app.settings"}
    # What reads files is a process of its own, which need not compile it all once more.
    settings |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path / "compiled")}

    done = whole.run("python", "-c", code, cwd=tmp_path, typed="a long password\n", **settings)

    assert done.returncode == 0, done.stderr
    assert "1 document" in done.stdout
    assert "1 query" in done.stdout
    assert "run 'a'" in done.stdout
