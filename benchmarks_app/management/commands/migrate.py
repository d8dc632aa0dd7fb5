from typing import Any

from django.core.checks import Tags
from django.core.management.commands.migrate import Command as Migrate
from django.db import DEFAULT_DB_ALIAS

from benchmarks_app.first_tables import make_tables
from benchmarks_app.management.declared import DeclaredCommand
from benchwright.recipes.arguments import switch

# With any of these, somebody wants something else than a database of this version.
OTHERWISE = ("app_label", "check_unapplied", "fake", "fake_initial", "one_by_one", "plan", "prune")


class Command(DeclaredCommand, Migrate):
    """Django's own; where there is no table yet, all are made at once before it."""

    # Of all others `up` and `check` tell: they load every page.
    requires_system_checks = (Tags.database, Tags.models)
    takes = (switch("--one-by-one", help="every migration in turn, in an empty database too"),)

    def handle(self, *args: Any, **options: Any) -> None:
        is_of_site = options["database"] == DEFAULT_DB_ALIAS
        is_otherwise = any(options.get(name) for name in OTHERWISE)
        if is_of_site and not is_otherwise and make_tables() and options["verbosity"]:
            self.say("The database was empty: its tables were made at once.")
        Migrate.handle(self, *args, **options)
