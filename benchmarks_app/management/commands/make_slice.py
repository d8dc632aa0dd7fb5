import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import actor_of, add_benchmark_arguments, benchmark_of
from benchmarks_app.management.parameters import add_parameters
from benchmarks_app.slices.services import rules as slice_rules
from benchmarks_app.slices.services import slicing
from benchwright.errors import BenchmarkError
from benchwright.recipes import slices as recipe
from benchwright.slices.rules import checked_rule


class Command(BaseCommand):
    help = "Make a slice of a benchmark's queries by a rule."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("name", help="what the slice is called")
        rules = parser.add_mutually_exclusive_group(required=True)
        rules.add_argument("--expression", help='such as: frequency >= 100 and lang = "en"')
        rules.add_argument("--rule", help='as JSON, such as {"kind": "frequency", "band": "head"}')
        parser.add_argument("--description", default="")
        add_parameters(parser, *recipe.SLICE)
        parser.add_argument(
            "--preview", action="store_true", help="say what the rule takes, and make nothing"
        )

    def handle(self, *args: Any, slug: str, user: str | None, name: str, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        try:
            rule = checked_rule(_rule(options))
            if options["preview"]:
                self._tell(slice_rules.preview_rule(benchmark, rule))
                return
            wanted = slicing.Wanted(name, rule, options["description"], options["minimum"])
            actor = actor_of(benchmark, user)
            made = slicing.make_slice(benchmark=benchmark, wanted=wanted, actor=actor)
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(self.style.SUCCESS(f"slice '{made.name}' made: {_sizes(made)}"))

    def _tell(self, preview: slice_rules.Preview) -> None:
        self.stdout.write(f"{preview.n_taken:,} of {preview.n_looked_at:,} queries")
        for note in preview.notes:
            self.stdout.write(note)
        for query, reason in preview.rows:
            self.stdout.write(f"{query.qid}\t{query.text}\t{reason}")


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


def _sizes(made: Any) -> str:
    n_members = made.members.filter(state="member").count()
    n_suggested = made.members.filter(state="suggested").count()
    suggested = f", {n_suggested:,} suggested" if n_suggested else ""
    return f"{n_members:,} queries{suggested}"
