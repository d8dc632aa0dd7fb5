"""Choices that help shows without importing what they choose from: both must say the same."""

import click

from benchmarks_app.cli import main
from scoring.cli import check, compare, options
from scoring.core import checking, comparing
from scoring.core.aggregation import AGGREGATIONS
from scoring.core.evaluation import MISSING_RULES
from scoring.core.reading import TIE_RULES
from scoring.core.statistics import intervals


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
