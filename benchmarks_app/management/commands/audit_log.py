from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.common.selectors.audit import (
    KIND_LABELS,
    Asked,
    all_pages,
    events_asked_for,
    people_named,
)
from benchmarks_app.common.services.audit import FORMATS, export_events
from benchmarks_app.models import AuditEvent, Benchmark


class Command(BaseCommand):
    help = "Show the audit log, of the site or of a benchmark, the newest first; or export it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--benchmark", metavar="SLUG", help="the whole site if not given")
        parser.add_argument("--kind", choices=list(KIND_LABELS), default="")
        parser.add_argument("--person", metavar="NAME", default="", help="by or about this account")
        parser.add_argument("--since", metavar="YYYY-MM-DD", type=date.fromisoformat)
        parser.add_argument("--until", metavar="YYYY-MM-DD", type=date.fromisoformat)
        parser.add_argument("--text", default="", help="words of what it was done on")
        parser.add_argument(
            "--format", choices=["lines", *sorted(FORMATS)], default="lines",
            help="lines to read, or a whole export (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--limit", type=int, default=100, help="how many lines (default: %(default)s)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = self._benchmark(options["benchmark"])
        asked = Asked(*(options[name] for name in ("kind", "person", "since", "until", "text")))
        if options["format"] == "lines":
            pieces = islice(_lines(benchmark, asked), max(0, options["limit"]))
        else:
            pieces = export_events(
                benchmark=benchmark, asked=asked, actor=None, form=options["format"]
            )
        for piece in pieces:
            self.stdout.write(piece, ending="")

    def _benchmark(self, slug: str | None) -> Benchmark | None:
        found = Benchmark.objects.filter(slug=slug).first() if slug else None
        if slug and found is None:
            message = f"There is no benchmark '{slug}'."
            raise CommandError(message)
        return found


def _lines(benchmark: Benchmark | None, asked: Asked) -> Iterator[str]:
    for events in all_pages(events_asked_for(benchmark, asked)):
        people = people_named(events)
        for event in events:
            yield _line(event, people)


def _line(event: AuditEvent, people: dict[str, Any]) -> str:
    by = event.actor.username if event.actor_id and event.actor else "-"
    on = people[event.target].username if event.target in people else event.target
    where = event.benchmark.slug if event.benchmark_id and event.benchmark else "-"
    details = " ".join(f"{name}={value}" for name, value in event.detail.items())
    columns = (f"{event.at:%Y-%m-%d %H:%M:%S}", by, event.action, on or "-", where, details)
    return "\t".join(" ".join(column.split()) for column in columns).rstrip() + "\n"
