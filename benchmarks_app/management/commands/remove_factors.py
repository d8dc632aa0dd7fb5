from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.models import User
from benchmarks_app.services.factors import remove_all_factors


class Command(BaseCommand):
    help = "Take all second factors away from somebody who lost theirs; they are told by mail."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            message = f"There is no account '{username}'."
            raise CommandError(message)
        n = remove_all_factors(user=user, actor=None)
        told = f"{username}: {n} second factors taken away" if n else f"{username} has none"
        self.stdout.write(self.style.SUCCESS(told))
