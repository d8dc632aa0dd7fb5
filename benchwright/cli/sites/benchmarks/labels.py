"""`benchwright label`: grades that were given elsewhere, entered into a benchmark of a site."""

from collections import Counter
from pathlib import Path
from typing import Any

import click

from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, SiteCommand

FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
# As many as the API takes at once.
MOST = 1000
COUNTS = ("n_saved", "n_same", "n_outside", "n_judged_here", "n_extra", "n_machine")
SAID = {
    "n_saved": "entered",
    "n_same": "were there already",
    "n_outside": "are of documents that the pool does not have",
    "n_judged_here": "stay as they were judged here",
}
EXAMPLES = (
    "benchwright --benchmark help-pages label graded.qrels --pool first",
    "benchwright --benchmark help-pages label graded.tsv --account ada=ada.l --account bob=",
)


@click.command(
    cls=SiteCommand,
    name="label",
    examples=EXAMPLES,
    short_help="Enter grades that people gave elsewhere into a benchmark of a site.",
)
@click.argument("file", type=FILE)
@option("--pool", metavar="NAME", group="Where", help="The pool they are for; others are left out.")
@option("--rater", metavar="NAME", group="Whose", help="Who gave them, where the file is silent.")
@option(
    "--account",
    "accounts",
    multiple=True,
    metavar="RATER=USERNAME",
    group="Whose",
    help="Whose account a rater of the file is; 'RATER=' for none. May be repeated.",
)
@option(
    "--machine",
    "machines",
    multiple=True,
    metavar="RATER",
    group="Whose",
    help="A rater that is a machine; by default those whose name looks like a model's.",
)
@option("--no-machine", is_flag=True, group="Whose", help="No rater is, whatever its name.")
@option("--source", metavar="TEXT", group="Whose", help="Where they are from; by default the file.")
@option("--grade-map", metavar="A=B,…", group="Grades", help="What the file's grades are here.")
def command(asked: Asked, file: Path, pool: str | None, **chosen: Any) -> None:
    """Enter the labels of FILE: TREC qrels, or CSV or TSV with perhaps annotators.

    The file is checked whole before anything is sent; then it goes in parts of 1000 labels, each of
    which is entered whole or not at all. Sent again it changes nothing.
    """
    from benchwright.qrels.raters import read_accounts

    if chosen["machines"] and chosen["no_machine"]:
        text = "Give --machine or --no-machine, not both."
        raise click.UsageError(text)
    labels = _labels(asked, file, chosen)
    body: dict[str, Any] = {
        "source": chosen["source"] or file.name,
        "accounts": read_accounts(chosen["accounts"]),
        "machines": [] if chosen["no_machine"] else list(chosen["machines"]) or None,
        "pool": _pool(asked, pool) if pool else None,
    }
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    for at in range(0, len(labels), MOST):
        part = {**body, "labels": labels[at : at + MOST]}
        answer = asked.ask("POST", "judgments/import/", json=part)
        counts.update({name: answer[name] for name in COUNTS})
    lines = [f"{counts[name]:,} {words}" for name, words in SAID.items() if counts[name]]
    asked.say(dict(counts), lines or ["nothing is in the file"])


def _labels(asked: Asked, file: Path, chosen: dict[str, Any]) -> list[dict[str, Any]]:
    from benchwright.errors import Problems
    from benchwright.files.sources import open_lines, shown_name
    from benchwright.qrels.files import read_labels
    from benchwright.qrels.grade_map import parse_grade_map

    scale = [int(grade["value"]) for grade in asked.client.benchmark(asked.slug).facts["grades"]]
    problems = Problems()
    labels = list(
        read_labels(
            open_lines(file),
            file=shown_name(file),
            problems=problems,
            scale=scale,
            grade_map=parse_grade_map(chosen["grade_map"]) if chosen["grade_map"] else None,
            rater=chosen["rater"] or "",
        )
    )
    problems.raise_found()
    return [
        {
            "query": label.qid,
            "document": label.docid,
            "grade": label.grade,
            "annotator": label.rater,
            "note": label.note,
            "text_hash": label.text_hash,
        }
        for label in labels
    ]


def _pool(asked: Asked, name: str) -> int:
    pools = {row["name"]: row["id"] for row in asked.client.rows(f"benchmarks/{asked.slug}/pools/")}
    asked.check([name], list(pools), "pool")
    return int(pools[name])
