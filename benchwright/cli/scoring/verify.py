"""`benchwright verify`: do a result file's numbers still come out of its files?"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from benchwright.cli.answers import say_json
from benchwright.cli.main import DONE, FAILED, Command, option
from benchwright.cli.options import Decorator, file_option, format_option
from benchwright.cli.parameters import FILE
from benchwright.cli.progress import told

SHOWN = 20
EXAMPLES = (
    "benchwright verify bm25.json",
    "benchwright verify bm25.json --qrels /data/qrels.txt --run /data/bm25.run.gz",
)


def place_of(name: str, what: str = "") -> Decorator:
    """The option of a file beside the runs that is elsewhere now."""
    return file_option(f"--{name}", group="Files", help=f"Where the {what or name} are now.")


@click.command(
    cls=Command,
    name="verify",
    examples=EXAMPLES,
    of_files=(
        "A result file says how files were scored; what a site has scored it keeps with "
        "its release."
    ),
    short_help="Recompute a result file and say what differs.",
)
@click.argument("result", type=FILE)
@place_of("qrels")
@option(
    "--run",
    "runs",
    type=FILE,
    multiple=True,
    metavar="FILE",
    group="Files",
    help="Where a run is now; for several, in the order of the result.",
)
@place_of("slices")
@place_of("families")
@place_of("weights")
@place_of("parents")
@place_of("answered", "answered queries")
@option("--all", "is_whole", is_flag=True, group="Output", help="Show every difference.")
@format_option(("text", "json"), help="json has every number, for programs.")
def command(
    result: Path, runs: Sequence[Path], is_whole: bool, form: str, **beside: Path | None
) -> None:
    """Compute a RESULT of `score --result` again and compare.

    Compared are the SHA-256 of every file, and every number of every query, to the last bit. The
    files are looked for at their paths relative to RESULT, unless they are named here. A different
    version of Benchwright, Python or scanner is told, and is no difference: the numbers decide.
    Exits with 0 where nothing differs, with 1 where something does.
    """
    from benchwright.evaluation.results import read_result

    stored = read_result(result)
    if len(runs) > len(stored["runs"]):
        message = f"{len(runs)} runs are named, and {result.name} has {len(stored['runs'])}."
        raise click.UsageError(message)
    with told("Computing again"):
        computed = _computed(stored, result, runs, beside)
    _tell_versions(stored["made_by"], computed["made_by"])
    differences = list(_differences(stored, computed))
    n_values = sum(len(values) for run in stored["runs"] for values in run["per_query"].values())
    if form == "json":
        facts = {"result": result.name, "n_values": n_values, "differences": differences}
        say_json(facts)
        raise SystemExit(FAILED if differences else DONE)
    if differences:
        _show(differences, result.name, SHOWN if not is_whole else len(differences))
        raise SystemExit(FAILED)
    click.echo(f"{result.name}: the same files, and all {n_values} values are the same.")


def _computed(
    stored: Mapping[str, Any], result: Path, runs: Sequence[Path], beside: Mapping[str, Path | None]
) -> dict[str, Any]:
    """The result as its files and rules give it now."""
    from benchwright.diversity.scoring import scorer_for
    from benchwright.evaluation.results import located, result_of, stored_rules
    from benchwright.evaluation.scorecards import Files

    folder = result.parent
    places = {
        name: located(entry, folder, beside.get(name)) for name, entry in stored["files"].items()
    }
    scorer = scorer_for(Files(**places), stored_rules(stored, result.name))
    paths = [*runs, *[None] * (len(stored["runs"]) - len(runs))]
    cards = [
        scorer.score(located(entry, folder, path), entry["name"])
        for entry, path in zip(stored["runs"], paths, strict=True)
    ]
    return result_of(scorer, cards, folder=folder)


def _tell_versions(stored: Mapping[str, str], computed: Mapping[str, str]) -> None:
    for what in sorted(stored.keys() | computed.keys()):
        before, now = stored.get(what, "none"), computed.get(what, "none")
        if before != now:
            click.echo(f"Note: {what} was {before} and is {now} here.", err=True)


def _differences(stored: Mapping[str, Any], computed: Mapping[str, Any]) -> Iterator[str]:
    from benchwright.evaluation.results import differences

    # Its rules are those it was computed again by.
    yield from differences(
        _without_places(stored["files"]), _without_places(computed["files"]), "files"
    )
    for before, now in zip(stored["runs"], computed["runs"], strict=True):
        yield from differences(_without_place(before), _without_place(now), before["name"])


def _without_places(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _without_place(entry) for name, entry in entries.items()}


def _without_place(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Without where the file was: that it was moved is no difference."""
    return {key: value for key, value in entry.items() if key not in ("path", "file")}


def _show(differences: Sequence[str], name: str, n_shown: int) -> None:
    is_single = len(differences) == 1
    click.echo(f"{name}: {len(differences)} difference{'' if is_single else 's'}.")
    click.echo("\n".join(differences[:n_shown]))
    if len(differences) > n_shown:
        click.echo(f"… and {len(differences) - n_shown} more (--all shows them).")
