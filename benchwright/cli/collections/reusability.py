"""`benchwright reusability`: how do these judgments treat a system that had no part in them?"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli import options
from benchwright.cli.answers import say_json
from benchwright.cli.doors import Door
from benchwright.cli.files import (
    check_named_once,
    check_standard_input,
    naming,
    run_names,
    tell_warnings,
)
from benchwright.cli.main import Command, option
from benchwright.cli.options import file_option
from benchwright.cli.parameters import FILE
from benchwright.cli.progress import told
from benchwright.cli.site_doors import systems
from benchwright.files.encodings import as_shown
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    from benchwright.pools.reusability import LeftOut, Reusability, Treatment

EXAMPLES = (
    "benchwright reusability qrels.txt *.run --depth 10",
    "benchwright reusability qrels.txt a.run b.run c.run --teams teams.tsv --format json",
    "benchwright --benchmark help-pages reusability --release 1.0.0",
)
COLUMNS = ("run", "left out with", "ndcg", "without", "shift", "run alone", "judged", "own labels")
MEANS = ("mean_shift", "worst_shift", "mean_judged", "least_judged", "tau")


@click.command(
    cls=Command,
    name="reusability",
    examples=EXAMPLES,
    door=Door(systems.__name__, also=systems.REUSABILITY_THERE, function="reusability_on_site"),
    short_help="How judgments treat a system that had no part in them.",
)
@click.argument("qrels", type=FILE)
@click.argument("runs", type=FILE, nargs=-1, required=True)
@option(
    "--depth",
    type=click.IntRange(1),
    help="How deep the runs were pooled; 10 where nobody knows.",
    group="Pool",
)
@file_option(
    "--teams",
    group="Pool",
    help="Lines run<TAB>team: a team's runs are left out together, as near copies always are.",
)
@options.FORMAT
def command(qrels: Path, runs: Sequence[Path], **chosen: Any) -> None:
    """Leave each group of pooled RUNS out of the judgments in QRELS, and score it without them.

    A group is a team's runs and their near copies: a system of a new team has no sibling in the
    pool. Labels that only the group reached are dropped; "run alone" drops those of the one run.
    """
    check_standard_input([qrels, *runs, chosen["teams"]])
    check_named_once(runs)
    names = run_names(runs)
    from benchwright.pools.reusability import treatment_of

    depth = chosen["depth"] or 10
    with told("Leaving out"):
        teams = _teams(chosen["teams"], names) if chosen["teams"] else {}
        grades = _grades(qrels)
        rankings = {name: _ranking(path, depth) for name, path in zip(names, runs, strict=True)}
        _check_in_common(grades, rankings)
        treatment = treatment_of(
            rankings,
            grades,
            pooled=dict.fromkeys(names, depth),
            teams=teams,
        )
    if chosen["depth"] is None:
        click.echo("Note: no --depth is given: every run counts as pooled to depth 10.", err=True)
    _show(treatment, chosen["form"])


def _teams(path: Path, names: Sequence[str]) -> dict[str, str]:
    from benchwright.errors import Problems
    from benchwright.formats.side_tables import read_families

    problems = Problems()
    teams = {as_shown(run): team for run, team in read_families(path, problems=problems).items()}
    tell_warnings(problems)
    if unknown := [run for run in teams if run not in names]:
        message = (
            f"{path}: no run is called '{unknown[0]}'; expected one of {', '.join(names)}. "
            "Correct the name, or drop the line."
        )
        raise click.ClickException(message)
    return teams


def _ranking(path: Path, depth: int) -> dict[str, list[str]]:
    """As deep as the run was pooled, and as near copies are told."""
    from benchwright.pools.run_groups import DEPTH
    from benchwright.reading import ranking
    from benchwright.reading.loading import read_run

    return {
        as_shown(qid): [as_shown(row.docid) for row in ranking.ranked(rows)[: max(depth, DEPTH)]]
        for qid, rows in read_run(path).items()
    }


def _check_in_common(grades: Collection[str], rankings: Mapping[str, Collection[str]]) -> None:
    """Without a query in common a run loses nothing, which would be said of the judgments."""
    from benchwright.errors import EmptyQrelsError, EmptyRunError, NoCommonQueryError
    from benchwright.ids import some_ids

    if not grades:
        raise EmptyQrelsError
    for name, qids in rankings.items():
        with naming(name):
            if not qids:
                raise EmptyRunError
            if not set(grades) & set(qids):
                raise NoCommonQueryError(run_ids=some_ids(qids), qrel_ids=some_ids(grades))


def _grades(path: Path) -> dict[str, dict[str, int]]:
    from benchwright.reading.loading import read_qrels

    return {
        as_shown(qid): {as_shown(docid): grade for docid, grade in of.items()}
        for qid, of in read_qrels(path).items()
    }


# --- output --------------------------------------------------------------------------------------


def _show(treatment: "Treatment", form: str) -> None:
    alone = {system.run: system for system in treatment.by_run.systems}
    systems = sorted(treatment.by_group.systems, key=lambda system: (system.shift, system.run))
    if form == "json":
        _print_json(treatment, systems, alone)
        return
    if form == "tsv":
        from benchwright.cli.tables import print_tab_separated

        print_tab_separated(
            COLUMNS, [_cells(system, alone[system.run], repr) for system in systems]
        )
    else:
        _print_tables(treatment, systems, alone, is_markdown=form == "markdown")
    for pair in treatment.across:
        what = "the same ranking under two names" if pair.is_same else "nearly the same ranking"
        click.echo(
            f"Warning: {pair.run_a} and {pair.run_b}: {what} (RBO {pair.rbo:.2f}).", err=True
        )


def _cells(system: "LeftOut", alone: "LeftOut", number: Any) -> list[str]:
    others = ", ".join(name for name in system.group if name != system.run)
    values = (system.full, system.without, system.shift, alone.shift, system.judged)
    return [
        system.run,
        others,
        *("-" if isnan(of) else number(of) for of in values),
        str(system.n_unique),
    ]


def _print_tables(
    treatment: "Treatment", systems: Sequence["LeftOut"], alone: Any, *, is_markdown: bool
) -> None:
    from benchwright.cli.tables import Table, markdown, number, say, show_table

    means = [
        [name, *("-" if isnan(of) else number(of) for of in _mean(treatment, which))]
        for name, which in ((name.replace("_", " "), name) for name in MEANS)
    ]
    n = counted(len(treatment.by_group.groups), "group"), counted(len(alone), "run")
    cells = [_cells(system, alone[system.run], number) for system in systems]
    for table in (
        Table(COLUMNS, cells, title="left out of the judgments, nDCG@10", left=(0, 1)),
        Table(("", *n), means, title="over what was left out"),
    ):
        if is_markdown:
            say(markdown(table))
        else:
            show_table(table)
        say()
    if not treatment.by_group.is_defined:
        say("All runs are one group: without it nothing of the pool is left.")


def _mean(treatment: "Treatment", name: str) -> tuple[float, float]:
    return getattr(treatment.by_group, name), getattr(treatment.by_run, name)


def _print_json(treatment: "Treatment", systems: Sequence["LeftOut"], alone: Any) -> None:
    def means(of: "Reusability") -> dict[str, Any]:
        return {"n": len(of.groups), "n_unique": of.n_unique} | {
            name: _known(getattr(of, name)) for name in MEANS
        }

    def system(left_out: "LeftOut") -> dict[str, Any]:
        numbers = {name: _known(value) for name, value in asdict(left_out).items()}
        other = alone[left_out.run]
        beside = {"shift_alone": other.shift, "judged_alone": other.judged}
        more = {"shift": left_out.shift, **beside, "n_unique_alone": other.n_unique}
        return numbers | {name: _known(value) for name, value in more.items()}

    body = {
        "n_systems": treatment.n_systems,
        "by_group": means(treatment.by_group),
        "by_run": means(treatment.by_run),
        "copies": [asdict(pair) | {"is_same": pair.is_same} for pair in treatment.across],
        "systems": [system(left_out) for left_out in systems],
    }
    say_json(body)


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and isnan(value) else value
