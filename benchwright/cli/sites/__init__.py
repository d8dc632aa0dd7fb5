"""Commands of `benchwright` about queries and sites, without Django; see `benchwright.cli.main`.

`up` and `demo` start what has Django, by its name. Here stands only what help shows; a command's
module is imported when it is run.
"""

from collections.abc import Sequence

COMMANDS: dict[str, tuple[str, str]] = {
    "families": (
        "benchwright.cli.collections.families",
        "Group queries into families of wordings, with a similarity and a reason a link.",
    ),
    "sample": (
        "benchwright.cli.collections.sample",
        "Draw queries from a query log, masked and weighted.",
    ),
    "split": (
        "benchwright.cli.collections.split",
        "Split a BEIR folder by families of queries, and prove that nothing leaks.",
    ),
    "sketch": (
        "benchwright.cli.collections.sketch",
        "Hashes of a private list of queries, by which others find theirs in it.",
    ),
    "up": (
        "benchwright.cli.sites.up",
        "Start a site: web server, worker and sweeper together; one Ctrl-C stops all.",
    ),
    "demo": (
        "benchwright.cli.sites.demo",
        "Build the demo benchmark if it is not there, and start its site.",
    ),
    "login": (
        "benchwright.cli.sites.login",
        "Keep the token of a site, for `pull`, `submit` and `gate --server`.",
    ),
    "pull": (
        "benchwright.cli.sites.pull",
        "Bring a release of a site into a folder, checked by its manifest.",
    ),
    "submit": (
        "benchwright.cli.sites.submit",
        "Send a run to a site, and see how it scores.",
    ),
}


def about() -> Sequence[str]:
    """Lines for `benchwright --version`: none of its own."""
    return ()
