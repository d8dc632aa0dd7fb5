"""Site and workers ask readers of files from outside, and call none themselves."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
APPS = ("benchmarks_app", "annotation", "scoring")
LIBRARY = "benchwright"
# As in the import-linter contract; commands read a file of the person who types them.
LAYERS = ("api", "forms", "selectors", "services", "tasks", "views")


def trees(roots: Iterable[str], *patterns: str) -> Iterator[tuple[Path, ast.Module]]:
    for root in roots:
        for pattern in patterns:
            for path in sorted((ROOT / root).glob(pattern)):
                yield path.relative_to(ROOT), ast.parse(path.read_text())


@cache
def readers() -> set[str]:
    """The names of functions that are marked as readers."""
    return {
        node.name
        for _, tree in trees([LIBRARY], "**/*.py")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id == "reader" for mark in node.decorator_list)
    }


def called_of_library(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names of functions of the library that are called, by themselves or of their module."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {
        name.asname or name.name: name.name
        for node in imports
        if (node.module or "").startswith(LIBRARY)
        for name in node.names
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in names:
                yield names[name], node.lineno
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)):
                if module in names:
                    yield name, node.lineno


def calls_of_readers() -> list[str]:
    known = readers()
    patterns = [at for layer in LAYERS for at in (f"**/{layer}.py", f"**/{layer}/**/*.py")]
    looked_at = list(trees(APPS, *patterns))
    assert len(looked_at) > 400
    return [
        f"{path}:{line} calls {name}"
        for path, tree in looked_at
        for name, line in called_of_library(tree)
        if name in known
    ]


def test_readers_are_asked_and_never_called():
    assert len(readers()) > 20
    assert calls_of_readers() == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from benchwright.gates.small_files import policy_in\npolicy_in({})", [("policy_in", 2)]),
        ("from benchwright import small_files\nsmall_files.policy_in({})", [("policy_in", 2)]),
        ("from benchwright.gates.small_files import policy_in as p\np({})", [("policy_in", 2)]),
        ("from benchwright.gates.small_files import policy_in\ncall(policy_in, {})", []),
    ],
)
def test_a_call_is_seen_however_it_is_written(text, found):
    assert list(called_of_library(ast.parse(text))) == found
