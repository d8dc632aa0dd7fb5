"""Commands of `benchwright` that score files, without Django; see `benchmarks_app.cli`.

Here stands only what help shows: numpy, polars, scipy and rich are imported by the command that
needs them, when it needs them.
"""

from collections.abc import Sequence

COMMANDS = {
    "score": ("scoring.cli.score", "Measures of runs against qrels, over all queries and each."),
    "trec_eval": ("scoring.cli.trec_eval", "trec_eval's flags and output, as a drop-in."),
    "compare": ("scoring.cli.compare", "Differences between runs: intervals, tests, tie groups."),
    "gate": ("scoring.cli.gate", "Is a candidate good enough for an A/B test? A verdict."),
    "ann": ("scoring.cli.ann", "What an approximate index keeps of exact search."),
    "reusability": (
        "scoring.cli.reusability",
        "How judgments treat a system that had no part in them.",
    ),
    "ask": ("scoring.cli.ask", "The run of a search endpoint, and how long each query took."),
    "contrastive": (
        "scoring.cli.contrastive",
        "Contrastive accuracy of two matrices of embeddings.",
    ),
    "contextual": (
        "scoring.cli.contextual",
        "Contextual precision of retrieved nodes, by a judge model.",
    ),
    "retrieve": (
        "scoring.cli.retrieve",
        "The run of BM25, TF-IDF or sparse vectors over a corpus.",
    ),
    "fuse": ("scoring.cli.fuse", "Several runs as one, by ranks or by weighted scores."),
    "check": ("scoring.cli.check", "Everything wrong in a run, qrels or benchmark, by line."),
    "verify": ("scoring.cli.verify", "Recompute a result file and say what differs."),
}


def about() -> Sequence[str]:
    """Lines for `benchwright --version`."""
    from scoring.core.reading import scanner_name

    return [f"Scanner: {scanner_name()}"]
