from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.supervisor import Supervisor, commands_of, is_free


class Command(BaseCommand):
    help = "Start web server, worker and sweeper together; one Ctrl-C stops all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.SITE_HOST, help="address to listen on")
        parser.add_argument("--port", type=int, default=settings.SITE_PORT)
        parser.add_argument("--workers", type=int, default=1, help="jobs done at the same time")
        parser.add_argument("--no-migrate", action="store_true")

    def handle(
        self, *args: Any, host: str, port: int, workers: int, no_migrate: bool, **options: Any
    ) -> None:
        if not no_migrate:
            call_command("migrate", verbosity=0)
        if not is_free(host, port):
            why = f"Something listens on {host}:{port} already. Choose another port with --port."
            raise CommandError(why)
        supervisor = Supervisor(commands_of(host, port, workers), say=self.stdout.write)
        supervisor.start()
        supervisor.wait_for_web(host, port)
        shown = f"[{host}]" if ":" in host else host
        self.stdout.write(self.style.SUCCESS(f"Benchwright is at http://{shown}:{port}/"))
        self.stdout.write("Ctrl-C stops it.")
        self.stdout.flush()
        raise SystemExit(supervisor.watch())
