"""Fenced blocks of README and docs: what is shown there is run by a test, or says why not.

A block says its language behind the fence, and there, where no page shows it, what else is to be
known: `not run: REASON`, or `run by: FILE` of the test that runs it. What says neither is run by
tests/test_doc_blocks.py as it stands, but for the pages of which other tests run all (`RUN_BY`).
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
RUN = ("sh", "console", "python", "ts")
# What is read, and has no order to follow.
READ = ("text", "json", "yaml", "html", "http", "mermaid")
# Pages of which one test runs every block, by language.
RUN_BY = {
    "docs/api.md": {"sh": "tests/test_api.py"},
    "docs/client.md": dict.fromkeys(RUN, "tests/benchmarks_app/test_client_docs.py"),
    "docs/own-client.md": dict.fromkeys(RUN, "tests/clients/test_clients.py"),
    "docs/python.md": {"python": "tests/test_docs.py"},
    "docs/webhooks.md": {"python": "tests/benchmarks_app/notices/test_notices.py"},
    "docs/tutorial.md": {"sh": "tests/test_followed_pages.py"},
    "docs/gate-in-ci.md": {"sh": "tests/test_followed_pages.py"},
    "docs/from-label-studio.md": {"sh": "tests/test_followed_pages.py"},
    "docs/from-mteb.md": {"sh": "tests/test_followed_pages.py"},
    "docs/from-quepid.md": {"sh": "tests/test_followed_pages.py"},
    "docs/from-trec-eval-and-ranx.md": {
        "sh": "tests/test_followed_pages.py",
        "python": "tests/test_docs.py",
    },
}


class Block(NamedTuple):
    """A fenced block: where it begins, its language, what is said of it, its lines."""

    page: str
    line: int
    language: str
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def run_by(self) -> str:
        """The test file that runs it; empty where none but tests/test_doc_blocks.py does."""
        kind, _, name = self.mark.partition(": ")
        return name if kind == "run by" else RUN_BY.get(self.page, {}).get(self.language, "")

    @property
    def why_not(self) -> str:
        """Why nothing runs it; empty where something does."""
        kind, _, reason = self.mark.partition(": ")
        return reason if kind == "not run" else ""

    @property
    def is_run_here(self) -> bool:
        return self.language in RUN and not self.run_by and not self.why_not


@cache
def blocks() -> tuple[Block, ...]:
    """Every fenced block, in the order of pages and lines."""
    return tuple(block for page in PAGES for block in blocks_of(page))


def blocks_of(page: Path) -> Iterator[Block]:
    # What stands in a paragraph is not looked at, which is most of the work.
    for token in MarkdownIt("commonmark").disable("inline").parse(page.read_text("utf-8")):
        if token.type == "fence":
            language, _, mark = token.info.strip().partition(" ")
            line = token.map[0] + 1 if token.map else 0
            yield Block(str(page.relative_to(ROOT)), line, language, mark.strip(), token.content)
