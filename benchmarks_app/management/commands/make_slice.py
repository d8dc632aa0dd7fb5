import json
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.slices.services import rules as slice_rules
from benchmarks_app.slices.services import slicing
from benchwright.recipes import collections as recipe
from benchwright.recipes.arguments import OneOf, option, switch, unless_told, word
from benchwright.slices.rules import checked_rule
from benchwright.texts.counting import counted


class Command(BenchmarkCommand):
    help = "Make a slice of a benchmark's queries by a rule."
    takes = (
        word("name", "what the slice is called"),
        OneOf(
            (
                unless_told("--expression", help='such as: frequency >= 100 and lang = "en"'),
                unless_told(
                    "--rule", help='as JSON, such as {"kind": "frequency", "band": "head"}'
                ),
            ),
            is_required=True,
        ),
        option("--description"),
        *recipe.SLICE,
        switch("--dry-run", old=("--preview",), help="say what the rule takes, and make nothing"),
    )

    def run(self, *, name: str, **options: Any) -> None:
        rule = checked_rule(_rule(options))
        if options["dry_run"]:
            self._say_preview(slice_rules.preview_rule(self.benchmark, rule))
            return
        wanted = slicing.Wanted(name, rule, options["description"], options["minimum"])
        row = slicing.make_slice(benchmark=self.benchmark, wanted=wanted, actor=self.actor)
        self.say_done(f"slice '{row.name}' made: {_sizes(row)}")

    def _say_preview(self, preview: slice_rules.Preview) -> None:
        self.say(f"{preview.n_taken:,} of {counted(preview.n_looked_at, 'query')}")
        for note in preview.notes:
            self.say(note)
        for query, reason in preview.rows:
            self.say(f"{query.qid}\t{query.text}\t{reason}")


def _rule(options: dict[str, Any]) -> dict[str, Any]:
    if options["expression"] is not None:
        return {"kind": "expression", "expression": options["expression"]}
    try:
        rule = json.loads(options["rule"])
    except json.JSONDecodeError as error:
        raise CommandError(f"--rule is no JSON: {error}") from error
    if not isinstance(rule, dict):
        raise CommandError('--rule is no object. Write it as {"kind": …}.')
    return rule


def _sizes(row: Any) -> str:
    n_members = row.members.filter(state="member").count()
    n_suggested = row.members.filter(state="suggested").count()
    suggested = f", {n_suggested:,} suggested" if n_suggested else ""
    return f"{counted(n_members, 'query')}{suggested}"
