"""What the commands that bring a corpus are told of it."""

from argparse import ArgumentParser
from typing import Any

from benchwright.corpora.units import Parents

NAMES = ("max_docs", "seed", "take", "snapshot_date", "parents")


def add_corpus_arguments(parser: ArgumentParser) -> None:
    """Add the options that are arguments of `corpus_options`."""
    parser.add_argument(
        "--max-docs", metavar="N", help="keep N documents: all judged or pooled ones, others drawn"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the draw; default 0")
    parser.add_argument(
        "--take", action="store_true", help="take a new snapshot at once, without looking at it"
    )
    parser.add_argument("--snapshot-date", metavar="YYYY-MM-DD", help="as of when the corpus is")
    parser.add_argument(
        "--parents",
        choices=[one.value for one in Parents],
        default=Parents.STATED.value,
        help="where passages say their document: stated in a column, or ids such as X#Y",
    )


def corpus_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Of a command's options those that are arguments of `corpus_options`."""
    return {name: options[name] for name in NAMES if name in options}
