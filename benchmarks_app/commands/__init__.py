"""Commands of `benchwright` about queries and sites, without Django; see `benchmarks_app.cli`.

Here stands only what help shows; a command's module is imported when it is run.
"""

from collections.abc import Sequence

COMMANDS: dict[str, tuple[str, str]] = {
    "families": (
        "benchmarks_app.commands.families",
        "Group queries into families of wordings, with a similarity and a reason a link.",
    ),
    "sample": (
        "benchmarks_app.commands.sample",
        "Draw queries from a query log, masked and weighted.",
    ),
    "split": (
        "benchmarks_app.commands.split",
        "Split a BEIR folder by families of queries, and prove that nothing leaks.",
    ),
    "sketch": (
        "benchmarks_app.commands.sketch",
        "Hashes of a private list of queries, by which others find theirs in it.",
    ),
    "login": (
        "benchmarks_app.commands.login",
        "Keep the token of a site, for `pull`, `submit` and `gate --server`.",
    ),
    "pull": (
        "benchmarks_app.commands.pull",
        "Bring a release of a site into a folder, checked by its manifest.",
    ),
    "submit": (
        "benchmarks_app.commands.submit",
        "Send a run to a site, and see how it scores.",
    ),
}


def about() -> Sequence[str]:
    """Lines for `benchwright --version`: none of its own."""
    return ()
