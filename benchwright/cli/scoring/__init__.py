"""Commands of `benchwright` that score files, without Django; see `benchwright.cli.main`.

Here stands only what help shows: numpy, polars, scipy and rich are imported by the command that
needs them, when it needs them.
"""

from collections.abc import Sequence

COMMANDS = {
    "score": (
        "benchwright.cli.scoring.score",
        "Measures of runs against qrels, over all queries and each.",
    ),
    "trec_eval": (
        "benchwright.cli.scoring.trec_eval",
        "trec_eval's flags and output, as a drop-in.",
    ),
    "compare": (
        "benchwright.cli.scoring.compare",
        "Differences between runs: intervals, tests, tie groups.",
    ),
    "gate": (
        "benchwright.cli.scoring.gate",
        "Is a candidate good enough for an A/B test? A verdict.",
    ),
    "ann": ("benchwright.cli.systems.ann", "What an approximate index keeps of exact search."),
    "reusability": (
        "benchwright.cli.collections.reusability",
        "How judgments treat a system that had no part in them.",
    ),
    "ask": (
        "benchwright.cli.systems.ask",
        "The run of a search endpoint, and how long each query took.",
    ),
    "contrastive": (
        "benchwright.cli.systems.contrastive",
        "Contrastive accuracy of two matrices of embeddings.",
    ),
    "contextual": (
        "benchwright.cli.systems.contextual",
        "Contextual precision of retrieved nodes, by a judge model.",
    ),
    "judge": (
        "benchwright.cli.systems.judge",
        "Grades of queries with documents, by a judge model.",
    ),
    "calibrate": (
        "benchwright.cli.scoring.calibrate",
        "How far a machine's grades can be trusted, beside people's.",
    ),
    "retrieve": (
        "benchwright.cli.systems.retrieve",
        "The run of BM25, TF-IDF or sparse vectors over a corpus.",
    ),
    "fuse": (
        "benchwright.cli.systems.fuse",
        "Several runs as one, by ranks or by weighted scores.",
    ),
    "check": (
        "benchwright.cli.scoring.check",
        "Everything wrong in a run, qrels or benchmark, by line.",
    ),
    "verify": ("benchwright.cli.scoring.verify", "Recompute a result file and say what differs."),
}


def about() -> Sequence[str]:
    """Lines for `benchwright --version`."""
    from benchwright.reading import scanner_name

    return [f"Scanner: {scanner_name()}"]
