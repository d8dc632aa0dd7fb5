from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.management.naming import person_named
from benchmarks_app.people.services.forgetting import (
    delete_person,
    lasting_places,
    names_of,
    refuse_deletion,
)
from benchmarks_app.people.services.freed_pages import erase_freed_pages
from benchwright.recipes.arguments import switch, word


class Command(DeclaredCommand):
    help = "Delete a person: names and address go, from the database's files too; labels stay."
    takes = (
        word("username"),
        switch("--yes", help="do not ask whether this is meant"),
        switch("--dry-run", help="say what would still name the person, and end"),
    )

    def handle(self, *args: Any, username: str, yes: bool, dry_run: bool, **options: Any) -> None:
        user = person_named(username)
        refuse_deletion(user=user, actor=None)
        if dry_run:
            self._say_lasting(lasting_places(names_of(user), seen_by=None))
            return
        if not yes and input(f"Delete {username} for good? Type the name: ") != username:
            raise CommandError("Nothing was deleted.")
        forgotten = delete_person(user=user, actor=None, is_erased_later=False)
        self.say_done(f"deleted; the labels are {forgotten.pseudonym}'s")
        self.say(f"{forgotten.n_texts:,} texts named the person and do no longer")
        self._say_lasting(forgotten.lasting)
        erase_freed_pages(forgotten.tables)
        self.say("what was deleted is overwritten in the database's files")

    def _say_lasting(self, places: list[str]) -> None:
        for place in places:
            self.warn(f"still names the person: {place}")
