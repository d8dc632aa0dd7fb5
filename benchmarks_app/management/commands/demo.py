import time
from typing import Any

from django.conf import settings
from django.core.management import call_command

from benchmarks_app import forking
from benchmarks_app.data_folder import DATA
from benchmarks_app.first_tables import bring_up_to_date
from benchmarks_app.importing.services import demo
from benchmarks_app.management.declared import DeclaredCommand
from benchwright.recipes.arguments import option, switch


class Command(DeclaredCommand):
    help = "Build the demo benchmark if it is not there, print a login for each role, and serve it."
    takes = (
        switch("--serve", has_no=True, help="start the site afterwards; `benchwright demo` does"),
        option("--host", default=settings.SITE_HOST),
        option("--port", kind=int, default=settings.SITE_PORT),
        DATA,
    )

    def handle(self, *args: Any, serve: bool, host: str, port: int, **options: Any) -> None:
        if serve:
            forking.apart(self.build)
            call_command("up", host=host, port=port, no_migrate=True)
        else:
            self.build()

    def build(self) -> None:
        started = time.monotonic()
        bring_up_to_date()
        if not demo.is_built():
            self.n = 0
            demo.build_demo(self.say_step)
            grades = [demo.FIXTURES / name for name in ("grades.tsv", "second_grades.tsv")]
            call_command("agreement", *grades)
            took = time.monotonic() - started
            self.say_done(f"The demo is built, in {took:.0f} s.")
        self.say_logins()

    def say_step(self, step: str) -> None:
        self.n += 1
        self.say(f"[{self.n}] {step} …")
        self.stdout.flush()

    def say_logins(self) -> None:
        self.say("\nSign in as one of these (all share one password, made on this machine):")
        for login in demo.logins():
            self.say(f"  {login.username:<6} {login.password}   {login.role}")
        self.say("")
