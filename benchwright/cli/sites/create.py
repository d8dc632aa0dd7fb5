"""`benchwright create`: an empty benchmark on a site."""

from typing import Any

import click

from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, SiteCommand, sent

EXAMPLES = (
    "benchwright --site https://bench.example create help-pages --name 'Help pages'",
    "benchwright create help-pages --scale '0 = No",
    "1 = Yes *'",
)


@click.command(
    cls=SiteCommand,
    name="create",
    examples=EXAMPLES,
    is_of_benchmark=False,
    short_help="Make an empty benchmark on a site.",
)
@click.argument("slug")
@option("--name", metavar="NAME", group="Benchmark", help="By default the short name.")
@option("--description", metavar="TEXT", group="Benchmark", help="What it is for.")
@option(
    "--scale",
    metavar="LINES",
    group="Benchmark",
    help="Grades, a line each: '2 = Helpful: why *'; * where a grade counts as relevant.",
)
@option(
    "--ties",
    "tie_rule",
    metavar="RULE",
    group="Benchmark",
    help="Which of equal scores goes first: trec, or trec9 for scores as 32-bit floats.",
)
@option(
    "--corpus-of",
    metavar="SLUG",
    group="Corpus",
    help="A benchmark that you keep, whose corpus it shares.",
)
@option(
    "--ids-only",
    "corpus_kind",
    flag_value="ids_only",
    group="Corpus",
    help="A corpus without texts.",
)
@option("--unit", metavar="UNIT", group="Corpus", help="passage, document or image.")
@option("--language", "lang", metavar="CODE", group="Corpus", help="Such as en, de, sw.")
def command(asked: Asked, slug: str, **chosen: Any) -> None:
    """Make a benchmark that is called SLUG in addresses and commands, and is yours."""
    name = chosen.pop("name") or slug
    benchmark = asked.client.ask(
        "POST", "benchmarks/", json={"slug": slug, "name": name, **sent(chosen)}
    )
    asked.say(benchmark, [f"made {benchmark['slug']}: {asked.client.url}/b/{benchmark['slug']}/"])
