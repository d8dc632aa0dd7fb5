"""Builds docs/ as a site of static files: `python docs/site/build.py FOLDER`.

Needs Sphinx and MyST alone, neither Django nor a network: a wheel builds it where there is nothing
else. Why Sphinx: docs/adr/0045-docs-are-built-by-sphinx.md.
"""

import json
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SITE = Path(__file__).resolve().parent
DOCS = SITE.parent
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)([^)#\s]+)(#[^)\s]*)?\)")
MERMAID = re.compile(r"```mermaid\nflowchart \w+\n(.*?)\n```", re.DOTALL)
UNUSED = [".buildinfo", "objects.inv"]
UNUSED += [
    f"_static/{name}" for name in ("basic.css", "pygments.css", "file.png", "minus.png", "plus.png")
]
# No chapters: what builds them, and what is too large for a page.
APART = ("site", "contents.toml", "openapi.json")
INSTEAD = {"openapi.json": "reference/rest.md", "adr/": "adr/index.md"}


def build(folder: Path) -> None:
    """Write the site into `folder`, which is emptied first.

    Raises
    ------
    SystemExit
        If Sphinx warns of anything, such as a link that leads nowhere: its words are printed.
    """
    from sphinx.cmd.build import build_main  # none of the readers of this module's names needs it

    with tempfile.TemporaryDirectory() as workplace:
        source, made = Path(workplace, "source"), Path(workplace, "made")
        _copy_chapters(source)
        words = ["--builder", "dirhtml", "--conf-dir", SITE, "--fail-on-warning", "--keep-going"]
        words += ["--quiet", "--doctree-dir", Path(workplace, "trees"), source, made]
        status = build_main([str(word) for word in words])
        if status:
            raise SystemExit(status)
        for leftover in UNUSED:
            (made / leftover).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)


def _copy_chapters(source: Path) -> None:
    """The chapters as they stand, but for links to files that are none; and a page of contents."""
    for path in sorted(DOCS.rglob("*")):
        place = path.relative_to(DOCS)
        if path.is_dir() or place.parts[0] in APART:
            continue
        copy = source / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            copy.write_text(_linked_within(path), "utf-8")
        elif path.suffix == ".ipynb":
            copy.with_suffix(".md").write_text(_chapter_of(path), "utf-8")
        else:
            shutil.copyfile(path, copy)
    with (source / "index.md").open("a", encoding="utf-8") as index:
        index.write("\n".join(_contents()))
    (source / "adr" / "index.md").write_text("\n".join(_decisions()), "utf-8")


def _linked_within(path: Path) -> str:
    """The text of a chapter, in which what links to no chapter is plain words."""

    def linked(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        target = INSTEAD.get(target, target)
        if target.endswith(".ipynb"):
            target = target.removesuffix(".ipynb") + ".md"
        if not (path.parent / target).resolve().is_relative_to(DOCS):
            return words
        # What a chapter is called by its file, its page is not. Sphinx says which are not there.
        return f"[{words.removesuffix('.md')}]({target}{anchor})"

    text = MERMAID.sub(lambda drawing: "\n".join(_arrows(drawing[1])), path.read_text("utf-8"))
    return LINK.sub(linked, text)


def _arrows(drawing: str) -> Iterator[str]:
    """A Mermaid flowchart, which these pages have no script to draw, as a list of its arrows."""
    names: dict[str, str] = {}
    for line in drawing.splitlines():
        first, *rest = re.split(r"\s*-->(?:\|(.*?)\|)?\s*", line.strip())
        shown = [_node(first, names)]
        for how, node in zip(rest[::2], rest[1::2], strict=True):
            shown += [f"*{how}* →" if how else "→", _node(node, names)]
        yield f"- {' '.join(shown)}"


def _node(node: str, names: dict[str, str]) -> str:
    name, words = re.fullmatch(r"(\w+)\W*(.*?)\W*", node).groups()
    return f"**{names.setdefault(name, words)}**"


def _chapter_of(notebook: Path) -> str:
    """A notebook as a chapter: its words, its code, and what came of it when it was run."""
    parts = []
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        parts += [_output(output) for output in cell.get("outputs", ())]
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        html = "".join(data["text/html"])
        return f'````{{raw}} html\n<div class="notebook-output">\n{html}\n</div>\n````'
    text = "".join(data.get("text/plain", output.get("text", ())))
    return f":::{{container}} notebook-output\n```text\n{text.rstrip()}\n```\n:::"


def _contents() -> list[str]:
    """Lists of the chapters by group, seen in the column beside each page."""
    groups = tomllib.loads((DOCS / "contents.toml").read_text("utf-8"))
    lines = []
    for group, names in groups.items():
        lines += ["", "```{toctree}", ":hidden:", f":caption: {group}", "", *names, "```"]
    return [*lines, "", "```{toctree}", ":hidden:", "", "adr/index", "```", ""]


def _decisions() -> list[str]:
    """The page that lists the decisions, newest first."""
    names = sorted((path.stem for path in (DOCS / "adr").glob("*.md")), reverse=True)
    return ["# Decisions", "", "```{toctree}", "", *names, "```", ""]


if __name__ == "__main__":
    build(Path(sys.argv[1]))
