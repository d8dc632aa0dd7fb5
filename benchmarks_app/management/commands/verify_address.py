from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import person_named
from benchmarks_app.people.services.people import verify_address


class Command(BaseCommand):
    help = "Say of an account's address that it is its holder's, on a site that sends no mail."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        person = person_named(username)
        if not person.email:
            message = f"{username} has no address."
            raise CommandError(message)
        verify_address(user=person, actor=None)
        self.stdout.write(self.style.SUCCESS(f"{username}: {person.email} is verified"))
