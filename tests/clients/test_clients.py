"""Generated clients run the main path on a live site, as docs/own-client.md has them, unwarned.

The generators and the compiler are in an environment of their own, made by `make clients`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchwright import evaluate
from tests.conftest import are_services_required
from tests.doc_blocks import blocks
from tests.system.site import ROOT, Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.in_thirds(whole=True),
    pytest.mark.xdist_group("clients"),
]

HERE = Path(__file__).parent
TOOLS = ROOT / ".venv-clients"
FIXTURE = ROOT / "fixtures" / "tiny_benchmark"
KEPT = ROOT / "docs" / "openapi.json"
PAGE = (ROOT / "docs" / "own-client.md").read_text("utf-8")
CURL, *GENERATE = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
# Names inner types of arrays in forms, which it writes as `Array<Blob>` and `Array<KindsEnum>`.
HARMLESS = "Could not compute datatypeWithEnum from"
N_RESULTS = 3
# {(benchmark, command): what may have been meant}
MISTAKEN = {
    ("help-page", "leaderboard"): "Did you mean 'help-pages'?",
    ("help-pages", "pool wrods"): "Did you mean 'words'?",
    ("help-pages", "release novemver"): "Did you mean 'november'?",
    ("help-pages", "leaderbord"): "Did you mean 'leaderboard'?",
    ("help-pages", "split --output x"): "--output is of files.",
}


@pytest.fixture(scope="module")
def tools() -> Path:
    """The programs of the environment; skips where it was not made, fails where CI forgot it."""
    programs = [*(f"bin/{name}" for name in ("openapi-python-client", "openapi-generator-cli"))]
    lacking = [name for name in (*programs, "node_modules/.bin/tsc") if not (TOOLS / name).exists()]
    if lacking or not shutil.which("node"):
        why = f"no {', '.join(lacking) or 'node'} in {TOOLS.name}: `make clients` installs it"
        (pytest.fail if are_services_required() else pytest.skip)(why)
    return TOOLS


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("site")) as site:
        site.start("worker")
        site.start("web")
        yield site


@pytest.fixture(scope="module")
def token(site: Site) -> str:
    return site.call("token_of", username="nell")


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fixture's documents and queries, and two runs of three documents a query."""
    folder = tmp_path_factory.mktemp("collection")
    for name in ("corpus.jsonl", "queries.jsonl"):
        shutil.copy(FIXTURE / name, folder)
    docids, qids = (ids_of(folder / f"{name}.jsonl") for name in ("corpus", "queries"))
    for step, name in enumerate(("words.run", "titles.run"), start=1):
        lines = [
            f"{qid} Q0 {docids[(at + rank * step) % len(docids)]} {rank} {9 - rank} {name}\n"
            for at, qid in enumerate(qids)
            for rank in range(1, N_RESULTS + 1)
        ]
        (folder / name).write_text("".join(lines))
    return folder


def ids_of(path: Path) -> list[str]:
    lines = path.read_text("utf-8").rstrip("\n").split("\n")  # a text has other separators
    return [json.loads(line)["_id"] for line in lines]


@pytest.fixture
def folder(site: Site, tools: Path, tmp_path: Path) -> Path:
    """Where a client is made, with the description of the site."""
    done(CURL.replace("http://127.0.0.1:8000", site.url), tmp_path)
    kept, made = (json.loads(path.read_text("utf-8")) for path in (KEPT, tmp_path / "openapi.json"))
    assert made["paths"] == kept["paths"]  # bounds of some numbers are those of the database
    return tmp_path


def done(command: str, folder: Path, **environment: str) -> str:
    """What a command prints, on either of its outputs; it has to end with 0."""
    path = os.pathsep.join(
        [*(str(TOOLS / name) for name in ("bin", "node_modules/.bin")), os.environ["PATH"]]
    )
    ended = subprocess.run(
        ["bash", "-euc", command],
        cwd=folder,
        env={"HOME": str(folder), **environment, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stdout
    return ended.stdout


def test_client_in_python_runs_the_main_path(site, token, collection, folder):
    generated = done(GENERATE[0], folder)
    shutil.copy(HERE / "main_path.py", folder)
    report = json.loads(
        done(f"python main_path.py {site.url} {token} in-python {collection}", folder)
    )

    assert "warning" not in generated.lower()
    check(report, collection)


def test_client_in_typescript_compiles_and_runs_the_main_path(site, token, collection, folder):
    generated = done(GENERATE[1], folder)
    for name in ("main_path.ts", "tsconfig.json"):
        shutil.copy(HERE / name, folder)
    (folder / "node_modules").symlink_to(TOOLS / "node_modules")
    done("tsc", folder)
    report = json.loads(
        done(f"node main_path.js {site.url} {token} in-typescript {collection}", folder)
    )

    warnings = re.findall(r"(?:WARN|ERROR).*", generated)
    assert [line for line in warnings if HARMLESS not in line] == []
    for name, kind in (("images", "Array<Blob>"), ("kinds", "Array<KindsEnum>")):
        apis = (path.read_text("utf-8") for path in (folder / "benchwright-api/apis").iterdir())
        assert any(f"{name}?: {kind};" in text for text in apis)
    check(report, collection)


def test_script_of_the_readme_goes_from_files_to_board_and_export(
    site, token, collection, folder_of_files
):
    """What `benchwright` says of each step, and again as JSON where nothing is changed by it."""
    (script,) = [
        block.text
        for block in blocks()
        if block.page == "README.md" and "test_clients" in block.run_by
    ]
    benchwright = f'benchwright() {{ {sys.executable} -m benchwright "$@"; }}\n'
    known = {"SITE": site.url, "BENCHWRIGHT_TOKEN": token, "PYTHONPATH": str(ROOT)}

    evaluation = done(benchwright + script, folder_of_files, **known)
    on = f"{benchwright}benchwright --site $SITE --benchmark help-pages"
    board = json.loads(done(f"{on} leaderboard --json", folder_of_files, **known))
    for mistaken, meant in MISTAKEN.items():
        refused = done(
            f"{on.replace('help-pages', mistaken[0])} {mistaken[1]} || test $? = 2",
            folder_of_files,
            **known,
        )
        assert meant in refused.splitlines()[-1]

    assert [line for line in evaluation.splitlines() if line.startswith("Warning")] == []
    assert f"{site.url}/join/" in evaluation
    assert re.search(r"^titles, again less words: -?0\.\d{4}  \[.*\]  p ", evaluation, re.MULTILINE)
    assert {row["run"] for row in board["rows"]} == {"words", "titles", "titles, again"}
    assert (folder_of_files / "help-pages" / "corpus.jsonl").exists()


@pytest.fixture
def folder_of_files(collection: Path, tmp_path: Path) -> Path:
    """The collection, and a grade for each document that either run has."""
    folder = tmp_path / "files"
    shutil.copytree(collection, folder)
    lines = [line for run in folder.glob("*.run") for line in run.read_text().splitlines()]
    pairs = {tuple(line.split()[:3:2]) for line in lines}
    graded = [f"{qid} 0 {docid} {len(qid + docid) % 3}\n" for qid, docid in sorted(pairs)]
    (folder / "graded.qrels").write_text("".join(graded))
    return folder


def check(told: dict[str, Any], collection: Path) -> None:
    """What was told at the end is what the grades that were given come to, by the library."""
    qrels: dict[str, dict[str, int]] = {}
    for qid, _, docid, grade in map(str.split, told["qrels"]):
        qrels.setdefault(qid, {})[docid] = int(grade)
    runs = {path.stem: path for path in collection.glob("*.run")}
    means = {
        name: evaluate(qrels, path, ["nDCG@10"]).means["nDCG@10"] for name, path in runs.items()
    }

    assert told["version"] == "0.1.0"
    assert told["n_graded"] == len(told["qrels"]) > len(qrels) * N_RESULTS
    assert told["board"] == pytest.approx(means | {"submitted": means["words"]}, abs=5e-5)
    assert told["scores"]["nDCG@10"] == pytest.approx(means["words"])
    assert told["n_bytes"] > 1000
