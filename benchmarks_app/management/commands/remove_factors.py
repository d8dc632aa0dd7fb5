from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from benchmarks_app.management.importing import person_named
from benchmarks_app.people.services.factors import remove_all_factors


class Command(BaseCommand):
    help = "Take all second factors away from somebody who lost theirs; they are told by mail."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        n = remove_all_factors(user=person_named(username), actor=None)
        told = f"{username}: {n} second factors taken away" if n else f"{username} has none"
        self.stdout.write(self.style.SUCCESS(told))
