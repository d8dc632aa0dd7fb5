"""`manage.py switch_ladder SLUG PHASE on|off`: whether a phase holds exact means back."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import actor_of, add_benchmark_arguments, benchmark_of
from scoring.models import Phase
from scoring.submissions.services.phases import change_phase


class Command(BaseCommand):
    help = "Hold exact means of a hidden split back until a phase ends (on), or not (off)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("phase", help="its name or number")
        parser.add_argument("state", choices=["on", "off"])

    def handle(
        self, *args: Any, slug: str, user: str | None, phase: str, state: str, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        phases = list(Phase.objects.filter(benchmark=benchmark).order_by("pk"))
        found = [one for one in phases if phase in (str(one.pk), one.name)]
        if len(found) != 1:
            listed = ", ".join(f"{one.pk} ({one.name})" for one in phases) or "none"
            text = f"{len(found)} phases are called '{phase}'. Name one by its number: {listed}."
            raise CommandError(text)
        actor = actor_of(benchmark, user)
        changed = change_phase(phase=found[0], user=actor, has_ladder=state == "on")
        self.stdout.write(self.style.SUCCESS(f"the Ladder of '{changed.name}' is {state}"))
