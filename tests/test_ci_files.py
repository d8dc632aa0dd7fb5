"""What others take from this repository: an action, a job to extend, a hook, a citation."""

import importlib.util
import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import check_jsonschema
import pytest
import yaml
from click.testing import CliRunner
from pre_commit.main import main as pre_commit

from tests.doc_blocks import blocks

ROOT = Path(__file__).resolve().parent.parent
SEARCHED = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def files(folder: Path) -> dict[str, str]:
    """A candidate that is better in every query, and its variables."""
    queries = range(40)
    (folder / "qrels").write_text("".join(f"q{n} 0 a 1\nq{n} 0 b 0\n" for n in queries))
    for name, first, second in (("old", "b", "a"), ("new", "a", "b")):
        lines = (f"q{n} Q0 {first} 1 2 {name}\nq{n} Q0 {second} 2 1 {name}\n" for n in queries)
        (folder / f"{name} one.run").write_text("".join(lines))
    return {"QRELS": "qrels", "BASELINE": "old one.run", "CANDIDATE": "new one.run"}


def run(folder: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env={**SEARCHED, **variables},
        capture_output=True,
        text=True,
    )


def test_action_runs_the_gate_and_says_its_verdict(tmp_path):
    action = read("action.yml")
    gate = action["runs"]["steps"][-1]
    results = {INPUT.findall(str(value))[0] for value in gate["env"].values()}
    variables = dict.fromkeys(gate["env"], "") | files(tmp_path)
    variables |= {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": str(tmp_path / "output")}
    variables["GITHUB_STEP_SUMMARY"] = str(tmp_path / "summary")

    done = run(tmp_path, gate["run"], **variables)

    assert results | {"python-version"} == set(action["inputs"])
    assert INPUT.findall(gate["run"]) == []  # through the environment alone
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "output").read_text() == "verdict=pass\n"
    assert (tmp_path / "summary").read_text() == (tmp_path / "gate.md").read_text()


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({"CANDIDATE": "short.run"}, "not-comparable"),
        ({"SLICES": "slices", "POLICY": "gate.json"}, "pass"),  # PASS-STRICT
    ],
)
def test_verdict_of_the_action_is_one_that_its_description_names(changed, verdict, tmp_path):
    variables = files(tmp_path) | {"GITHUB_OUTPUT": str(tmp_path / "output"), **changed}
    (tmp_path / "short.run").write_text("q0 Q0 a 1 2 short\n")
    (tmp_path / "slices").write_text("".join(f"q{n}\thead\n" for n in range(40)))
    (tmp_path / "gate.json").write_text('{"slices": ["head"]}')

    run(tmp_path, f'bash "{ROOT / "ci/gate.sh"}"', **variables)

    assert (tmp_path / "output").read_text() == f"verdict={verdict}\n"
    assert verdict in re.findall(r"[\w-]+", read("action.yml")["outputs"]["verdict"]["description"])


def test_job_to_extend_runs_the_gate_and_fails_by_its_verdict(tmp_path):
    job = read("ci/gitlab.yml")[".benchwright-gate"]
    variables = job["variables"] | files(tmp_path)
    worse = {"BASELINE": variables["CANDIDATE"], "CANDIDATE": variables["BASELINE"]}
    script = "\n".join(job["script"])

    assert run(tmp_path, script, **variables).returncode == 0
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).is_file()
    assert run(tmp_path, script, **{**variables, **worse}).returncode == 11


# Schemas that come with check-jsonschema, so that nothing is fetched.
SCHEMAS = {
    "action.yml": ["vendor.github-actions"],
    "CITATION.cff": ["vendor.citation-file-format"],
    "ci/gitlab.yml": ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"],
    ".github/workflows/gate.yml": ["vendor.github-workflows"],
    ".gitlab-ci.yml": ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"],
}


def written(name: str) -> str:
    """A file of the repository, or the one that docs/gate-in-ci.md shows under this name."""
    if (ROOT / name).is_file():
        return (ROOT / name).read_text("utf-8")
    texts = (block.text for block in blocks() if block.page == "docs/gate-in-ci.md")
    return next(text for text in texts if text.startswith(f"# {name}\n"))


def checked(name: str, text: str, folder: Path) -> bool:
    (folder / "file.yml").write_text(text)
    words = ["--builtin-schema", *SCHEMAS[name], str(folder / "file.yml")]
    return CliRunner().invoke(check_jsonschema.main, words).exit_code == 0


@pytest.mark.parametrize("name", SCHEMAS)
def test_file_is_as_its_readers_want_it(name, tmp_path):
    # What is hidden may be anything; what extends it is a job.
    text = written(name).replace("\n.benchwright-gate:", "\nbenchwright-gate:")

    assert checked(name, text, tmp_path)
    keys = r"(?m)^( *)(using|title|script|runs-on|include|extends):"
    damaged = re.sub(keys, r"\1\2: {}\n\1x:", text)
    assert not checked(name, damaged, tmp_path)


def test_hook_and_its_use_are_as_pre_commit_wants_them(tmp_path):
    (tmp_path / "config.yaml").write_text(written(".pre-commit-config.yaml"))
    hooks = ROOT / ".pre-commit-hooks.yaml"

    assert pre_commit(["validate-manifest", str(hooks)]) == 0
    assert pre_commit(["validate-config", str(tmp_path / "config.yaml")]) == 0
    (tmp_path / "config.yaml").write_text(hooks.read_text("utf-8").replace("entry", "entri"))
    assert pre_commit(["validate-manifest", str(tmp_path / "config.yaml")]) == 1


def test_hook_takes_runs_and_qrels_and_nothing_else():
    (hook,) = read(".pre-commit-hooks.yaml")
    taken = ["a.run", "runs/b.run.gz", "c.qrels", "d.qrels.zst"]

    assert [
        name for name in [*taken, "run.py", "a.runs"] if re.search(hook["files"], name)
    ] == taken
    assert hook["entry"] == "benchwright check"


@pytest.fixture
def check() -> ModuleType:
    """.ci/release_check.py."""
    return module_at(ROOT / ".ci" / "release_check.py")


def module_at(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_changelog_is_by_versions_and_knows_that_of_the_package(check):
    changelog = (ROOT / "docs" / "CHANGELOG.md").read_text("utf-8")

    assert list(check.changelog_faults(changelog)) == []
    assert re.search(rf"^## {re.escape(check.version())} \(", changelog, re.MULTILINE)


@pytest.mark.parametrize(
    ("versions", "words"),
    [
        ("## 0.2.0 (2027-01-31)\n\n- a\n", ""),
        ("## 0.2.0\n\n- a\n", ":5: '0.2.0'; expected a version and its day"),
        ("## 0.2.0 (2027-02-31)\n\n- a\n", ":5: '0.2.0 (2027-02-31)'; expected"),
        # Packages are called 0.2.0 then, and nothing finds 0.02.0.
        ("## 0.02.0 (2027-01-31)\n\n- a\n", ":5: '0.02.0 (2027-01-31)'; expected"),
        ("## 0.1.0 (2026-01-01)\n\n- a\n\n## 0.1.0 (2026-01-01)\n\n- a\n", ":9: "),
        ("## 0.2.0 (2026-01-01)\n\n- a\n\n## 0.1.0 (2026-01-02)\n\n- a\n", ":9: "),
        ("## 0.9.0 (2026-02-01)\n\n- a\n\n## 0.10.0 (2026-01-02)\n\n- a\n", ":9: "),
        ("## 0.2.0 (2027-01-31)\n\nSoon.\n", "says nothing of 0.2.0"),
    ],
)
def test_changelog_that_goes_wrong_is_told(check, versions, words):
    faults = list(check.changelog_faults(f"# Changelog\n\n## Unreleased\n\n{versions}"))

    assert len(faults) == bool(words)
    assert all(words in fault for fault in faults)


def test_release_check_knows_what_a_version_has_to_say(check, monkeypatch, tmp_path):
    assert not [word for word in check.words_missing(check.version()) if "CITATION" in word]

    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(check, "ROOT", tmp_path)
    (tmp_path / "CITATION.cff").write_text("title: x\nversion: 0.2.0\n")
    changelog = tmp_path / "docs" / "CHANGELOG.md"
    changelog.write_text("# Changelog\n\n## Unreleased\n\n- a\n")
    (tmp_path / "docs" / "gate-in-ci.md").write_text("OWNER/benchwright@v0.2.0\n")
    assert len(list(check.words_missing("0.2.0"))) == 2
    changelog.write_text("# Changelog\n\n## Unreleased\n\n## 0.2.0 (2027-01-31)\n\n- a\n")
    assert list(check.words_missing("0.2.0")) == []


def test_one_command_writes_a_version_wherever_it_stands(check, monkeypatch, tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    names = ("pyproject.toml", "docs/CHANGELOG.md", *check.PLACES)
    for name in names:
        (tmp_path / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    monkeypatch.setitem(sys.modules, "release_check", check)
    release = module_at(ROOT / ".ci" / "release.py")
    day, before = date(2999, 1, 31), check.version()

    for of in ("", "0.2", before):
        assert release.main(of, day) == 1
    assert "release: docs/CHANGELOG.md:" in capsys.readouterr().out
    assert release.main("99.0.0", day) == 0

    assert check.version() == "99.0.0"
    assert list(check.words_missing("99.0.0")) == []
    changelog = (tmp_path / "docs" / "CHANGELOG.md").read_text("utf-8")
    assert "## Unreleased\n\n## 99.0.0 (2999-01-31)\n" in changelog
    assert f"v{before}" not in (tmp_path / "docs" / "gate-in-ci.md").read_text("utf-8")


def test_files_name_no_place_of_a_machine():
    for name in ("action.yml", "ci/gate.sh", "ci/gitlab.yml", ".pre-commit-hooks.yaml"):
        assert not re.search(
            r"(?<![\w$.}])/(?:home|tmp|root|work|Users)/", (ROOT / name).read_text()
        )
