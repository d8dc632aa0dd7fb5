from typing import Any

from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.management.naming import person_named
from benchmarks_app.people.services.factors import remove_all_factors
from benchwright.recipes.arguments import word


class Command(DeclaredCommand):
    help = "Take all second factors away from somebody who lost theirs; they are told by mail."
    takes = (word("username"),)

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        n = remove_all_factors(user=person_named(username), actor=None)
        self.say_done(f"{username}: {n} second factors taken away" if n else f"{username} has none")
