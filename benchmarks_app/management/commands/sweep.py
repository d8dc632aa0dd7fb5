from typing import Any

from benchmarks_app.jobs.services.jobs import load_handlers
from benchmarks_app.jobs.services.sweeping import sweep_on, sweep_once
from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.site_lock import at_work
from benchmarks_app.supervisor import tell_started
from benchwright.recipes.arguments import switch


class Command(DeclaredCommand):
    help = "Give lost jobs another attempt and send waiting jobs again."
    requires_system_checks = ()  # `up` and `check` do: they load every page
    takes = (switch("--loop", help="sweep until stopped"),)

    def handle(self, *args: Any, loop: bool, **options: Any) -> None:
        load_handlers()  # and with them the cleaners of what a lost job has staged
        # Before the first sweep: what that meets is no reason not to have started.
        tell_started()
        if loop:
            with at_work():
                sweep_on(self.say, self.note)
        if not sweep_once(self.say, self.note):
            raise SystemExit(1)
