"""What docs/client.md says is done: its commands and its Python, on the site of this process."""

import re
import shlex
from pathlib import Path

import pytest

from benchmarks_app.people.services.api_tokens import create_api_token
from benchwright import client as module
from benchwright.client import Client, errors
from tests import factories
from tests.benchwright.cli.sites import sites
from tests.doc_blocks import blocks
from tests.world import RUN

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "client.md").read_text("utf-8")
ABOUT = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1]


@pytest.fixture
def site(db, monkeypatch):
    with sites.connected() as transport, sites.carried_by(monkeypatch, transport):
        yield sites.URL


@pytest.fixture
def benchwright(tmp_path):
    return sites.runner(tmp_path / "config")


def examples(language: str) -> list[str]:
    """What this module runs of the page."""
    here = [block for block in blocks() if block.page == "docs/client.md" and block.run_by]
    return [block.text for block in here if block.language == language]


@pytest.fixture
def token(db, tmp_path, monkeypatch):
    """Sam's token; the files that the page names are where he is."""
    benchmark = factories.tiny_benchmark("stdlib")
    factories.release(benchmark.qrel_sets.get(), "0.1.0")
    sam = factories.member(benchmark, "sam", "submitter")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "bm25.run").write_text(RUN)
    (here / "dense.run").write_text(RUN.replace("2.0", "2.5"))
    (here / "about.yaml").write_text(ABOUT)
    return create_api_token(user=sam, name="laptop", days=30).secret


def test_commands_of_the_page_work(token, site, benchwright):
    ran = []
    for block in examples("sh"):
        for line in block.strip().splitlines():
            address = line.replace("http://127.0.0.1:8000", site)
            _, *words = shlex.split(address)
            known = {} if words[0] == "login" else {"BENCHWRIGHT_TOKEN": token}
            done = benchwright(*words, stdin=token, **known)
            assert done.exit_code == 0, (line, done.output)
            ran.append(words[0])
    assert ran == ["login", "pull", "pull", "submit", "submit"]


def test_python_of_the_page_works(token, site, capsys):
    first, _ = examples("python")

    exec(first.replace("http://127.0.0.1:8000", site), {"token": token})

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "sam"
    assert lines[1].startswith("0.1.0 20")
    assert re.fullmatch(r"scored 0\.\d+ \[0\.\d+, [01]\.\d+\]", lines[2])
    assert lines[3] == "{'BM25': 1}"


def test_program_of_the_page_works(token, site, capsys, monkeypatch):
    _, program = examples("python")
    Path("runs").mkdir()
    Path("bm25.run").rename("runs/bm25.run")
    monkeypatch.setattr("sys.argv", ["submit.py", "stdlib", "runs"])
    monkeypatch.setenv("BENCHWRIGHT_SERVER", site)
    monkeypatch.setenv("BENCHWRIGHT_TOKEN", token)

    exec(program, {"__name__": "__main__"})

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "bm25 scored"
    assert [line.split("\t")[:2] for line in lines[1:]] == [
        [measure, "bm25"] for measure in ("nDCG@10", "P@5", "RBP(p=0.5)", "bpref", "AP")
    ]


def test_page_names_every_method_and_every_error():
    methods = {name for name in vars(Client) if not name.startswith("_")} - {"signed_in", "close"}
    kinds = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.ClientError)
    }
    told_by_themselves = {
        *("ServerAddressError", "RedirectedError", "StrangeAnswerError", "NoReleaseError"),
        *("NotAReleaseNameError", "NoPhaseError"),
    }

    assert {name for name in methods if f"`{name}(" not in PAGE and f"{name}(" not in PAGE} == set()
    assert {name for name in kinds - told_by_themselves if name not in PAGE} == set()
    assert set(module.__all__) >= {"Client", "ClientError", "RefusedError"}


def test_metadata_of_the_page_is_what_the_site_takes():
    from benchwright.runs.facts import BY_NAME

    assert [name for name in BY_NAME if name not in PAGE] == []
    assert sites.URL.startswith("http://localhost")
