"""Commands of `benchwright` that make pools of files, without Django; see `benchwright.cli.main`.

Here stands only what help shows: polars is imported by the command that needs it, when it does.
"""

from collections.abc import Sequence

COMMANDS = {
    "pool": (
        "benchwright.cli.collections.pool",
        "Which documents of runs to judge, and in which order.",
    ),
    "agreement": (
        "benchwright.cli.collections.agreement",
        "How far people agree: kappas, alpha, of two files or of a site's labels.",
    ),
    "clicks": (
        "benchwright.cli.collections.clicks",
        "Grades from a log of clicks, or online outcomes by arm.",
    ),
}


def about() -> Sequence[str]:
    """Lines for `benchwright --version`: none."""
    return []
