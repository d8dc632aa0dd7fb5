from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import Any

from django.core.management import CommandError

from benchmarks_app.common.selectors.audit import (
    KIND_LABELS,
    Asked,
    all_pages,
    events_asked_for,
    people_named,
)
from benchmarks_app.common.services.audit import FORMATS, export_events
from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.management.naming import existing_benchmark
from benchmarks_app.models import AuditEvent, Benchmark
from benchwright.cli.answers import for_terminals
from benchwright.recipes.arguments import option, unless_told


class Command(DeclaredCommand):
    help = "Show the audit log, of the site or of a benchmark, the newest first; or export it."
    takes = (
        unless_told("--benchmark", metavar="SLUG", help="the whole site if not given"),
        option("--kind", choices=list(KIND_LABELS)),
        option("--person", metavar="NAME", help="by or about this account"),
        unless_told("--since", metavar="YYYY-MM-DD", kind=date.fromisoformat),
        unless_told("--until", metavar="YYYY-MM-DD", kind=date.fromisoformat),
        option("--text", help="words of what it was done on"),
        option(
            "--format",
            choices=["lines", *sorted(FORMATS)],
            default="lines",
            help="lines to read, or a whole export (default: lines)",
        ),
        option("--limit", kind=int, default=100, help="how many lines (default: 100)"),
    )

    def handle(self, *args: Any, **options: Any) -> None:
        slug, limit = options["benchmark"], options["limit"]
        if limit < 1:
            raise CommandError(f"--limit is {limit}; expected 1 or more.")
        benchmark = existing_benchmark(slug) if slug else None
        filters = Asked(*(options[name] for name in ("kind", "person", "since", "until", "text")))
        if filters.problem:
            raise CommandError(f"--until: {filters.problem}")
        if options["format"] == "lines":
            pieces: Iterator[str] = islice(_lines(benchmark, filters), limit)
        else:
            pieces = export_events(
                benchmark=benchmark, filters=filters, actor=None, form=options["format"]
            )
        for piece in pieces:
            self.stdout.write(piece, ending="")


def _lines(benchmark: Benchmark | None, filters: Asked) -> Iterator[str]:
    for events in all_pages(events_asked_for(benchmark, filters)):
        people = people_named(events)
        for event in events:
            yield _line(event, people)


def _line(event: AuditEvent, people: dict[str, Any]) -> str:
    by = event.actor.username if event.actor_id and event.actor else "-"
    on = people[event.target].username if event.target in people else event.target
    where = event.benchmark.slug if event.benchmark_id and event.benchmark else "-"
    details = " ".join(f"{name}={value}" for name, value in event.detail.items())
    columns = (f"{event.at:%Y-%m-%d %H:%M:%S}", by, event.action, on or "-", where, details)
    cells = (for_terminals(" ".join(column.split())) for column in columns)
    return "\t".join(cells).rstrip() + "\n"
