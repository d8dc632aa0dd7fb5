"""What README and docs show is done as it stands, with example files and names beside it.

Each block has a folder of its own with the files of tests/doc_files.py. Commands are called in this
process, a line with a pipe by a shell; what a block shows of an answer (`console`) is the answer.
A block that cannot be run says so behind its fence (tests/doc_blocks.py).
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.core.management import CommandError, call_command

from benchmarks_app.people.services.api_tokens import create_api_token
from benchwright.cli.main import main
from tests import doc_files
from tests.benchwright.cli.sites import sites
from tests.doc_blocks import READ, ROOT, RUN, Block, blocks
from tests.judge_stub import JudgeStub

COMMAND = re.compile(
    r"^(\$ |(\.?[\w/]*python3? )?(manage\.py|benchwright|make) [a-z]|pip install )", re.M
)
FEWEST = 40
RUN_HERE = [block for block in blocks() if block.is_run_here]
SETTING = re.compile(r"[A-Z_]+=\S*")
STARTS = ("python", "python3", ".venv/bin/python")


def is_of_site(block: Block) -> bool:
    return "manage.py" in block.text or "benchwright --benchmark" in block.text


@pytest.mark.parametrize("block", blocks(), ids=str)
def test_block_says_its_language_and_is_run_or_says_why_not(block: Block):
    kind, _, words = block.mark.partition(": ")

    assert block.language in (*RUN, *READ), "say the language behind the fence"
    assert block.language in RUN or not COMMAND.search(block.text), "these are commands: sh"
    assert not block.mark or (kind in ("not run", "run by") and words), block.mark
    assert block.language != "ts" or block.run_by
    if block.run_by:
        test = (ROOT / block.run_by).read_text("utf-8")
        is_named = any(name in test for name in (Path(block.page).name, Path(block.page).stem))
        assert is_named or block.page.startswith("docs/from-"), block.run_by


@pytest.mark.parametrize(
    ("language", "mark", "text"),
    [
        ("", "", "{}"),
        ("text", "", "manage.py backup elsewhere"),
        ("text", "", "$ benchwright score a b"),
        ("sh", "later", "benchwright score a b"),
        ("sh", "not run: ", "benchwright score a b"),
        ("sh", "run by: tests/test_mutants.py", "benchwright score a b"),
        ("ts", "", "x"),
    ],
)
def test_block_that_says_nothing_would_be_seen(language, mark, text):
    with pytest.raises(AssertionError):
        test_block_says_its_language_and_is_run_or_says_why_not(
            Block("docs/clicks.md", 1, language, mark, text)
        )


def test_most_blocks_are_run():
    of_commands = [
        block for block in blocks() if block.language in RUN and "signature" not in block.mark
    ]

    assert len(RUN_HERE) >= FEWEST
    assert sum(bool(command.why_not) for command in of_commands) * 5 < len(of_commands)


@pytest.fixture(scope="module")
def stub() -> Iterator[JudgeStub]:
    with JudgeStub() as stub:
        yield stub


@pytest.fixture(scope="module")
def examples(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("examples") / "files"
    folder.mkdir()
    doc_files.write_files(folder)
    measured = ["-m", "nDCG@10", "--result", "result.json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        CliRunner().invoke(main, ["score", "qrels.txt", "bm25.run", *measured])
    return folder


@pytest.fixture
def here(examples, tmp_path, monkeypatch, stub) -> Path:
    folder = tmp_path / "here"
    shutil.copytree(examples, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BENCHWRIGHT_JUDGE_KEY", "a key")
    return folder


@pytest.mark.parametrize("block", [block for block in RUN_HERE if not is_of_site(block)], ids=str)
def test_block_runs(block: Block, here: Path, stub: JudgeStub):
    text = asking_the_stub(block.text, stub.url)
    if block.language == "python":
        exec(compile(text, str(block), "exec"), doc_files.names(block.page))
        return
    if "--vectors" in text:
        shutil.copytree(here / "sparse", here, dirs_exist_ok=True)
    for command, answer in steps(text):
        said, status = do(command)
        if block.language == "console":
            assert said.split() == answer.split()
        else:
            assert status == 0, f"{command}\n{said}"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("block", [block for block in RUN_HERE if is_of_site(block)], ids=str)
def test_block_runs_on_a_site(block: Block, here: Path, stub: JudgeStub, monkeypatch):
    owner = doc_files.furnish(block.page)
    token = create_api_token(user=owner, name="a page", days=1).secret
    monkeypatch.setenv("BENCHWRIGHT_SERVER", sites.URL)
    monkeypatch.setenv("BENCHWRIGHT_TOKEN", token)
    with sites.connected() as transport, sites.carried_by(monkeypatch, transport):
        test_block_runs(block, here, stub)


def asking_the_stub(text: str, url: str) -> str:
    """The block with models asked at an address that answers."""
    text = text.replace("http://127.0.0.1:11434/v1", url)
    text = text.replace('Endpoint("gpt-4o"', f'Endpoint("gpt-4o", "{url}"')
    text = text.replace("--judge gpt-4o", f"--judge {url}/gpt-4o")
    return text.replace("--model gpt-4o", f"--model gpt-4o --base-url {url}")


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Each command, and what is shown below it if it stands behind a prompt."""
    text = text.replace("\\\n", " ")
    if not text.startswith("$ "):
        yield from ((line, "") for line in text.splitlines() if line.strip())
        return
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, answer = part.partition("\n")
        yield command, answer


def do(command: str) -> tuple[str, int]:
    """What was said on both streams, and the exit status."""
    if "|" in command:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        shell = ["bash", "-o", "pipefail", "-c", command]
        done = subprocess.run(
            shell, env={**os.environ, "PATH": path}, text=True, capture_output=True, check=False
        )
        return done.stdout + done.stderr, done.returncode
    words = shlex.split(command, comments=True)
    while SETTING.fullmatch(words[0]) or words[0] in STARTS:
        words = words[1:]
    program, *rest = (name for word in words for name in globbed(word))
    if program == "manage.py":
        return managed(rest)
    assert program == "benchwright", command
    done = CliRunner().invoke(main, rest)
    fault = "" if isinstance(done.exception, SystemExit) else done.exception or ""
    return f"{done.output}{fault}", done.exit_code


def globbed(word: str) -> list[str]:
    return sorted(str(path) for path in Path().glob(word)) if "*" in word else [word]


def managed(words: list[str]) -> tuple[str, int]:
    stdout, stderr = io.StringIO(), io.StringIO()
    try:
        call_command(*words, stdout=stdout, stderr=stderr)
    except CommandError as error:
        return f"CommandError: {error}", error.returncode
    return stdout.getvalue() + stderr.getvalue(), 0
