"""The page of settings: every variable of the environment that the code reads, from the code.

What a site reads stands in benchmarks_app/settings.py, and of the sign-in provider in
oidc/provider.py, by `env_…` calls; the rest of the code is searched for what it takes from
`os.environ`. Words about each are in docs/settings.md.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from benchmarks_app import env
from benchmarks_app.oidc import provider
from benchwright.cli.main import ENVIRONMENT

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "benchmarks_app" / "settings.py"
PROVIDER = Path(provider.__file__)
WORDS = ROOT / "docs" / "settings.md"
TAKES = {
    "env_str": "text",
    "env_site": "`https://host` or `https://host/path`",
    "env_database": "`sqlite:///path` or `postgres://…`",
    "env_broker": "`filesystem://localhost`, `redis://…` or `amqp://…`",
    "env_level": "`DEBUG`, `INFO`, `WARNING`, `ERROR`, `CRITICAL`",
    "env_web": "an address by http or https",
    "env_hosts": "hosts, with commas",
    "env_secret": "50 characters or more",
    "env_token": "16 characters or more",
    "env_bool": "`1` or `0`",
    "env_list": "a list, with commas",
    "env_names": "names, with commas",
    "env_origins": "`https://host`, with commas",
    "env_regions": "countries of two letters, with commas",
    "env_limits": "`kind=number`, with commas",
    "env_addresses": "`VARIABLE=https://…`, with commas",
    "env_words": "`name=word word`, with commas",
    "env_proxies": "a number, or networks with commas",
    "env_path": "a folder",
    "env_store": "`s3://bucket/prefix?endpoint=…`",
}
# Of commands that need no site, beside those that each command's help names.
OF_JUDGES = (
    ("BENCHWRIGHT_JUDGE_KEY", "the key of the judge that `judge` and `contextual` ask"),
    ("OPENAI_API_KEY", "the same, for OpenAI's own address alone"),
)
# What the code reads or sets and nobody sets for us: of systems, of libraries, between processes.
NONE_OF_OURS = {
    *("TMPDIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA"),
    *("TOKENIZERS_PARALLELISM", "DJANGO_SETTINGS_MODULE", "CELERY_SKIP_CHECKS"),
    *("PROMETHEUS_MULTIPROC_DIR", "BENCHWRIGHT_STARTED", "_BENCHWRIGHT_COMPLETE"),
    "OTEL_SERVICE_NAME",
}


class Setting(NamedTuple):
    """A variable: what it takes, and its default as it would be written; empty where it is none."""

    name: str
    takes: str
    default: str


def settings() -> dict[str, Setting]:
    """What the site reads, by name, in the order of the code."""
    results: dict[str, Setting] = {}
    modules = [ast.parse(path.read_text("utf-8")) for path in (SETTINGS, PROVIDER)]
    for call in chain.from_iterable(map(ast.walk, modules)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args:
            kind, name = call.func.id, _text(call.args[0])
            if kind.startswith("env_") and name:
                values = {keyword.arg or "": keyword.value for keyword in call.keywords}
                takes = TAKES.get(kind) or _range(kind, call, values)
                default = values.get("default") or (call.args[1] if len(call.args) > 1 else None)
                results.setdefault(name, Setting(name, takes, _written(default)))
    return results


def _text(node: ast.expr) -> str:
    """A text, written out or by its name in the module of the provider."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    return str(vars(provider).get(node.id, "")) if isinstance(node, ast.Name) else ""


def _range(kind: str, call: ast.Call, given: Mapping[str, ast.expr]) -> str:
    if kind == "env_choice":
        return ", ".join(f"`{choice}`" for choice in ast.literal_eval(call.args[2]))
    assert kind == "env_int", kind
    ends = {name: ast.unparse(value) for name, value in given.items()}
    to = f" to {vars(env)[ends['maximum']]}" if "maximum" in ends else ""
    return f"a whole number from {ends.get('minimum', '0')}{to}"


def _written(default: ast.expr | None) -> str:
    """A default as an operator would write it; empty where it is made when the site starts."""
    if default is None or any(isinstance(part, ast.Name) for part in ast.walk(default)):
        return ""
    value = eval(compile(ast.Expression(default), "default", "eval"), {})
    if isinstance(value, list | tuple):
        return ",".join(value)
    return str(int(value)) if isinstance(value, bool) else str(value)


def sections() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Headings of docs/settings.md, and the variables below each with the place of its words."""
    for part in re.split("^## ", WORDS.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        rows = [
            (name, re.sub(r"[^\w\- ]", "", heading).replace(" ", "-").lower())
            for heading in re.findall("^### (.*)$", part, re.MULTILINE)
            for name in re.findall("`([A-Z_]+)`", heading)
        ]
        yield part.splitlines()[0], rows


def page() -> str:
    """The page."""
    known = settings()
    parts = [
        "# Reference: settings",
        "Every variable of the environment that a site reads, from the code. What each does, and "
        "when one wants another value: [settings.md](../settings.md), which each name leads to. "
        "No default is written where it is none, or made when the site starts. "
        "`make openapi` writes this page.",
    ]
    for section, rows in sections():
        table = ["| variable | takes | default |", "|---|---|---|"]
        table += [
            f"| [`{name}`](../settings.md#{anchor}) | {known[name].takes} | "
            f"{f'`{known[name].default}`' if known[name].default else ''} |"
            for name, anchor in rows
            if name in known
        ]
        parts += [f"## {section}", "\n".join(table)]
    table = ["| variable | |", "|---|---|"]
    table += [f"| `{name}` | {words} |" for name, words in (*ENVIRONMENT, *OF_JUDGES)]
    parts += ["## Commands that need no site", "\n".join(table)]
    return "\n\n".join(parts) + "\n"


def read_elsewhere() -> set[str]:
    """Names that code beside the settings takes out of the environment, or puts there."""
    return {
        name
        for app in ("benchwright", "benchmarks_app", "annotation", "scoring")
        for path in (ROOT / app).rglob("*.py")
        if path != SETTINGS and path.name != "env.py" and "environ" in path.read_text("utf-8")
        for name in _names_of(ast.parse(path.read_text("utf-8")))
    }


def _names_of(module: ast.Module) -> Iterator[str]:
    """Keys of anything that is called environ or environment, by their text or their constant."""
    constants: dict[str, str] = {}
    for node in module.body:
        if isinstance(node, ast.Assign):
            pairs = zip(*map(_elements, (node.targets[0], node.value)), strict=False)
            for target, value in pairs:
                if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
                    constants[target.id] = str(value.value)
    for node in ast.walk(module):
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and _is_environment(node.value):
            key = node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            key = node.args[0] if _is_environment(node.func.value) else None
        elif isinstance(node, ast.Compare) and _is_environment(node.comparators[0]):
            key = node.left
        if isinstance(key, ast.Constant):
            yield str(key.value)
        elif isinstance(key, ast.Name) and key.id in constants:
            yield constants[key.id]


def _elements(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _is_environment(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("environ", "environment")
