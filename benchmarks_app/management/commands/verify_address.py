from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.management.naming import person_named
from benchmarks_app.people.services.people import verify_address
from benchwright.recipes.arguments import word


class Command(DeclaredCommand):
    help = "Say of an account's address that it is its holder's, on a site that sends no mail."
    takes = (word("username"),)

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        person = person_named(username)
        if not person.email:
            raise CommandError(f"{username} has no address.")
        verify_address(user=person, actor=None)
        self.say_done(f"{username}: {person.email} is verified")
