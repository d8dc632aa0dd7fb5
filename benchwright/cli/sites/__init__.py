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
        "Keep the token of a site, for the commands that ask it.",
    ),
    "create": ("benchwright.cli.sites.create", "Make an empty benchmark on a site."),
    "import": (
        "benchwright.cli.sites.benchmarks.importing",
        "Bring corpus, queries, qrels and runs into a benchmark of a site.",
    ),
    "invite": (
        "benchwright.cli.sites.invite",
        "Make a link by which somebody joins a benchmark of a site.",
    ),
    "list": (
        "benchwright.cli.sites.listing",
        "What a benchmark of a site has: runs, queries, slices, members, jobs, ….",
    ),
    "member": (
        "benchwright.cli.sites.member",
        "Show, change or end somebody's role in a benchmark of a site.",
    ),
    "slice": (
        "benchwright.cli.sites.benchmarks.slicing",
        "Make, show or register a slice of the queries of a site.",
    ),
    "label": (
        "benchwright.cli.sites.benchmarks.labels",
        "Enter grades that people gave elsewhere into a benchmark of a site.",
    ),
    "publish": (
        "benchwright.cli.sites.benchmarks.publish",
        "Make qrels of the labels of a benchmark of a site.",
    ),
    "release": (
        "benchwright.cli.sites.benchmarks.release",
        "Release a set of qrels of a benchmark of a site.",
    ),
    "estimate": (
        "benchwright.cli.sites.benchmarks.estimate",
        "Means of runs from the labels of an estimation pool of a site.",
    ),
    "leaderboard": (
        "benchwright.cli.sites.benchmarks.leaderboard",
        "The board of a release of a site, by a measure.",
    ),
    "pull": (
        "benchwright.cli.sites.benchmarks.pull",
        "Bring a release of a site into a folder, checked by its manifest.",
    ),
    "export": (
        "benchwright.cli.sites.benchmarks.exporting",
        "A file of a benchmark of a site: qrels, a run, judgments, ….",
    ),
    "job": (
        "benchwright.cli.sites.job",
        "Look at, wait for, cancel or retry a job of a site.",
    ),
    "submit": (
        "benchwright.cli.sites.benchmarks.submit",
        "Send a run to a site, and see how it scores.",
    ),
}


def about() -> Sequence[str]:
    """Lines for `benchwright --version`: none of its own."""
    return ()
