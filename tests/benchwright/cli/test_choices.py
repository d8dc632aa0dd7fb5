"""Choices that help shows without importing what they choose from: both must say the same."""

import click

from benchwright.cli import options
from benchwright.cli.main import main
from benchwright.cli.scoring import check, compare
from benchwright.comparison import comparing
from benchwright.evaluation.evaluating import MISSING_RULES
from benchwright.linting import checking
from benchwright.reading import TIE_RULES
from benchwright.runs.aggregation import AGGREGATIONS
from benchwright.statistics import intervals


def choices(command, name):
    found = main.get_command(click.Context(main), command)
    option = next(option for option in found.params if option.name == name)
    return tuple(option.type.choices)


def test_choices_of_the_command_line_are_those_of_the_core():
    assert choices("score", "ties") == tuple(TIE_RULES) == options.TIES
    assert choices("score", "missing") == MISSING_RULES
    assert choices("score", "aggregate") == AGGREGATIONS == options.AGGREGATIONS
    assert choices("compare", "test") == comparing.TESTS
    assert choices("compare", "correction") == comparing.CORRECTIONS
    assert choices("compare", "interval") == intervals.METHODS == compare.INTERVALS
    assert choices("check", "kind") == tuple(checking.KINDS) == check.KINDS
