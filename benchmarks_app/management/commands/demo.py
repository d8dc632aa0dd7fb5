import time
from argparse import ArgumentParser, BooleanOptionalAction
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from benchmarks_app.data_folder import add_data_option
from benchmarks_app.importing.services import demo


class Command(BaseCommand):
    help = "Build the demo benchmark if it is not there, print a login for each role, and serve it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--serve",
            action=BooleanOptionalAction,
            default=False,
            help="start the site afterwards; `benchwright demo` does",
        )
        parser.add_argument("--host", default=settings.SITE_HOST)
        parser.add_argument("--port", type=int, default=settings.SITE_PORT)
        add_data_option(parser)

    def handle(self, *args: Any, serve: bool, host: str, port: int, **options: Any) -> None:
        started = time.monotonic()
        call_command("migrate", verbosity=0)
        if not demo.is_built():
            self.n = 0
            demo.build_demo(self.say)
            grades = [demo.FIXTURES / name for name in ("grades.tsv", "second_grades.tsv")]
            call_command("agreement", *grades)
            took = time.monotonic() - started
            self.stdout.write(self.style.SUCCESS(f"The demo is built, in {took:.0f} s."))
        self.say_logins()
        if serve:
            call_command("up", host=host, port=port, no_migrate=True)

    def say(self, step: str) -> None:
        self.n += 1
        self.stdout.write(f"[{self.n}] {step} …")
        self.stdout.flush()

    def say_logins(self) -> None:
        self.stdout.write(
            "\nSign in as one of these (all share one password, made on this machine):"
        )
        for login in demo.logins():
            self.stdout.write(f"  {login.username:<6} {login.password}   {login.role}")
        self.stdout.write("")
