"""Choices that help shows without importing what they choose from: both must say the same."""

import click
import pytest

from benchwright.cli import options
from benchwright.cli.main import main
from benchwright.cli.parameters import OutputFile
from benchwright.cli.scoring import check, compare
from benchwright.comparison import comparing
from benchwright.evaluation.evaluating import MISSING_RULES
from benchwright.linting import checking
from benchwright.reading import TIE_RULES
from benchwright.runs.aggregation import AGGREGATIONS
from benchwright.statistics import intervals


def choices(command, name):
    subcommand = main.get_command(click.Context(main), command)
    option = next(option for option in subcommand.params if option.name == name)
    return tuple(option.type.choices)


def test_choices_of_the_command_line_are_those_of_the_core():
    assert choices("score", "ties") == tuple(TIE_RULES) == options.TIES
    assert choices("score", "missing") == MISSING_RULES
    assert choices("score", "aggregate") == AGGREGATIONS == options.AGGREGATIONS
    assert choices("compare", "test") == comparing.TESTS
    assert choices("compare", "correction") == comparing.CORRECTIONS
    assert choices("compare", "interval") == intervals.METHODS == compare.INTERVALS
    assert choices("check", "kind") == tuple(checking.KINDS) == check.KINDS


def test_a_dash_is_standard_output_and_never_the_name_of_a_file(files, benchwright):
    (files / "log.csv").write_text("query\na b\na b\nc\n")
    queries = files / "queries.jsonl"
    queries.write_text('{"_id": "1", "text": "a b"}\n')

    for words in (
        ("fuse", "a.run", "b.run"),
        ("families", queries),
        ("sample", "log.csv", "-n", 2),
    ):
        printed, plain = benchwright(*words, "-o", "-"), benchwright(*words)
        assert (printed.exit_code, printed.stdout) == (0, plain.stdout)
    refused = benchwright("score", "qrels.txt", "a.run", "-o", "-")

    assert refused.exit_code == 2
    assert "'-' is standard output, where this command says how it went. Name" in refused.stderr
    assert not (files / "-").exists()


def test_every_file_that_is_written_is_declared_as_one():
    context = click.Context(main)
    undeclared, printed = [], []
    for name in main.list_commands(context):
        for parameter in main.get_command(context, name).params:
            if isinstance(parameter.type, OutputFile):
                printed += [name] * parameter.type.is_printed
            elif isinstance(parameter.type, click.Path) and "-o" in parameter.opts:
                undeclared.append(name)

    assert sorted(printed) == ["ask", "export", "families", "fuse", "retrieve", "sample"]
    # Folders, and a pool, which is printed only where that is asked for.
    assert sorted(undeclared) == ["pool", "pull", "split"]


@pytest.mark.parametrize(
    "words",
    [
        ("fuse", "a.run", "b.run", "-o", "./b.run"),
        ("retrieve", "a.run", "b.run", "-o", "a.run"),
        ("retrieve", "a.run", "b.run", "--qrels", "qrels.txt", "-o", "qrels.txt"),
        ("score", "qrels.txt", "a.run", "--result", "a.run"),
        ("sample", "a.run", "--weights", "a.run"),
        ("pool", "a.run", "b.run", "-o", "b.run"),
    ],
    ids=" ".join,
)
def test_no_file_is_written_over_what_is_read(words, files, benchwright):
    read = [files / word for word in words if (files / word).is_file()]
    contents = [path.read_bytes() for path in read]

    refused = benchwright(*words)

    assert refused.exit_code == 2
    assert f"would overwrite {words[-1].removeprefix('./')}, which is" in refused.stderr
    assert [path.read_bytes() for path in read] == contents
