import logging
import time
from typing import Any, Never

from django.conf import settings
from django.db import OperationalError, connection

from benchmarks_app.jobs.services.jobs import load_handlers
from benchmarks_app.jobs.services.sweeping import sweep
from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.supervisor import tell_started
from benchwright.recipes.arguments import switch

log = logging.getLogger(__name__)


class Command(DeclaredCommand):
    help = "Give lost jobs another attempt and send waiting jobs again."
    requires_system_checks = ()  # `up` and `check` do: they load every page
    takes = (switch("--loop", help="sweep until stopped"),)

    def handle(self, *args: Any, loop: bool, **options: Any) -> None:
        load_handlers()  # and with them the cleaners of what a lost job has staged
        # Before the first sweep: what that meets is no reason not to have started.
        tell_started()
        if loop:
            self.go_on()
        if not self.sweep_once():
            raise SystemExit(1)

    def go_on(self) -> Never:
        """Sweep now, and again and again; no connection is held meanwhile."""
        while True:
            try:
                self.sweep_once()
            except Exception:  # a broken answer of the database, say, which the next may not have
                log.exception("a sweep broke off; the next one begins anew")
            connection.close()
            time.sleep(settings.SWEEP_SECONDS)

    def sweep_once(self) -> bool:
        """Whether all of it could be done."""
        try:
            swept = sweep()
        except OperationalError as error:
            self.note(f"sweep: the database could not be used ({error})")
            return False
        if any((swept.n_requeued, swept.n_given_up, swept.n_resent)):
            self.say(
                f"sweep: {swept.n_requeued} jobs started again, {swept.n_given_up} given up, "
                f"{swept.n_resent} sent again"
            )
        return not swept.n_failed
