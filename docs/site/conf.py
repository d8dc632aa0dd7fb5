"""What Sphinx is told; `build.py` runs it."""

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
LOOK = ROOT / "benchmarks_app" / "static" / "benchmarks_app"

project = "Benchwright"
release = version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "version"
]
language = "en"
extensions = ["myst_parser"]
# As the forges have them, and the site's help: GitHub's anchors, tables, strikethrough.
myst_heading_anchors = 4
myst_enable_extensions = ["strikethrough", "colon_fence"]
# Of headings that step over a level, and of code with an ellipsis; links are held to be there.
suppress_warnings = ["myst.strikethrough", "myst.header", "misc.highlighting_failure"]
highlight_language = "none"
EMPTY_HEADER = re.compile(r"<th class=\"head\">\s*(<p></p>)?</th>")
html_theme = "theme"
html_theme_path = ["."]
html_title = f"Benchwright {version}"
# The look is the site's own, from the same files.
html_static_path = [str(LOOK / name) for name in ("benchwright.css", "logo.svg", "favicon.svg")]
html_copy_source = False
html_show_sphinx = False
html_domain_indices = False
html_use_index = False
html_search_language = "en"
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_permalinks_icon = "#"


def setup(app: Any) -> None:
    app.connect("doctree-read", _keep_anchors)
    app.connect("html-page-context", _let_scroll)


def _keep_anchors(app: Any, doctree: Any) -> None:
    """Each heading is found by GitHub's name of it, too: pages of the site lead there."""
    for section in doctree.findall(lambda node: node.tagname == "section"):
        slug = section.get("slug")
        if slug and slug not in section["ids"]:
            section["ids"].append(slug)


def _let_scroll(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """What is wide scrolls by keyboard; the corner of a table that says nothing heads nothing."""
    body = context.get("body", "")
    body = body.replace("<table class=", '<table tabindex="0" class=')
    body = body.replace("<table>", '<table tabindex="0">')
    body = body.replace("<pre>", '<pre tabindex="0">')
    context["body"] = EMPTY_HEADER.sub("<td></td>", body)
