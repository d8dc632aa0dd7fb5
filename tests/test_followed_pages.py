"""Pages that are followed word for word: what stands in a block of `sh` is done, in its order.

Commands are called in this process, which starts none: `manage.py …` and `benchwright …` with their
words, on a site in it, and files that a block writes with `cat > FILE <<'END'`.
"""

import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.core.management import call_command

from benchmarks_app.models import User
from benchmarks_app.people.services.api_tokens import create_api_token
from benchwright.cli.main import main
from benchwright.evaluation.evaluating import evaluate
from tests import factories, notebooks
from tests.benchwright.cli.sites import sites
from tests.doc_blocks import blocks

ROOT = Path(__file__).resolve().parent.parent
FILE = re.compile(r"^cat > (\S+) <<'END'$")
COMING_FROM = sorted(path.stem for path in (ROOT / "docs").glob("from-*.md"))


def steps(page: str) -> Iterator[tuple[str, str]]:
    """Each line of the page's blocks, or the file that it begins: its name and its content."""
    for block in blocks():
        if block.page != f"docs/{page}.md" or block.language != "sh":
            continue
        lines = iter(block.text.splitlines())
        for line in lines:
            if file := FILE.match(line):
                content = "".join(f"{row}\n" for row in iter(lines.__next__, "END"))
                yield file[1], content
            elif line:
                yield "", line


def follow(page: str) -> list[str]:
    """What was said by each command."""
    results = []
    for name, text in steps(page):
        if name:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, "utf-8")
        else:
            results.append(_run(shlex.split(text, comments=True)))
    return results


def _run(words: list[str]) -> str:
    program, *rest = words
    if program == "manage.py":
        stdout = io.StringIO()
        call_command(*rest, stdout=stdout)
        return stdout.getvalue()
    assert program == "benchwright", words
    token = token_of(User.objects.get()) if rest[0] == "login" else ""
    done = CliRunner().invoke(main, rest, input=token)
    assert done.exit_code == 0, f"{shlex.join(words)}\n{done.output}\n{done.exception!r}"
    return done.output


def token_of(user: User) -> str:
    return create_api_token(user=user, name="a page", days=1).secret


@pytest.fixture
def site(db, tmp_path_factory, monkeypatch) -> Iterator[None]:
    """A site that commands are done on, to which nobody is signed in."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    with sites.connected() as transport, sites.carried_by(monkeypatch, transport):
        yield


@pytest.fixture
def known_site(site, monkeypatch) -> None:
    """The same, with its address and the token of somebody in the environment."""
    monkeypatch.setenv("BENCHWRIGHT_SERVER", sites.URL)
    monkeypatch.setenv("BENCHWRIGHT_TOKEN", token_of(factories.user("olga")))


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("getpass.getpass", lambda *prompt: "correct-horse-battery-staple")


def test_tutorial_leads_from_a_corpus_to_a_release(site):
    output = follow("tutorial")

    assert "nDCG@10" in output[-2]
    assert "18 entered\n3 are of documents that the pool does not have\n" in output
    assert any("The pool 'first' still wants 13 labels" in line for line in output)
    assert Path("bread/corpus.jsonl").is_file()
    assert evaluate("qrels.txt", "bm25.run", ["nDCG@10"])["nDCG@10"] > 0.5


@pytest.mark.parametrize(
    "path", sorted(notebooks.FOLDER.glob("*.ipynb")), ids=lambda path: path.stem
)
def test_notebook_comes_to_what_it_shows(path):
    assert path.read_text("utf-8") == notebooks.written(path), "python -m tests.notebooks renews it"


def test_gate_of_a_build_is_as_the_page_says():
    output = follow("gate-in-ci")

    assert "inconclusive" in output[-1].lower()
    assert Path("gate.xml").read_text().startswith("<?xml")


@pytest.mark.parametrize("page", COMING_FROM)
def test_what_maps_to_what_is_tried(page, known_site):
    output = follow(page)

    # No page makes grades none of which counts, but one that says so with the release.
    says_threshold = any("--rel " in text for _, text in steps(page))
    assert output
    assert says_threshold or not any("WARNING" in text for text in output)
