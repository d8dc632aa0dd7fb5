"""`manage.py switch_ladder SLUG PHASE on|off`: whether a phase holds exact means back."""

from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import BenchmarkCommand
from benchwright.recipes.arguments import word
from scoring.models import Phase
from scoring.submissions.services.phases import change_phase


class Command(BenchmarkCommand):
    help = "Hold exact means of a hidden split back until a phase ends (on), or not (off)."
    takes = (word("phase", "its name or number"), word("state", choices=["on", "off"]))

    def run(self, *, phase: str, state: str, **options: Any) -> None:
        phases = list(Phase.objects.filter(benchmark=self.benchmark).order_by("pk"))
        matches = [
            candidate for candidate in phases if phase in (str(candidate.pk), candidate.name)
        ]
        if len(matches) != 1:
            listed = ", ".join(f"{each.pk} ({each.name})" for each in phases) or "none"
            text = f"{len(matches)} phases are called '{phase}'. Name one by its number: {listed}."
            raise CommandError(text)
        changed = change_phase(phase=matches[0], user=self.actor, has_ladder=state == "on")
        self.say_done(f"the Ladder of '{changed.name}' is {state}")
