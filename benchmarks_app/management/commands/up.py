import sys
import time
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from benchmarks_app import forking
from benchmarks_app.data_folder import DATA
from benchmarks_app.env import EVERYWHERE, host_in_links
from benchmarks_app.first_tables import bring_up_to_date
from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.migrated import NotMigratedError, unapplied
from benchmarks_app.site_lock import FolderInUseError, SiteLock
from benchmarks_app.supervisor import (
    GRACE_SECONDS,
    POLL_SECONDS,
    commands_of_one,
    is_free,
    own_address,
    usual_web_processes,
)
from benchwright.recipes.arguments import option, switch


class Command(DeclaredCommand):
    help = "Start web server, worker and sweeper together; one Ctrl-C stops all."
    takes = (
        option("--host", default=settings.SITE_HOST, help="address to listen on"),
        option("--port", kind=int, default=settings.SITE_PORT),
        option("--workers", kind=int, default=1, help="jobs done at the same time"),
        option(
            "--web-processes",
            kind=int,
            default=None,
            help="processes that answer: one a core, at most 4 unless more are asked for; "
            "1 where memory is scarce",
        ),
        switch("--no-migrate"),
        DATA,
    )

    def execute(self, *args: Any, **options: Any) -> str | None:
        # Before Django's own checks, which would load the pages: what is loaded here is for good.
        if forking.HAS_FORKS:
            forking.load()
        return super().execute(*args, **options)

    def handle(
        self,
        *args: Any,
        host: str,
        port: int,
        workers: int,
        web_processes: int | None,
        no_migrate: bool,
        **options: Any,
    ) -> None:
        if web_processes is None:
            web_processes = usual_web_processes()
        if web_processes < 1:
            raise CommandError(f"--web-processes is {web_processes}; at least 1 has to answer.")
        if workers < 1:
            raise CommandError(f"--workers is {workers}; at least 1 has to do jobs.")
        try:
            place = own_address(host, port)
        except OSError as error:
            why = f"Nothing can listen on {host}:{port} here ({error.strerror or error})."
            raise CommandError(f"{why} Choose another with --host and --port.") from None
        self.say(f"The data of this site is in {settings.DATA_DIR}")
        address = f"http://{host_in_links(host)}:{port}{settings.SITE_PATH}/"
        try:
            lock = SiteLock(address)
        except FolderInUseError as error:
            raise CommandError(str(error)) from None
        forking.apart(look_for_migrations if no_migrate else bring_up_to_date)
        if not (is_free(place, port) or (lock.was_left and self.gets_free(place, port))):
            why = f"Something listens on {host}:{port} already. Choose another port with --port."
            raise CommandError(why)
        lines = [self.style.SUCCESS(f"Benchwright is at {address}"), "Ctrl-C stops it."]
        if place in EVERYWHERE:
            names = ", ".join(name for name in settings.ALLOWED_HOSTS if name != host)
            lines.insert(1, f"It answers to {names}; ALLOWED_HOSTS names others.")
        commands = commands_of_one(place, port, workers, web_processes)
        sys.exit(forking.supervise(commands, lines=lines, lock=lock))

    def gets_free(self, host: str, port: int) -> bool:
        """Whether what an `up` that was killed has left behind ends within its time."""
        deadline = time.monotonic() + 2 * GRACE_SECONDS
        while time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            if is_free(host, port):
                return True
        return False

    def say(self, text: str) -> None:
        super().say(text)
        self.stdout.flush()


def look_for_migrations() -> None:
    if missing := unapplied():
        raise CommandError(str(NotMigratedError(n=len(missing))))
